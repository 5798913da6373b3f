//! Repairs of single losses by SRT, over 50 ms each way with a unit every 20 ms.

use crate::line::{Fate, Log, ONE_WAY, PERIOD, Sending, talk, written};
use earlybird_conformance::{Area, conforms};
use earlybird_datagram::Control;
use earlybird_datagram::srt::{Latency, Parameters};
use earlybird_units::{Duration, Instant};

const LATENCY: Duration = Duration::from_millis(400);
const DRAFT: &str = "draft-sharabayko-srt-01";

fn srt(latency: Duration) -> Control {
    Control::Srt(Parameters { latency: Latency::Fixed(latency), ..Parameters::DEFAULT })
}

/// Sends fifty units of 100 bytes; what `is_lost` names is lost.
fn with_losses(latency: Duration, is_lost: impl Fn(&Sending<'_>) -> bool) -> Log {
    talk(srt(latency), &[100; 50], &mut |sending| if is_lost(sending) { Fate::new() } else { vec![Duration::ZERO] })
}

fn first_sending_of(packet: u32) -> impl Fn(&Sending<'_>) -> bool {
    move |sending| sending.data() == Some((packet, false))
}

fn release(unit: u32, latency: Duration) -> Instant {
    written(unit) + ONE_WAY + latency
}

/// Asserts that every unit but those was released, in order, at its time.
fn assert_released_in_time(log: &Log, latency: Duration, lost: &[u32]) {
    let expected: Vec<_> =
        (0..50).filter(|unit| !lost.contains(unit)).map(|unit| (unit, release(unit, latency))).collect();
    assert_eq!(log.released, expected);
}

#[test]
fn every_unit_is_released_one_way_delay_and_latency_after_its_writing() {
    for latency in [0, 120, 400].map(Duration::from_millis) {
        let log = with_losses(latency, |_| false);
        assert_released_in_time(&log, latency, &[]);
        assert_eq!((log.sent.len(), log.naks.len()), (50, 0));
    }
    conforms(Area::Traffic, "srt", DRAFT, "release times (§4.5), 50 units at three latencies", "equal");
}

#[test]
fn a_single_loss_is_repaired_one_round_trip_after_the_gap_shows() {
    let log = with_losses(LATENCY, first_sending_of(20));
    let gap_shows = written(21) + ONE_WAY;
    assert_eq!(log.repairs, [(20, gap_shows + ONE_WAY * 2)]);
    assert_released_in_time(&log, LATENCY, &[]);
    conforms(
        Area::Traffic,
        "srt",
        DRAFT,
        "NAK at the gap (§4.8.2): a lost packet's repair arrives",
        "RTT later, exactly",
    );
}

#[test]
fn a_loss_of_many_in_a_row_is_repaired_at_once() {
    let log = with_losses(LATENCY, |sending| matches!(sending.data(), Some((10..15, false))));
    let repaired = written(15) + ONE_WAY * 3;
    assert_eq!(log.repairs.len(), 5);
    assert!(log.repairs.iter().all(|(_, at)| *at - repaired < Duration::from_micros(10)), "{:?}", log.repairs);
    assert_released_in_time(&log, LATENCY, &[]);
}

#[test]
fn a_lost_retransmission_is_requested_by_the_next_periodic_report() {
    let first_repair = written(21) + ONE_WAY * 2;
    let log = with_losses(LATENCY, |sending| matches!(sending.data(), Some((20, _))) && sending.at <= first_repair);
    let repairs = log.repairs_sent(20);
    assert_eq!(repairs.len(), 2, "{repairs:?}");
    // The first repair is given up once a round trip may be over, and reports come every half round trip or so.
    let between = repairs[1] - repairs[0];
    assert!(between > ONE_WAY && between < ONE_WAY * 4, "{between}");
    assert_released_in_time(&log, LATENCY, &[]);
}

#[test]
fn a_lost_report_is_followed_by_the_next() {
    let log = with_losses(LATENCY, |sending| first_sending_of(20)(sending) || (sending.is_nak() && sending.nth == 0));
    let interval = log.naks[1] - log.naks[0];
    // (RTT + 4·RTTVar) / 2 and up to a tick of 10 ms, the variance being small by now.
    assert!(interval >= ONE_WAY && interval < ONE_WAY * 2, "{interval}");
    assert_eq!(log.repairs, [(20, log.naks[1] + ONE_WAY * 2)]);
    assert_released_in_time(&log, LATENCY, &[]);
    conforms(
        Area::Traffic,
        "srt",
        DRAFT,
        "periodic NAK (§4.8.2) after a lost one",
        "at the tick after (RTT + 4·RTTVar) / 2",
    );
}

#[test]
fn repairs_are_not_sent_twice_within_a_round_trip() {
    let log = with_losses(LATENCY, first_sending_of(20));
    assert_eq!(log.naks.len(), 2, "a second report before the repair arrives");
    assert_eq!(log.repairs_sent(20).len(), 1);
}

#[test]
fn a_unit_that_cannot_be_repaired_in_time_is_skipped_and_the_next_one_released_in_time() {
    let latency = Duration::from_millis(60);
    let log = with_losses(latency, first_sending_of(20));
    assert_eq!(log.repairs.len(), 1);
    assert!(log.repairs[0].1 > release(20, latency));
    assert_released_in_time(&log, latency, &[20]);
    conforms(Area::Traffic, "srt", DRAFT, "too-late packet drop at the receiver (§4.6)", "one unit lost, 49 in time");
}

/// Haivision's implementation (`CUDT::tsbpd`): a queue that grows beyond the latency delays a stream; it does not discard it.
#[test]
fn packets_that_a_queue_delays_beyond_the_latency_are_released_as_they_arrive() {
    let (latency, queue) = (Duration::from_millis(120), Duration::from_millis(800));
    let log = talk(srt(latency), &[100; 50], &mut |sending| {
        vec![if sending.data().is_some_and(|(packet, _)| packet >= 10) { queue } else { Duration::ZERO }]
    });
    let expected = |unit| if unit < 10 { release(unit, latency) } else { release(unit, queue) };
    assert_eq!(log.released, (0..50).map(|unit| (unit, expected(unit))).collect::<Vec<_>>());
    let what = "packets delayed beyond the latency (`CUDT::tsbpd`), 40 of 50";
    conforms(Area::Traffic, "srt", "Haivision's libsrt", what, "all released, as they arrive");
}

/// A packet behind which a later one was released is discarded (`handleSocketPacketReception`: "belated").
#[test]
fn a_packet_that_arrives_after_a_later_one_was_released_is_discarded() {
    let latency = Duration::from_millis(120);
    let log = talk(srt(latency), &[100; 50], &mut |sending| match sending.data() {
        Some((20, true)) => Fate::new(),
        Some((20, false)) => vec![Duration::from_millis(300)],
        _ => vec![Duration::ZERO],
    });
    assert_released_in_time(&log, latency, &[20]);
}

/// On a line that is too slow, with a queue longer than the latency, most packets come late and are released anyway.
#[test]
fn a_line_that_is_too_slow_carries_what_it_can() {
    let mut free = Instant::ZERO;
    let log = talk(srt(Duration::from_millis(120)), &[1000; 500], &mut |sending| {
        if sending.data().is_none() {
            return vec![Duration::ZERO];
        }
        // Half of the written data, one packet every 40 ms, and a queue of 400 ms.
        let wait = free.max(sending.at) - sending.at;
        if wait > Duration::from_millis(400) {
            return Fate::new();
        }
        free = sending.at + wait + PERIOD * 2;
        vec![wait]
    });
    // 250 in the time of the writing, and the queue after it.
    let released = log.released.len();
    assert!((200..=261).contains(&released), "{released} of 500 units were released on a line for half of them");
}

#[test]
fn a_packet_that_is_overtaken_is_released_in_its_turn() {
    let late = Duration::from_millis(30);
    let log = talk(srt(LATENCY), &[100; 50], &mut |sending| {
        vec![if first_sending_of(20)(sending) { late } else { Duration::ZERO }]
    });
    // The gap shows before it arrives: the repair is needless, but asked for.
    assert_eq!(log.repairs.len(), 1);
    assert_released_in_time(&log, LATENCY, &[]);
}

#[test]
fn a_packet_that_comes_twice_is_released_once() {
    let log = talk(srt(LATENCY), &[100; 50], &mut |_| vec![Duration::ZERO, Duration::from_millis(7)]);
    assert_released_in_time(&log, LATENCY, &[]);
    assert_eq!(log.repairs.len(), 0);
}

#[test]
fn a_unit_of_several_packets_needs_them_all() {
    let latency = Duration::from_millis(60);
    let log = talk(srt(latency), &[2500; 10], &mut |sending| match sending.data() {
        // The last packet of unit 3.
        Some((11, _)) => Fate::new(),
        _ => vec![Duration::ZERO],
    });
    assert_eq!(log.released.iter().map(|(unit, _)| *unit).collect::<Vec<_>>(), [0, 1, 2, 4, 5, 6, 7, 8, 9]);
    assert_eq!(log.release_of(4), Some(release(4, latency)));
}

#[test]
fn a_latency_of_four_round_trips_is_four_times_the_first_one_measured() {
    let control = Control::Srt(Parameters { latency: Latency::RoundTrips(4.0), ..Parameters::DEFAULT });
    let log = talk(control, &[100; 50], &mut |sending| {
        if first_sending_of(20)(sending) { Fate::new() } else { vec![Duration::ZERO] }
    });
    assert_released_in_time(&log, ONE_WAY * 2 * 4, &[]);
}

#[test]
fn with_a_limited_rate_repairs_take_the_room_that_is_left() {
    let control = Control::Srt(Parameters { latency: Latency::Fixed(LATENCY), overhead: Some(0.25) });
    let log = talk(control, &[100; 200], &mut |sending| {
        if matches!(sending.data(), Some((100..104, false))) { Fate::new() } else { vec![Duration::ZERO] }
    });
    let times: Vec<_> = log.sent.iter().skip(100).map(|(.., at)| *at).collect();
    // Four in five of the time between two units.
    let gap = Duration::from_millis(15);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] > gap), "{times:?}");
    assert_eq!((log.repairs.len(), log.released.len()), (4, 200));
    assert!(written(199) + PERIOD > *times.last().unwrap());
}
