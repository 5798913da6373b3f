//! Loss recovery, by the numbers of RFC 9002, where known packets are lost.
//!
//! The numbers stand in quinn's source too (`config/transport.rs`, `connection/mod.rs`, `congestion/cubic.rs`); the RFC's sections of
//! probes, persistent congestion and windows are cited from memory.

use crate::harness::{DELAY, Seen, link, losing, near, run, units, units_without};
use earlybird_conformance::{Area, conforms};
use earlybird_quic::{Carriage, Control};
use earlybird_sim::QueueLimit;
use earlybird_traffic::Bulk;
use earlybird_units::Duration;
use rstest::rstest;
use std::iter;

/// The probe timeout of a connection that stands, in milliseconds: a round trip, four deviations – long at their least, a
/// millisecond –, and the peer's longest delay of ACKs, 25 ms (RFC 9002 §6.2.1, RFC 9000 §18.2).
const TIMEOUT: f64 = 2.0 * DELAY + 1.0 + 25.0;
/// The first one, with which a client opens: an assumed round trip of 333 ms (RFC 9002 §6.2.2) and four deviations of half of it.
const FIRST_TIMEOUT: f64 = 333.0 + 4.0 * 333.0 / 2.0;

#[test]
fn the_third_packet_behind_a_hole_means_loss() {
    let seen = units_without(Carriage::Streams, 2, 300, 1);
    let late = seen.late();
    // Three periods later the third packet behind it left; its acknowledgement came a round trip later, and the data once more.
    near(late[0].1, 3.0 * 2.0 + 3.0 * DELAY, 0.5);
    assert_eq!((late.len(), seen.end.statistics.retransmissions, seen.timeouts.len()), (1, 1, 0));
    conforms(
        Area::Recovery,
        "QUIC (quinn)",
        "RFC 9002 §6.1.1: kPacketThreshold = 3",
        "a unit of 100 bytes every 2 ms over a round trip of 100 ms, one packet lost: when its data come after all",
        "3 periods and 3/2 round trips after they were written, within 0.5 ms",
    );
}

#[test]
fn a_hole_of_nine_eighths_of_a_round_trip_means_loss() {
    let seen = units_without(Carriage::Streams, 10, 300, 1);
    let late = seen.late();
    // The first acknowledgement that shows the hole comes after 110 ms, the third after 130.
    near(late[0].1, (9.0 / 8.0) * 2.0 * DELAY + DELAY, 1.0);
    assert_eq!((late.len(), seen.timeouts.len()), (1, 0));
    conforms(
        Area::Recovery,
        "QUIC (quinn)",
        "RFC 9002 §6.1.2: kTimeThreshold = 9/8",
        "the same with a unit every 10 ms, where the third packet would come too late",
        "9/8 of a round trip and the way once after they were written, within 1 ms",
    );
}

#[test]
fn a_probe_is_sent_after_the_probe_timeout() {
    let seen = units_without(Carriage::Streams, 20, 499, 1);
    let late = seen.late();
    assert_eq!((late.len(), late[0].0, seen.timeouts.len()), (1, 499, 1), "{:?}", seen.timeouts);
    // Quinn's probe asks for an acknowledgement and carries nothing: the data follow when that shows what is missing.
    near(late[0].1, TIMEOUT + 3.0 * DELAY, 2.0);
    near(seen.timers()[0], TIMEOUT, 2.0);
    let (_, timer, freeze) = seen.timeouts[0];
    assert!(freeze < timer + Duration::from_millis(25), "{freeze:?}: acknowledgements of units before came in between");
    conforms(
        Area::Timer,
        "QUIC (quinn)",
        "RFC 9002 §6.2.1: PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay",
        "the last unit lost: the timer's length, and when the unit comes after all",
        "126 ms, and 150 ms later (a PING, its acknowledgement, the data), within 2 ms",
    );
}

#[rstest]
#[case::first(1, &[FIRST_TIMEOUT])]
#[case::and_its_two_probes(3, &[FIRST_TIMEOUT, 2.0 * FIRST_TIMEOUT])]
fn a_client_without_an_answer_probes_after_999_ms_and_then_after_twice_that(#[case] lost: u64, #[case] timers: &[f64]) {
    let seen = units(Carriage::Streams, 20, &(0..lost).collect::<Vec<_>>());
    assert_eq!(seen.timers().len(), timers.len(), "{:?}", seen.timeouts);
    seen.timers().iter().zip(timers).for_each(|(timer, expected)| near(*timer, *expected, 1.0));
    assert_eq!(seen.delivered.len(), 500);
    conforms(
        Area::Timer,
        "QUIC (quinn)",
        "RFC 9002 §6.2.2: kInitialRtt = 333 ms; §6.2.1: the timeout doubles with each expiry",
        "the packets that open a connection lost: the timer's lengths",
        "999 ms, then 1998 ms, within 1 ms",
    );
}

#[test]
fn a_timeout_whose_probes_are_lost_too_is_followed_by_one_of_twice_its_length() {
    let tail = units(Carriage::Streams, 20, &[]).packet_of(499);
    let seen = units(Carriage::Streams, 20, &[tail]);
    let expired = seen.timeouts[0].0;
    let probes =
        seen.packets.iter().enumerate().filter(|(_, packet)| packet.0 == expired).map(|(number, _)| number as u64);
    let drops: Vec<u64> = iter::once(tail).chain(probes).collect();
    assert_eq!(drops.len(), 3, "quinn sends two probes");
    let seen = units(Carriage::Streams, 20, &drops);
    assert_eq!((seen.timeouts.len(), seen.delivered.len()), (2, 500), "{:?}", seen.timeouts);
    near(seen.timers()[1], 2.0 * TIMEOUT, 4.0);
}

#[rstest]
fn without_losses_no_timer_expires(
    #[values(Carriage::Stream, Carriage::Streams, Carriage::Datagrams)] carriage: Carriage,
) {
    assert_eq!(units(carriage, 20, &[]).timeouts, []);
    assert_eq!(bulk(carriage, &[]).timeouts, []);
}

/// Sends as much as 10 Mb/s let through for 20 s.
fn bulk(carriage: Carriage, drops: &[u64]) -> Seen {
    let forward = link(10_000_000, QueueLimit::Unlimited, vec![losing(drops)]);
    run(carriage, Control::NewReno, forward, 20, |path| Box::new(Bulk::new(path, None)))
}

#[test]
fn a_pacer_that_waits_longer_than_a_round_trip_is_no_timeout() {
    // Packets that are lost one by one are found by those behind them, and leave a window of two packets at last.
    let seen = bulk(Carriage::Stream, &(30..200).step_by(5).collect::<Vec<_>>());
    near(seen.smallest_window(), 2.0, 0.1);
    assert_eq!((seen.timeouts.len(), seen.end.statistics.retransmissions), (0, 32), "{:?}", seen.timeouts);
}

#[test]
fn what_was_lost_for_three_timeouts_leaves_a_window_of_two_packets() {
    let first = units(Carriage::Streams, 20, &[]).packet_of(300) as usize;
    for lost in 15..30 {
        let seen = units_without(Carriage::Streams, 20, 300, lost);
        let asking = || seen.packets[first..first + lost as usize].iter().filter(|packet| packet.2);
        let span = asking().next_back().expect("one").0 - asking().next().expect("one").0;
        let is_long = span.as_secs_f64() * 1e3 > 3.0 * TIMEOUT;
        near(seen.smallest_window(), if is_long { 2.0 } else { 0.7 * INITIAL }, 0.01);
        assert_eq!((seen.timeouts.len(), seen.delivered.len()), (0, 500), "{lost}: {:?}", seen.timeouts);
    }
    conforms(
        Area::Recovery,
        "QUIC (quinn)",
        "RFC 9002 §7.6: kPersistentCongestionThreshold = 3; §7.2: kMinimumWindow = 2 packets",
        "a unit of 100 bytes every 20 ms, probe timeout 126 ms; 15 to 29 packets lost in a row: the smallest window",
        "two packets if the lost ones with data span more than 378 ms, else 7/10 of the first window (RFC 8312)",
    );
}

/// Quinn's first window of 12,000 bytes, ten packets of 1200 (RFC 9002 §7.2), in packets of the size that it finds.
const INITIAL: f64 = 12_000.0 / 1452.0;
