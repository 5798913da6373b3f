//! The persist timer: RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{
    Config, Control, CubicConfig, NewRenoFlags, Recovery, RfcState, RtoConfig, TraceEvent, WindowProbe,
};
use earlybird_units::Duration;

/// Intervals of probes as timeouts of 1 s double up to 60 s, as times from 100 ms on.
const PROBES_AT: [u64; 8] = [1100, 3100, 7100, 15_100, 31_100, 63_100, 123_100, 183_100];

/// Ten segments arrived, and the receiver has closed its window over more.
fn closed(config: &Config) -> Host {
    let mut host = Host::connected(config);
    host.write(10_000).forget_sent();
    for next in 2..=11 {
        host.ack(next, &[]).forget_sent();
    }
    host.receives(". 1:1(0) ack 10001 win 0").write(100_000).sends_nothing();
    host
}

/// The symptom: cwnd 13 became 1 and the threshold 2, and five timeouts and frozen time were counted.
#[test]
fn a_peer_that_drops_the_probes_of_its_closed_window_does_not_change_the_congestion_window() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack, Recovery::NewReno(NewRenoFlags::default())] {
        let mut host = closed(&plain().with_recovery_only(recovery));
        let (cwnd, ssthresh) = (host.connection.cwnd(), host.connection.ssthresh());
        host.at(200_000).has_window(cwnd, ssthresh);
        let statistics = host.connection.statistics();
        assert_eq!((statistics.timeouts, statistics.retransmissions, statistics.window_probes), (0, 0, 8));
        assert_eq!(statistics.frozen, Duration::ZERO);
        assert!(!host.decisions().iter().any(|event| matches!(event, TraceEvent::Timeout { .. })));
    }
}

/// RFC 9293 §3.8.6.1: the first one after a timeout, then at exponentially growing intervals, as long as a timeout may be.
#[test]
fn probes_leave_after_1_2_4_and_at_last_every_60_s() {
    let mut host = closed(&plain());
    host.at(200_000).sends_timed(&PROBES_AT.map(|at| (at, 11)));
}

/// RFC 9293 §3.8.6.1, MUST-37: "the connection must be kept open as long as the receiver continues to send acknowledgments".
#[test]
fn a_peer_that_answers_probes_for_a_day_with_a_closed_window_keeps_the_connection() {
    let mut host = closed(&plain());
    let (cwnd, ssthresh) = (host.connection.cwnd(), host.connection.ssthresh());
    for minute in 1..=1440 {
        host.at(minute * 60_000).receives(". 1:1(0) ack 10001 win 0");
    }
    host.is_in(RfcState::Established).has_window(cwnd, ssthresh).forget_sent();
    assert_eq!(host.connection.statistics().fast_retransmits, 0, "answers to probes are no duplicates");
    // It opens: what was refused goes first.
    host.receives(". 1:1(0) ack 10001 win 64000");
    assert_eq!(host.take_texts()[0], ". 10001:10002(1) ack 1 win 64000");
}

/// The bytes that probes carried are part of the stream as any other.
#[test]
fn a_peer_that_takes_the_byte_of_each_probe_gets_them_all_and_the_window_does_not_grow() {
    let mut host = closed(&plain());
    let cwnd = host.connection.cwnd();
    for (probe, at) in (10_001..).zip(PROBES_AT) {
        host.at(at).sends(&[&format!(
            ". {probe}:{}(1) ack 1{}",
            probe + 1,
            if at == 1100 { " win 64000" } else { "" }
        )]);
        host.receives(&format!(". 1:1(0) ack {} win 0", probe + 1)).sends_nothing();
    }
    host.has_window(cwnd, f64::INFINITY);
    assert_eq!(host.connection.statistics().retransmissions, 0);
    assert_eq!(host.connection.acknowledged(), 10_008);
}

/// The interval starts again from the timeout once the window was open.
#[test]
fn a_window_that_opens_and_closes_is_probed_after_one_timeout() {
    let mut host = closed(&plain());
    host.at(8000).receives(". 1:1(0) ack 10001 win 1000").forget_sent();
    host.at(8100).receives(". 1:1(0) ack 10002 win 0").forget_sent();
    host.at(9099).sends_nothing().at(9100).sends(&[". 10002:10003(1) ack 1 win 64000"]);
}

/// RFC 9293 §3.8.6.2.1: too little room for a full segment, and no ACK under way that could bring more. After a while what
/// fits must do; it is in flight as any other segment.
#[test]
fn a_window_of_300_bytes_is_filled_after_a_timeout() {
    let mut host = closed(&plain());
    host.at(500).receives(". 1:1(0) ack 10001 win 300").sends_nothing();
    host.at(1100).sends(&[". 10001:10301(300) ack 1 win 64000"]);
    host.at(1200).receives(". 1:1(0) ack 10301 win 300").sends_nothing();
    host.at(2199).sends_nothing().at(2200).sends(&[". 10301:10601(300) ack 1"]);
    // This one is lost, and the network is to blame.
    host.at(3200).sends(&[". 10301:10601(300) ack 1"]);
    assert_eq!(host.connection.statistics().timeouts, 1);
}

/// A window too small for a segment counts as closed; a timeout of segments in flight takes precedence.
#[test]
fn while_something_is_in_flight_the_retransmission_timer_runs_and_not_the_other() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 2000").write(10_000).sends_numbers(&[1, 2]);
    host.at(200).receives(". 1:1(0) ack 1001 win 1000").sends_nothing();
    host.at(1200).sends_numbers(&[2]);
    assert_eq!(host.connection.statistics().timeouts, 1);
    // Karn: the timeout is doubled until something new is measured.
    host.at(1300).receives(". 1:1(0) ack 2001 win 0").sends_nothing();
    host.at(3299).sends_nothing().at(3300).sends_numbers(&[3]);
    assert_eq!((host.connection.statistics().timeouts, host.connection.statistics().window_probes), (1, 1));
}

/// Linux's probe (`tcp_write_wakeup`): it lies below the window, so it must be answered, and carries nothing.
#[test]
fn an_empty_probe_has_a_number_that_was_acknowledged() {
    let mut host = closed(&plain().with_window_probe(WindowProbe::Empty));
    host.at(1100).sends(&[". 10000:10000(0) ack 1 win 64000"]);
    host.at(1200).receives(". 1:1(0) ack 10001 win 0").sends_nothing();
    host.at(7100).sends(&[". 10000:10000(0) ack 1", ". 10000:10000(0) ack 1"]);
    assert_eq!(host.connection.statistics().window_probes, 3);
    host.at(7200).receives(". 1:1(0) ack 10001 win 1000").sends(&[". 10001:11001(1000) ack 1"]);
    // That was a segment of 1000 bytes as any other.
    host.at(8200).sends(&[". 10001:11001(1000) ack 1"]);
    assert_eq!((host.connection.outstanding(), host.connection.statistics().timeouts), (1, 1));
}

/// Data that fits is sent instead of a probe (as by `tcp_write_wakeup`).
#[test]
fn no_empty_probe_leaves_where_300_bytes_fit() {
    let mut host = closed(&plain().with_window_probe(WindowProbe::Empty));
    host.at(500).receives(". 1:1(0) ack 10001 win 300").sends_nothing();
    host.at(1100).sends(&[". 10001:10301(300) ack 1 win 64000"]);
}

/// Before the first byte: the number of the SYN.
#[test]
fn an_empty_probe_of_a_window_that_was_never_open_has_the_number_of_the_syn() {
    let mut host = Host::connected(&plain().with_window_probe(WindowProbe::Empty));
    host.receives(". 1:1(0) ack 1 win 0").write(3000).at(1100).sends(&[". 0:0(0) ack 1 win 64000"]);
}

#[test]
fn a_connection_that_ends_over_a_closed_window_probes_no_more() {
    let mut host = closed(&plain());
    host.at(1100).forget_sent();
    host.receives("R. 1:1(0) ack 10001");
    assert_eq!(host.deadline(), None);
    let mut host = closed(&plain());
    host.abort().forget_sent();
    assert_eq!(host.deadline(), None);
}

/// A FIN waits behind the byte that is probed with, and leaves once that is taken.
#[test]
fn a_fin_waits_behind_the_last_byte_before_a_closed_window() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 0").write(1).shutdown().sends_nothing();
    host.at(1100).sends(&[". 1:2(1) ack 1 win 64000"]);
    host.at(1200).receives(". 1:1(0) ack 2 win 0").sends(&["F. 2:2(0) ack 1"]);
    // A FIN is no probe: it is repeated as it must be.
    host.at(2200).sends(&["F. 2:2(0) ack 1"]);
}

/// ns-2 has no closed windows; its idle timer, which closes the congestion window as well, is the probe there.
#[test]
fn ns2_probes_with_its_idle_timer() {
    let rto = RtoConfig { clock_phase: Some(Duration::ZERO), ..RtoConfig::NS2 };
    let mut host = Host::connected(&Config::ns2().with_rto(rto));
    host.receives(". 1:1(0) ack 1 win 0").write(3000).at(400).sends_numbers(&[1]).has_window(1.0, 64.0);
    assert_eq!(host.connection.statistics().window_probes, 0);
}

/// Delay tells a model of the path nothing while the receiver keeps its window closed; nor does anything else break.
#[test]
fn every_control_goes_on_where_it_was_when_the_window_opens() {
    let cubic = Control::Cubic(CubicConfig::RFC9438);
    let bbr = Control::Bbr(earlybird_tcp::BbrParameters::DEFAULT);
    let bbr1 = Control::Bbr1(earlybird_tcp::Bbr1Parameters::LINUX);
    for control in [Control::Reno, cubic, bbr, bbr1] {
        for recovery in [Recovery::Rfc6675, Recovery::Rack] {
            let mut host = Host::connected(&plain().with_control_only(control).with_recovery_only(recovery));
            host.receives(". 1:1(0) ack 1 win 0").write(100_000).sends_nothing();
            let cwnd = host.connection.cwnd();
            host.at(60_000).receives(". 1:1(0) ack 1 win 64000").at(60_900);
            assert!(host.connection.cwnd() >= cwnd, "{control:?} {recovery:?}");
            assert!(host.connection.outstanding() + 1 >= (cwnd as u64).min(4), "{control:?} {recovery:?}");
        }
    }
}
