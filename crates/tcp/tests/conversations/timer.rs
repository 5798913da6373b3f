//! The retransmission timer: RFC 6298, and ns-2's version of it.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Config, IdleRto, Lifetimes, Recovery, RtoConfig, RtoRestart, TraceEvent};
use earlybird_units::Duration;

/// A floor of 200 ms, so that measured timeouts show.
fn quick() -> Config {
    plain().with_rto(RtoConfig { floor: Duration::from_millis(200), ..RtoConfig::RFC })
}

fn ns2() -> Config {
    Config::ns2().with_rto(RtoConfig { clock_phase: Some(Duration::ZERO), ..RtoConfig::NS2 })
}

/// RFC 6298 (2.2): 100 + 4·50 ms.
#[test]
fn the_first_sample_of_100_ms_gives_300_ms() {
    assert_eq!(Host::connected(&quick()).timeout(), 300);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 (2.4).
#[test]
fn the_floor_is_1_s() {
    assert_eq!(Host::connected(&plain()).timeout(), 1000);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 (5.1) and (5.2).
#[test]
fn the_timer_runs_while_something_is_outstanding() {
    let mut host = Host::connected(&quick());
    assert_eq!(host.deadline(), None);
    host.at(1000).write(2000);
    assert_eq!(host.deadline(), Some(1300));
    host.at(1100).ack(3, &[]);
    assert_eq!(host.deadline(), None);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 (5.1): "if the timer is not running".
#[test]
fn another_segment_does_not_restart_the_timer() {
    let mut host = Host::connected(&quick());
    host.at(1000).write(1000).at(1100).write(1000);
    assert_eq!(host.deadline(), Some(1300));
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 (5.3), with RTTVAR = ¾·50 + ¼·0 = 37.5 ms after a second sample of 100 ms: 250 ms.
#[test]
fn an_ack_of_new_data_restarts_the_timer() {
    let mut host = Host::connected(&quick());
    host.at(1000).write(2000).at(1100).ack(2, &[]);
    assert_eq!((host.timeout(), host.deadline()), (250, Some(1350)));
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

#[test]
fn a_duplicate_does_not_restart_the_timer_unless_asked_to() {
    for (restart, deadline) in [(RtoRestart::Progress, 400), (RtoRestart::Duplicates, 450)] {
        for config in [quick(), Config::ns2().with_rto(quick().timers.rto)] {
            let mut host = Host::connected(&config.with_rto_restart(restart).with_initial_window(4));
            host.write(4000).at(150).ack(1, &[2..3]);
            assert_eq!(host.deadline(), Some(deadline));
        }
    }
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// The option ends where recovery begins: its entry restarts the timer, its duplicates do not.
#[test]
fn a_duplicate_in_recovery_never_restarts_the_timer() {
    let mut host = Host::connected(&quick().with_rto_restart(RtoRestart::Duplicates).with_initial_window(10));
    host.write(10_000).at(150).ack(1, &[2..5]);
    assert_eq!(host.deadline(), Some(450));
    host.at(200).ack(1, &[2..6]);
    assert_eq!(host.deadline(), Some(450));
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 (5.4) to (5.6): the earliest segment, doubled, restarted.
#[test]
fn an_expiry_sends_the_earliest_segment_and_doubles_the_timeout() {
    let mut host = Host::connected(&quick());
    host.write(3000).forget_sent();
    host.at(3000).sends_timed(&[(400, 1), (1000, 1), (2200, 1)]);
    assert_eq!((host.timeout(), host.connection.timer().back_off), (2400, 8));
    assert_eq!(host.connection.statistics().timeouts, 3);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 (2.5) and (5.5): the ceiling acts after the doubling.
#[test]
fn the_timeout_stops_growing_at_60_s() {
    let mut host = Host::connected(&plain().with_lifetimes(Lifetimes::UNLIMITED));
    host.write(1000).forget_sent().at(400_000);
    let intervals = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60];
    let mut time = 100;
    let times = intervals.map(|seconds| {
        time += seconds * 1000;
        (time, 1)
    });
    host.sends_timed(&times);
    assert_eq!(host.timeout(), 60_000);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// RFC 6298 §3 (Karn): an ACK of a segment sent twice measures nothing, so the doubled timeout stays until new data are
/// acknowledged; then it collapses (§5, last paragraph but one).
#[test]
fn the_doubled_timeout_stays_until_a_segment_sent_once_is_acknowledged() {
    let mut host = Host::connected(&quick());
    host.write(3000).at(400).at(500).ack(2, &[]);
    assert_eq!((host.timeout(), host.deadline()), (600, Some(1100)));
    // 2 and 3 went again as well: still nothing is measured.
    host.at(600).ack(4, &[]);
    assert_eq!(host.timeout(), 600);
    // A second sample of 100 ms: 250 ms.
    host.write(1000).at(700).ack(5, &[]);
    assert_eq!((host.timeout(), host.connection.timer().back_off), (250, 1));
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// §2.3 of RFC 6298 counts one sample per round trip if there are no timestamps.
#[test]
fn without_timestamps_one_segment_per_round_trip_is_measured() {
    let mut host = Host::connected(&quick());
    // 1 is measured; 2, sent 50 ms later, is not, though it takes 200 ms.
    host.at(1000).write(1000).at(1050).write(1000).at(1100).ack(2, &[]).at(1250).ack(3, &[]);
    assert_eq!(host.timeout(), 250);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// A loss found by duplicates restarts the timer (RFC 6675 §6 leaves it open; ns-2 does).
#[test]
fn a_fast_retransmit_restarts_the_timer() {
    for config in [quick(), Config::ns2().with_rto(quick().timers.rto)] {
        let mut host = Host::connected(&config.with_initial_window(10));
        host.write(100_000).at(200).ack(1, &[2..3]).ack(1, &[2..4]).at(250).ack(1, &[2..5]);
        assert_eq!(host.deadline(), Some(550));
    }
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// The traced values: the length of the timer, and the silence since the last progress (session frozen time).
#[test]
fn an_expiry_reports_its_timer_and_the_time_since_progress() {
    let mut host = Host::connected(&quick());
    // Progress at 150 ms, then nothing: the timer is restarted at 150 ms and again by its own end.
    host.write(2000).at(150).ack(2, &[]).at(2000);
    let expiries: Vec<_> =
        host.decisions().iter().filter(|event| matches!(event, TraceEvent::Timeout { .. })).collect();
    // The second sample, 50 ms: RTTVAR = ¾·50 + ¼·50 = 50, SRTT = 93.75, RTO = 293.75 ms.
    let first = Duration::from_micros(293_750);
    assert_eq!(expiries[0], &TraceEvent::Timeout { timer: first, frozen_for: first });
    assert_eq!(expiries[1], &TraceEvent::Timeout { timer: first * 2, frozen_for: first * 2 });
    assert_eq!(host.connection.statistics().frozen, first * 3);
    follows(Area::Timer, "retransmission timer", "RFC 6298");
}

/// ns-2: 3 s at first (`rtxcur_init_`), doubled up to 64 times and 60 s.
#[test]
fn ns2_repeats_its_opening_packet_after_3_6_12_24_48_60_s() {
    let mut host = Host::connect(&ns2());
    host.at(160_000).sends_timed(&[0, 3, 9, 21, 45, 93, 153].map(|second| (second * 1000, 0)));
    follows(Area::Timer, "retransmission timer", "ns-2.35 tcp.cc");
}

/// After a lost opening packet ns-2 keeps the doubled timeout; it knows no 3 s rule.
#[test]
fn ns2_keeps_the_doubled_timeout_of_a_lost_opening_packet() {
    let mut host = Host::connect(&ns2());
    host.at(3000).at(3100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    assert_eq!(host.timeout(), 6000);
    let rto = RtoConfig { initial: Duration::from_secs(1), ..ns2().timers.rto };
    let mut host = Host::connect(&ns2().with_rto(rto));
    host.at(1000).at(1100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    assert_eq!(host.timeout(), 2000);
    follows(Area::Timer, "retransmission timer", "ns-2.35 tcp.cc");
}

/// Samples of 10 ticks of 10 ms: S = 80, V = 20, base (8·20 + 80)/8 = 30 ticks; a floor of 200 ms.
#[test]
fn ns2_counts_in_ticks_of_10_ms() {
    let mut host = Host::connected(&ns2());
    assert_eq!(host.timeout(), 300);
    // 104 ms, sent at 8 ms past a tick: 11 ticks. S = 81, V = 20 + 1 − 5 = 16, base ⌊(128 + 81)/8⌋ = 26 ticks.
    host.at(1008).write(1000).at(1112).ack(2, &[]);
    assert_eq!(host.timeout(), 260);
    follows(Area::Timer, "retransmission timer", "ns-2.35 tcp.cc");
}

#[test]
fn ns2_never_waits_less_than_200_ms_however_short_the_round_trip() {
    let mut host = Host::connect(&ns2());
    host.at(4).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    assert_eq!(host.timeout(), 200);
    follows(Area::Timer, "retransmission timer", "ns-2.35 tcp.cc");
}

/// Ticks and floor of 1 ms, but never below two ticks.
#[test]
fn a_fine_grained_timer_never_waits_less_than_2_ms() {
    let mut host = Host::connect(&plain().with_rto(RtoConfig::RFC.fine_grained()));
    // A round trip of 0 ms: RFC 6298 (2.2) gives max(1, 4·0) = 1 ms.
    host.receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(1000);
    assert_eq!((host.timeout(), host.deadline()), (2, Some(2)));
    // ns-2 counts at least one tick per sample: S = 8, V = 2, (8·2 + 8)/8 = 3 ticks.
    let mut host = Host::connect(&ns2().with_rto(ns2().timers.rto.fine_grained()));
    host.receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(1000);
    assert_eq!((host.timeout(), host.deadline()), (3, Some(3)));
    follows(Area::Timer, "retransmission timer", "ER-PERT paper");
}

/// The estimator's vector, as a connection sees it.
#[test]
fn fine_grained_samples_of_50_70_70_60_50_50_ms_give_150_147_144_129_115_104_ms() {
    let mut host = Host::connect(&ns2().with_rto(ns2().timers.rto.fine_grained()));
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    let (mut timeouts, mut time) = (vec![host.timeout()], 50);
    for (number, sample) in (1..).zip([70, 70, 60, 50, 50]) {
        time += sample;
        host.write(1000).at(time).ack(number + 1, &[]);
        timeouts.push(host.timeout());
    }
    assert_eq!(timeouts, [150, 147, 144, 129, 115, 104]);
    follows(Area::Timer, "retransmission timer", "ER-PERT paper");
}

/// The floor acts before the back-off, the ceiling after it.
#[test]
fn a_fine_grained_timer_backs_off_from_its_own_length() {
    let mut host = Host::connect(&ns2().with_rto(ns2().timers.rto.fine_grained()));
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(1000).forget_sent();
    host.at(1100).sends_timed(&[(200, 1), (500, 1), (1100, 1)]);
    follows(Area::Timer, "retransmission timer", "ER-PERT paper");
}

/// Ten segments time out, and are repeated; the probe of a window that closes then is not measured, so that the next loss is
/// repaired with a timer that has backed off. A partial ACK ends that, in ns-2's order: the running timer keeps it, the next
/// one starts without.
#[test]
fn a_partial_ack_ends_the_back_off() {
    for recovery in [Recovery::Sack1, Recovery::Rfc6675] {
        let config = ns2().with_recovery_only(recovery).with_initial_window(10).with_idle_rto(IdleRto::Stop);
        let mut host = Host::connected(&config);
        host.write(10_000);
        host.at(400);
        for next in 2..=10 {
            host.ack(next, &[]);
        }
        host.receives(". 1:1(0) ack 10001 win 0").write(10_000);
        assert_eq!((host.timeout(), host.deadline()), (600, Some(1000)));
        // A probe of one byte, and what follows it.
        host.at(1000).receives(". 1:1(0) ack 10002").forget_sent();
        for sacked in ["11002:12002", "13002:14002", "13002:15002"] {
            host.receives(&format!(". 1:1(0) ack 10002 <sack {sacked}>"));
        }
        assert!(host.take_numbers().contains(&12), "it is sent again");
        host.at(1100).receives(". 1:1(0) ack 12002 <sack 13002:15002>");
        assert_eq!((host.timeout(), host.deadline()), (300, Some(1700)));
    }
    follows(Area::Timer, "retransmission timer", "ns-2.35 tcp.cc");
}

/// Linux's thin streams: less than four segments in flight, and six timeouts that are not doubled.
#[test]
fn a_thin_stream_repeats_its_timeout_six_times_before_it_doubles_it() {
    let rto = RtoConfig { linear_when_thin: true, ..quick().timers.rto };
    let deadlines = |bytes: u64, rto: RtoConfig| -> Vec<u64> {
        let mut host = Host::connected(&plain().with_rto(rto).with_initial_window(10));
        host.at(1000).write(bytes);
        let expire = |_| {
            let deadline = host.deadline().unwrap();
            host.at(deadline);
            deadline
        };
        (0..9).map(expire).collect()
    };
    let linear = [1300, 1600, 1900, 2200, 2500, 2800, 3100, 3700, 4900];
    assert_eq!(deadlines(3000, rto), linear);
    let doubled = [1300, 1900, 3100, 5500, 10_300];
    assert_eq!(deadlines(4000, rto)[..5], doubled, "four segments are no thin stream");
    assert_eq!(deadlines(3000, quick().timers.rto)[..5], doubled, "it was not asked for");
}
