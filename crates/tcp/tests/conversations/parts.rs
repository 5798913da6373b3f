//! ACKs that end inside a segment: a receiver with little memory, or one that cuts the stream differently, sends them.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{Config, NewRenoFlags, RackConfig, Recovery, RtoConfig};
use earlybird_units::Duration;

const RECOVERIES: [Recovery; 5] = [
    Recovery::Rfc6675,
    Recovery::Rack,
    Recovery::Sack1,
    Recovery::Reno { second_fast_retransmit: false },
    Recovery::NewReno(NewRenoFlags { is_impatient: true, deflates: true }),
];

/// RFC 6298 (5.3), "an ACK is received that acknowledges new data". The symptom: the timer ran out after 1 s.
#[test]
fn a_peer_that_acknowledges_100_bytes_every_200_ms_lets_no_timer_run_out() {
    for recovery in RECOVERIES {
        // A tail loss probe is for silence that is shorter than a timeout.
        let rack = RackConfig { probes_tail: false, ..RackConfig::RFC };
        let mut host = Host::connected(&plain().with_recovery_only(recovery).with_rack(rack).with_initial_window(2));
        host.write(2000).sends_numbers(&[1, 2]);
        for step in 1..=19 {
            host.at(100 + 200 * step).receives(&format!(". 1:1(0) ack {}", 1 + 100 * step));
        }
        host.sends_nothing();
        let statistics = host.connection.statistics();
        assert_eq!((statistics.timeouts, statistics.retransmissions), (0, 0), "{recovery:?}");
        host.at(4100).receives(". 1:1(0) ack 2001");
        assert_eq!((host.connection.outstanding(), host.deadline()), (0, None));
    }
}

/// RFC 6675 §5: the count of duplicates begins again at a cumulative acknowledgement, whatever its blocks say.
#[test]
fn an_ack_inside_a_segment_is_no_duplicate_even_if_it_brings_blocks() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&plain().with_recovery_only(recovery).with_initial_window(10));
        host.write(10_000).forget_sent();
        let (cwnd, ssthresh) = (host.connection.cwnd(), host.connection.ssthresh());
        for part in 1..=9 {
            host.at(200 + part).receives(&format!(". 1:1(0) ack {} <sack 2001:3001>", 1 + 100 * part));
        }
        host.sends_nothing().has_window(cwnd, ssthresh);
        assert_eq!(host.connection.statistics().fast_retransmits, 0, "{recovery:?}");
    }
}

/// RFC 5681 §3.2: three in a row.
#[test]
fn two_duplicates_an_ack_inside_a_segment_and_one_more_are_no_loss() {
    for recovery in RECOVERIES {
        let mut host =
            Host::connected(&plain().with_recovery_only(recovery).with_initial_window(10).with_limited_transmit(false));
        host.write(10_000).forget_sent();
        host.at(200).receives(". 1:1(0) ack 1 <sack 2001:3001>").receives(". 1:1(0) ack 1 <sack 2001:4001>");
        host.receives(". 1:1(0) ack 501 <sack 2001:4001>").receives(". 1:1(0) ack 501 <sack 2001:4001>");
        host.sends_nothing();
        assert_eq!(host.connection.statistics().fast_retransmits, 0, "{recovery:?}");
    }
}

/// A retransmission begins behind the part that arrived.
#[test]
fn a_timeout_repeats_the_rest_of_a_segment_of_which_a_part_arrived() {
    let mut host = Host::connected(&plain().with_initial_window(2));
    host.write(2000).forget_sent();
    host.at(500).receives(". 1:1(0) ack 401");
    host.at(1499).sends_nothing().at(1500).sends(&[". 401:1001(600) ack 1 win 64000"]);
    assert_eq!(host.connection.statistics().timeouts, 1);
}

/// RFC 7323 §4.1: any ACK that moves the left edge measures; it ends the back-off, too (RFC 6298 §5).
#[test]
fn an_echo_with_a_part_of_a_segment_measures_and_ends_the_back_off() {
    let rto = RtoConfig { floor: Duration::from_millis(200), ..RtoConfig::RFC };
    let mut host = Host::connect(&Config::rfc().with_rto(rto));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 700/0>").forget_sent();
    host.write(1000).at(400).forget_sent();
    assert_eq!(host.connection.timer().back_off, 2);
    host.at(500).receives(". 1:1(0) ack 101 <TS 800/400>");
    assert_eq!((host.connection.timer().back_off, host.deadline()), (1, Some(750)));
}

/// RFC 6298 §3 (Karn): without timestamps nobody knows which of the two it answers; the doubled timeout stays, restarted.
#[test]
fn a_part_of_a_repeated_segment_restarts_the_doubled_timeout() {
    let mut host = Host::connected(&plain().with_initial_window(2));
    host.write(2000).at(1100).forget_sent();
    host.at(1200).receives(". 1:1(0) ack 401");
    assert_eq!((host.connection.timer().back_off, host.deadline()), (2, Some(3200)));
}

/// A segment that arrives in ten parts grows the window once, not ten times (RFC 5681 §3.1: split ACKs).
#[test]
fn a_segment_acknowledged_in_ten_parts_grows_the_window_once() {
    let mut host = Host::connected(&plain().with_initial_window(2));
    host.write(100_000).at(200);
    for part in 1..=10 {
        host.receives(&format!(". 1:1(0) ack {}", 1 + 100 * part));
    }
    host.has_window(3.0, f64::INFINITY);
}

/// RFC 5682 §2.1, step 2: an ACK of a part of what was repeated is no evidence; the ordinary recovery goes on.
#[test]
fn a_part_of_the_repeated_segment_ends_the_examination_of_a_timeout() {
    let spurious = earlybird_tcp::SpuriousDetection { forward_rto: true, undo: earlybird_tcp::Undo::None };
    let mut host = Host::connected(&plain().with_initial_window(4).with_spurious(spurious));
    host.write(100_000).at(1100).forget_sent();
    host.at(1200).receives(". 1:1(0) ack 501").sends_nothing();
    host.receives(". 1:1(0) ack 1001").sends_numbers(&[2, 3]);
    assert_eq!(host.connection.statistics().reductions_undone, 0);
}
