//! Early retransmission: a late first or second duplicate means loss (ER thesis, chapter III).

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{AgeReference, Config, Dupthresh, RtoConfig, TraceEvent};
use earlybird_units::Duration;

fn early(reference: AgeReference, config: Config) -> Config {
    config.with_dupthresh(Dupthresh::EarlyRetransmission(reference))
}

fn ns2() -> Config {
    let rto = RtoConfig { clock_phase: Some(Duration::ZERO), ..RtoConfig::NS2 };
    early(AgeReference::Missing, Config::ns2().with_rto(rto))
}

/// A connection that has seen round trips of 50 ms, then 80 ms until the estimate rests: 80 + 2·0 + 50 = 130 ms.
/// Returns the time and the number of the next segment.
fn settled(config: &Config) -> (Host, u64, u64) {
    let mut host = Host::connect(config);
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    let (mut time, mut number) = (1000, 1);
    for sample in [50; 4].into_iter().chain([80; 400]) {
        host.at(time).write(1000).at(time + sample).ack(number + 1, &[]);
        (time, number) = (time + 100, number + 1);
    }
    let threshold = host.connection.early_threshold().expect("a threshold after 404 samples");
    assert!(threshold.abs_diff(Duration::from_millis(130)) < Duration::from_micros(10), "{threshold}");
    host.at(time).forget_sent();
    (host, time, number)
}

/// Returns the counts of the duplicates and the ages of the missing packet in milliseconds.
fn duplicates(host: &Host) -> Vec<(u32, u64)> {
    let reported = host.decisions().iter().filter_map(|event| match event {
        TraceEvent::Duplicate { count, age, .. } => Some((*count, age.as_nanos() / 1_000_000)),
        _ => None,
    });
    reported.collect()
}

/// The first sample of 50 ms gives 50 + 2·25 + 50 ms.
#[test]
fn the_first_sample_of_50_ms_gives_a_threshold_of_150_ms() {
    let mut host = Host::connected(&ns2());
    assert_eq!(host.connection.early_threshold(), None);
    host.write(1000).at(150).ack(2, &[]);
    assert_eq!(host.connection.early_threshold(), Some(Duration::from_millis(150)));
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

#[test]
fn without_the_rule_there_is_no_threshold() {
    let mut host = Host::connected(&plain());
    host.write(1000).at(150).ack(2, &[]);
    assert_eq!(host.connection.early_threshold(), None);
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// A writer of one packet each `period` ms, in a window of 6 at most, that loses the packet sent at the returned time.
/// Three more follow it.
fn paced(config: &Config, period: u64) -> (Host, u64, u64) {
    let (mut host, time, lost) = settled(&config.with_max_window(6));
    for index in 0..4 {
        host.at(time + index * period).write(1000);
    }
    host.forget_sent();
    (host, time, lost)
}

/// A full window of 2. The duplicate of the second packet comes after one round trip of 80 ms;
/// the packet that limited transmit then sends returns another one at 160 ms, more than the threshold of 130 ms.
#[test]
fn in_a_window_of_2_the_second_duplicate_at_160_ms_repairs_the_loss_before_the_timer() {
    let (mut host, time, number) = settled(&ns2());
    // An idle second closes ns-2's window to 1, one ACK opens it to 2.
    host.at(time + 1000).write(1000).at(time + 1080).ack(number + 1, &[]).has_window(2.0, 64.0).forget_sent();
    let (time, lost) = (time + 1080, number + 1);
    host.write(100_000).sends_numbers(&[lost, lost + 1]);
    host.at(time + 80).ack(lost, &[lost + 1..lost + 2]).sends_numbers(&[lost + 2]);
    // D = 2: pipe = 3 − 2 = 1, cwnd = 1, so nothing goes but the packet itself.
    host.at(time + 160).ack(lost, &[lost + 1..lost + 3]).sends_numbers(&[lost]).has_window(1.0, 2.0);
    host.at(time + 240).ack(lost + 3, &[]).sends_numbers(&[lost + 3]);
    let statistics = host.connection.statistics();
    assert_eq!((statistics.early_on_second, statistics.fast_retransmits, statistics.timeouts), (1, 0, 0));
    assert_eq!(duplicates(&host), [(1, 80), (2, 160)]);
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// The same without the rule: the timer comes first, 200 ms after the last progress.
#[test]
fn in_a_window_of_2_the_third_duplicate_would_come_too_late() {
    let mut host = Host::connect(&ns2().with_dupthresh(Dupthresh::ThreeDuplicates));
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(100_000).forget_sent();
    host.at(130).ack(1, &[2..3]).sends_numbers(&[3]).at(210).ack(1, &[2..4]).sends_numbers(&[4]);
    host.at(290).sends_timed(&[(250, 1)]);
    let statistics = host.connection.statistics();
    assert_eq!((statistics.fast_retransmits, statistics.timeouts), (0, 1));
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// Duplicates of a slow writer come one period apart, at 80 + 27 and 80 + 54 ms.
#[test]
fn the_second_duplicate_of_a_packet_each_27_ms_triggers_with_pipe_2() {
    let (mut host, time, lost) = paced(&ns2(), 27);
    host.at(time + 107).ack(lost, &[lost + 1..lost + 2]).sends_nothing();
    // ns-2 holds new data back behind a hole that it knows.
    host.at(time + 108).write(100_000).sends_nothing();
    // D = 2: pipe = 4 − 2 = 2, cwnd = 6/2 = 3. ns-2 sends nothing but the packet itself on the ACK that reveals the loss.
    host.at(time + 134).ack(lost, &[lost + 1..lost + 3]).sends_numbers(&[lost]).has_window(3.0, 3.0);
    // pipe = 1: room for two.
    host.at(time + 161).ack(lost, &[lost + 1..lost + 4]).sends_numbers(&[lost + 4, lost + 5]);
    assert!(host.connection.is_recovering());
    host.at(time + 214).ack(lost + 4, &[]).sends_numbers(&[lost + 6]);
    assert!(!host.connection.is_recovering());
    assert_eq!(duplicates(&host), [(1, 107), (2, 134)]);
    assert_eq!(host.connection.statistics().early_on_second, 1);
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// 80 + 60 ms: D = 1.
#[test]
fn the_first_duplicate_of_a_packet_each_60_ms_triggers_with_pipe_2() {
    let (mut host, time, lost) = settled(&ns2().with_max_window(6));
    host.write(1000).at(time + 60).write(1000).at(time + 120).write(1000).forget_sent();
    // pipe = 3 − 1 = 2, cwnd = 6/2 = 3: there is room for one, but nothing is written.
    host.at(time + 140).ack(lost, &[lost + 1..lost + 2]).sends_numbers(&[lost]).has_window(3.0, 3.0);
    host.write(100_000).sends_numbers(&[lost + 3]);
    assert_eq!((host.connection.statistics().early_on_first, duplicates(&host)), (1, vec![(1, 140)]));
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// Duplicates of the same window come after one round trip at most; the third is the usual one.
#[test]
fn duplicates_of_packets_sent_together_never_trigger_early() {
    for config in [ns2(), early(AgeReference::Missing, plain().with_initial_window(10))] {
        let (mut host, time, lost) = settled(&config);
        host.write(10_000).forget_sent();
        host.at(time + 80).ack(lost, &[lost + 1..lost + 2]).ack(lost, &[lost + 1..lost + 3]).sends_nothing();
        host.ack(lost, &[lost + 1..lost + 4]).sends_numbers(&[lost]);
        let statistics = host.connection.statistics();
        assert_eq!((statistics.fast_retransmits, statistics.early_on_first, statistics.early_on_second), (1, 0, 0));
    }
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// A packet overtaken by another may be one round trip late.
#[test]
fn a_packet_that_is_129_ms_old_is_not_retransmitted() {
    let (mut host, time, late) = settled(&ns2());
    host.write(1000).at(time + 40).write(1000).forget_sent();
    host.at(time + 129).ack(late, &[late + 1..late + 2]).sends_nothing();
    host.at(time + 130).ack(late + 2, &[]).sends_nothing();
    assert_eq!(host.connection.statistics().retransmissions, 0);
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// The last packet in order was sent one period before the missing one.
#[test]
fn the_last_packet_in_order_is_27_ms_older_and_triggers_on_the_first_duplicate() {
    for (reference, triggers) in [(AgeReference::Missing, false), (AgeReference::LastInOrder, true)] {
        let (mut host, time, number) = settled(&early(reference, ns2()));
        for index in 0..3 {
            host.at(time + index * 27).write(1000);
        }
        // The packet of `time` arrives, the one of `time` + 27 ms is lost, that of `time` + 54 ms tells of it.
        host.forget_sent().at(time + 80).ack(number + 1, &[]);
        host.at(time + 134).ack(number + 1, &[number + 2..number + 3]);
        assert_eq!(host.connection.is_recovering(), triggers);
        assert_eq!(duplicates(&host), [(1, 107)], "the age told is the missing packet's");
    }
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// Neither in recovery nor after a timeout: our reading of the thesis.
#[test]
fn after_a_timeout_late_duplicates_do_not_trigger() {
    let (mut host, time, lost) = paced(&ns2(), 27);
    host.at(time + 300).forget_sent();
    assert_eq!(host.connection.statistics().timeouts, 1);
    host.at(time + 900).ack(lost, &[lost + 1..lost + 2]);
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}

/// With RFC 6675 only the trigger is early: `SetPipe` counts the packet twice until `IsLost` agrees.
#[test]
fn with_rfc_6675_the_second_duplicate_triggers_with_pipe_4() {
    let (mut host, time, lost) = paced(&early(AgeReference::Missing, plain()), 27);
    host.at(time + 107).ack(lost, &[lost + 1..lost + 2]).sends_nothing();
    // Four outstanding: max(4/2, 2) = 2 (RFC 5681 equation 4).
    host.at(time + 134).ack(lost, &[lost + 1..lost + 3]).sends_numbers(&[lost]).has_window(2.0, 2.0);
    // pipe = the packet twice and the last one = 3. Now `IsLost`: pipe = 1, room for one.
    host.write(100_000).sends_nothing();
    host.at(time + 161).ack(lost, &[lost + 1..lost + 4]).sends_numbers(&[lost + 4]);
    assert_eq!(host.connection.statistics().early_on_second, 1);
    follows(Area::Recovery, "early retransmission", "ER thesis, chapter III");
}
