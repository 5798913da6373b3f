//! Viewers over a network of made-up arrivals.

use earlybird_traffic::{
    AdaptiveDelay, Deadline, Feedback, Part, PlaybackDelay, Playout, Rebuffer, ReceiverApp, ReceiverIo, Reception,
    StartRule, Timetable, Viewer,
};
use earlybird_units::{Duration, Instant, Rate};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The transport of the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Carrier {
    /// In order, and nothing else.
    Stream,
    /// In order; a waiting reader skips holes.
    Skipping,
    /// As they come.
    Datagrams,
}

/// The receiving half of a transport, and a diary.
struct Fake {
    carrier: Carrier,
    now: Instant,
    /// Parts that arrived, by their place in the stream, and the place to be read next.
    store: BTreeMap<u64, Part>,
    next: u64,
    is_waiting: bool,
    wake: Instant,
    events: Vec<(u64, Playout)>,
    messages: Vec<(u64, u64)>,
}

impl Fake {
    fn take_first(&mut self) -> Option<Part> {
        let (place, part) = self.store.pop_first()?;
        self.next = place + 1;
        self.is_waiting = false;
        Some(part)
    }

    fn is_in_order(&self) -> bool {
        self.carrier == Carrier::Datagrams || self.store.contains_key(&self.next)
    }

    /// Takes a part; says whether more can be read than before.
    fn arrive(&mut self, place: u64, part: Part) -> bool {
        if self.carrier != Carrier::Datagrams && place < self.next {
            return false;
        }
        self.store.insert(place, part);
        if self.is_waiting && self.carrier == Carrier::Skipping && !self.is_in_order() {
            self.next = place;
        }
        self.is_in_order()
    }
}

fn millis_of(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

impl ReceiverIo for Fake {
    fn now(&self) -> Instant {
        self.now
    }

    fn read_in_order(&mut self) -> Option<Part> {
        if self.is_in_order() { self.take_first() } else { None }
    }

    fn read(&mut self) -> Option<Part> {
        let part = if self.carrier == Carrier::Stream { self.read_in_order() } else { self.take_first() };
        self.is_waiting = part.is_none();
        part
    }

    fn peek(&self) -> Option<Part> {
        self.store.first_key_value().map(|(_, part)| *part)
    }

    fn write(&mut self, bytes: u64) {
        self.messages.push((millis_of(self.now), bytes));
    }

    fn wake_at(&mut self, at: Instant) {
        assert!(at > self.now, "a wish for the past");
        self.wake = at;
    }

    fn report(&mut self, event: Playout) {
        self.events.push((millis_of(self.now), event));
    }
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(at: u64) -> Instant {
    Instant::ZERO + millis(at)
}

/// Lets the source begin at time 0 and parts arrive at these times; gives what the viewer did until `end`.
fn watch(viewer: impl Into<Viewer>, carrier: Carrier, arrivals: &[(u64, u64, Part)], end: u64) -> Fake {
    let mut fake = Fake {
        carrier,
        now: Instant::ZERO,
        store: BTreeMap::new(),
        next: 0,
        is_waiting: false,
        wake: Instant::ZERO,
        events: Vec::new(),
        messages: Vec::new(),
    };
    let mut viewer = viewer.into();
    let mut arrivals = arrivals.to_vec();
    arrivals.sort_by_key(|(time, ..)| *time);
    let mut arrivals = arrivals.into_iter().peekable();
    loop {
        let arrival = arrivals.peek().map_or(Instant::NEVER, |(time, ..)| at(*time));
        fake.now = arrival.min(fake.wake);
        if fake.now > at(end) {
            return fake;
        }
        if let Some((_, place, part)) = arrivals.next_if(|_| arrival < fake.wake) {
            if fake.arrive(place, part) {
                viewer.on_readable(&mut fake);
            }
        } else {
            fake.wake = Instant::NEVER;
            viewer.on_wake(&mut fake);
        }
    }
}

/// So many units, one every 20 ms.
fn audio(count: u64) -> Timetable {
    Timetable::constant(Rate::from_bits_per_second(40_000).expect("a rate"), 100).ending_after(Some(count))
}

fn deadline(count: u64, delay: u64) -> Deadline {
    Deadline::new(audio(count), PlaybackDelay::Fixed(millis(delay)))
}

/// Whole units with their times of arrival, which is also their order in the stream.
fn units(arrivals: &[(u64, u64)]) -> Vec<(u64, u64, Part)> {
    arrivals.iter().map(|(time, unit)| (*time, *unit, Part::whole(*unit))).collect()
}

/// A unit every 20 ms, 30 ms after it was written, but these, which come later or never.
fn steady(count: u64, but: &[(u64, Option<u64>)]) -> Vec<(u64, u64, Part)> {
    let time = |unit: u64| match but.iter().find(|(other, _)| *other == unit) {
        Some((_, time)) => *time,
        None => Some(30 + 20 * unit),
    };
    units(&(0..count).filter_map(|unit| Some((time(unit)?, unit))).collect::<Vec<_>>())
}

fn reported(fake: &Fake, which: impl Fn(&Playout) -> bool) -> Vec<(u64, Playout)> {
    fake.events.iter().filter(|(_, event)| which(event)).copied().collect()
}

fn lost(fake: &Fake) -> Vec<u64> {
    let number = |(_, event): &(u64, Playout)| if let Playout::Lost(unit) = event { Some(*unit) } else { None };
    fake.events.iter().filter_map(number).collect()
}

fn played(fake: &Fake) -> Vec<(u64, u64)> {
    let number = |(time, event): &(u64, Playout)| match event {
        Playout::Played(unit) => Some((*time, *unit)),
        _ => None,
    };
    fake.events.iter().filter_map(number).collect()
}

#[test]
fn every_unit_is_played_so_long_after_its_writing() {
    for carrier in [Carrier::Stream, Carrier::Skipping, Carrier::Datagrams] {
        let fake = watch(deadline(5, 100), carrier, &steady(5, &[]), 1000);
        assert_eq!(played(&fake), [(100, 0), (120, 1), (140, 2), (160, 3), (180, 4)]);
        assert_eq!(lost(&fake), []);
    }
}

#[test]
fn a_hole_in_a_plain_stream_loses_all_units_until_it_is_filled() {
    // Unit 2 comes a second time at 185 ms; units 3 and 4 wait behind it.
    let fake = watch(deadline(8, 100), Carrier::Stream, &steady(8, &[(2, Some(185))]), 1000);
    assert_eq!(lost(&fake), [2, 3, 4]);
    let late: Vec<_> = [2, 3, 4].map(|unit| (185, Playout::Late(unit))).into();
    assert_eq!(reported(&fake, |event| matches!(event, Playout::Late(_))), late);
}

#[test]
fn a_reader_that_skips_loses_the_missing_unit_and_no_other() {
    for retransmitted in [None, Some(185)] {
        let fake = watch(deadline(8, 100), Carrier::Skipping, &steady(8, &[(2, retransmitted)]), 1000);
        assert_eq!(lost(&fake), [2]);
        assert_eq!(played(&fake).last(), Some(&(240, 7)));
    }
}

#[test]
fn of_three_units_missing_a_patient_reader_loses_those_that_miss_their_own_time() {
    // Due at 140, 160 and 180 ms.
    let arrivals = steady(12, &[(2, None), (3, Some(155)), (4, Some(175))]);
    let lost_by = |player: Deadline| lost(&watch(player, Carrier::Skipping, &arrivals, 1000));
    assert_eq!(lost_by(deadline(12, 100)), [2, 3, 4], "the whole hole is skipped when its first unit is due");
    assert_eq!(lost_by(deadline(12, 100).skip_only_when_due()), [2]);
}

#[test]
fn what_is_retransmitted_by_its_deadline_is_played() {
    for (retransmitted, expected) in [(139, 0), (140, 0), (141, 1)] {
        // A packet that comes at the very moment is a matter of the order of events: the fake's wake-ups come first.
        let fake = watch(deadline(8, 100), Carrier::Skipping, &steady(8, &[(2, Some(retransmitted))]), 1000);
        assert_eq!(lost(&fake).len(), usize::from(retransmitted >= 140).max(expected), "at {retransmitted} ms");
    }
}

#[test]
fn datagrams_out_of_order_are_kept_for_their_time_and_late_ones_dropped() {
    let fake = watch(deadline(50, 100), Carrier::Datagrams, &steady(50, &[(1, Some(115)), (2, Some(300))]), 1200);
    assert_eq!(lost(&fake), [2]);
    assert_eq!(reported(&fake, |event| matches!(event, Playout::Late(_))), [(300, Playout::Late(2))]);
}

/// Three parts per unit; the parts with these places never come.
fn video(count: u64, missing: &[u64]) -> Vec<(u64, u64, Part)> {
    let places = (0..3 * count).filter(|place| !missing.contains(place));
    places
        .map(|place| (30 + 20 * (place / 3), place, Part { unit: place / 3, part: (place % 3) as u32, parts: 3 }))
        .collect()
}

#[test]
fn a_unit_is_lost_if_any_part_is_and_later_ones_survive_whole() {
    for missing in [[6].as_slice(), &[7], &[8], &[6, 8], &[6, 7, 8]] {
        let fake = watch(deadline(6, 100), Carrier::Skipping, &video(6, missing), 1000);
        assert_eq!(lost(&fake), [2], "without {missing:?}");
        assert_eq!(played(&fake).len(), 5);
    }
}

#[test]
fn a_hole_across_two_units_loses_both() {
    let fake = watch(deadline(6, 100), Carrier::Skipping, &video(6, &[8, 9]), 1000);
    assert_eq!(lost(&fake), [2, 3]);
}

#[test]
fn a_starved_reader_takes_what_comes_next() {
    // Nothing arrives from 70 to 200 ms; then unit 5 comes before unit 4, which is repaired too late to be waited for.
    let late = [(2, None), (3, None), (4, Some(215)), (5, Some(195)), (6, Some(196)), (7, Some(197)), (8, Some(198))];
    let fake = watch(deadline(10, 100), Carrier::Skipping, &steady(10, &late), 1000);
    assert_eq!(lost(&fake), [2, 3, 4]);
    assert_eq!(played(&fake)[2], (200, 5));
}

#[test]
fn a_stall_lasts_until_enough_units_are_buffered() {
    let player = |resume| Rebuffer::new(audio(10), StartRule::After(millis(60)), resume);
    // Units 4 to 9 are held up and come from 300 ms on, one every 19 ms.
    let late: Vec<_> = (4..10).map(|unit| (unit, Some(300 + 19 * (unit - 4)))).collect();
    let fake = watch(player(1), Carrier::Stream, &steady(10, &late), 1000);
    let waits = |event: &Playout| matches!(event, Playout::Started(_) | Playout::Stalled | Playout::Resumed(_));
    let expected = [(60, Playout::Started(millis(60))), (140, Playout::Stalled), (300, Playout::Resumed(millis(160)))];
    assert_eq!(reported(&fake, waits), expected);
    assert_eq!(played(&fake)[3..5], [(120, 3), (300, 4)]);
    let fake = watch(player(3), Carrier::Stream, &steady(10, &late), 1000);
    assert_eq!(reported(&fake, waits).last(), Some(&(338, Playout::Resumed(millis(198)))));
    assert_eq!((played(&fake).last(), lost(&fake).len()), (Some(&(438, 9)), 0));
    // No more than what is left of the stream.
    let fake = watch(player(100), Carrier::Stream, &steady(10, &late), 1000);
    assert_eq!(reported(&fake, waits).last(), Some(&(395, Playout::Resumed(millis(255)))));
}

#[test]
fn playback_begins_after_its_delay_or_with_enough_units() {
    let start = |rule| {
        let fake = watch(Rebuffer::new(audio(10), rule, 1), Carrier::Stream, &steady(10, &[]), 1000);
        reported(&fake, |event| matches!(event, Playout::Started(_)))
    };
    assert_eq!(start(StartRule::After(millis(250))), [(250, Playout::Started(millis(250)))]);
    assert_eq!(start(StartRule::After(millis(10))), [(30, Playout::Started(millis(30)))]);
    assert_eq!(start(StartRule::Units(4)), [(90, Playout::Started(millis(90)))]);
}

#[test]
fn a_rebuffering_player_over_a_transport_that_skips_loses_a_unit_rather_than_stall() {
    let player = Rebuffer::new(audio(20), StartRule::After(millis(100)), 1);
    let fake = watch(player, Carrier::Skipping, &steady(20, &[(3, Some(400))]), 1000);
    assert_eq!((lost(&fake), played(&fake).len()), (vec![3], 19));
    assert_eq!(reported(&fake, |event| *event == Playout::Stalled), []);
}

#[test]
fn a_full_buffer_reads_no_more() {
    let burst: Vec<_> = (0..1000).map(|unit| (30, unit)).collect();
    let unread = |end| {
        let player =
            Rebuffer::new(audio(1000), StartRule::After(Duration::ZERO), 1).with_capacity(Duration::from_secs(10));
        watch(player, Carrier::Stream, &units(&burst), end).store.len()
    };
    // Unit 500 is the first whose time lies 10 s behind unit 0's; each one played makes room for another.
    assert_eq!([unread(35), unread(30 + 20 * 100 + 5)], [1000 - 502, 1000 - 602]);
}

#[test]
fn heartbeats_follow_an_idle_interval_and_stop_with_the_next_data() {
    let feedback = Feedback { heartbeat: Some(millis(60)), report: None };
    let viewer = Viewer::from(deadline(40, 100)).with_feedback(feedback);
    // Nothing between 70 and 245 ms, and nothing after the last unit, which came at 810 and is played at 880 ms.
    let gap: Vec<_> = (3..11).map(|unit| (unit, None)).chain([(11, Some(245))]).collect();
    let fake = watch(viewer, Carrier::Datagrams, &steady(40, &gap), 3000);
    assert_eq!(fake.messages, [(130, 8), (190, 8), (870, 8)]);
    let second = Reception { highest: Some(2), lost: 2 };
    assert_eq!(reported(&fake, |event| matches!(event, Playout::Heartbeat(_)))[1], (190, Playout::Heartbeat(second)));
}

#[test]
fn reports_come_regularly_from_the_first_data_to_the_last_unit() {
    let feedback = Feedback { heartbeat: None, report: Some(millis(200)) };
    let viewer = Viewer::from(deadline(40, 100)).with_feedback(feedback);
    let fake = watch(viewer, Carrier::Datagrams, &steady(40, &[(5, None)]), 3000);
    assert_eq!(fake.messages, [(230, 12), (430, 12), (630, 12), (830, 12)]);
    let last = Reception { highest: Some(39), lost: 1 };
    assert_eq!(
        fake.events.iter().rfind(|(_, event)| matches!(event, Playout::Report(_))),
        Some(&(830, Playout::Report(last)))
    );
}

#[test]
fn an_adaptive_playback_delay_falls_to_what_the_network_needs() {
    let rule = AdaptiveDelay { least: millis(20), most: millis(300), talkspurt: 50 };
    let player = Deadline::new(audio(200), PlaybackDelay::Adaptive(rule));
    let fake = watch(player, Carrier::Datagrams, &steady(200, &[]), 6000);
    // Unit 50 is the first of the second talkspurt: 1000 + 31 ms; it was still 49's turn at 1280 ms.
    assert_eq!(reported(&fake, |event| matches!(event, Playout::Delayed(_))), [(1280, Playout::Delayed(millis(31)))]);
    let times = played(&fake);
    assert_eq!((times.len(), times[49], times[62], times[63]), (200, (1280, 49), (1280, 62), (1291, 63)));
}

/// One unit every 20 ms, each with its delay, fate – of some the first part never comes – and number of parts.
fn parts_of(arrivals: &[(u64, u8, u32)], carrier: Carrier) -> Vec<(u64, u64, Part)> {
    let (mut place, mut all) = (0, Vec::new());
    for (unit, (late, fate, parts)) in (0..).zip(arrivals) {
        // Datagrams are told of whole units only.
        let parts = if carrier == Carrier::Datagrams { 1 } else { *parts };
        for part in 0..parts {
            if *fate > 0 || part > 0 {
                all.push((20 * unit + late, place, Part { unit, part, parts }));
            }
            place += 1;
        }
    }
    all
}

proptest! {
    #[test]
    fn each_unit_is_played_once_at_its_time_or_lost_once(
        arrivals in proptest::collection::vec((0_u64..200, 0_u8..8, 1_u32..4), 1..60),
        delay in 0_u64..200,
        carrier in prop_oneof![Just(Carrier::Stream), Just(Carrier::Skipping), Just(Carrier::Datagrams)],
    ) {
        let count = arrivals.len() as u64;
        let parts = parts_of(&arrivals, carrier);
        let fake = watch(deadline(count, delay), carrier, &parts, 20_000);
        let judged = |(time, event): &(u64, Playout)| match event {
            Playout::Played(unit) | Playout::Lost(unit) => Some((*time, *unit)),
            _ => None,
        };
        let judgements: Vec<_> = fake.events.iter().filter_map(judged).collect();
        let expected: Vec<_> = (0..count).map(|unit| (20 * unit + delay, unit)).collect();
        prop_assert_eq!(judgements, expected);
        for (time, unit) in played(&fake) {
            let all: Vec<_> = parts.iter().filter(|(.., part)| part.unit == unit).collect();
            prop_assert!(all.len() as u32 == all[0].2.parts && all.iter().all(|(arrival, ..)| *arrival <= time));
        }
        if carrier == Carrier::Datagrams {
            let whole = |unit| parts.iter().any(|(time, _, part)| part.unit == unit && *time < 20 * unit + delay);
            prop_assert!(lost(&fake).into_iter().all(|unit| !whole(unit)), "what was there in time is played");
        }
    }

    #[test]
    fn a_stalling_player_plays_everything_that_a_stream_brings_in_order(
        late in proptest::collection::vec(0_u64..500, 1..60),
        resume in 1_u64..10,
        start in 0_u64..300,
    ) {
        let count = late.len() as u64;
        let arrivals: Vec<_> = (0..).zip(&late).map(|(unit, late)| (20 * unit + late, unit)).collect();
        let player = Rebuffer::new(audio(count), StartRule::After(millis(start)), resume);
        let fake = watch(player, Carrier::Stream, &units(&arrivals), 100_000);
        let (times, numbers): (Vec<u64>, Vec<u64>) = played(&fake).into_iter().unzip();
        prop_assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        prop_assert!(times.is_sorted_by(|first, next| first + 20 <= *next));
        // All time is playing, startup or stall.
        let waited: u64 = fake.events.iter().map(|(_, event)| match event {
            Playout::Started(span) | Playout::Resumed(span) => span.as_nanos() / 1_000_000,
            _ => 0,
        }).sum();
        prop_assert_eq!(times.last().copied(), Some(waited + 20 * (count - 1)));
    }
    #[test]
    fn a_stalling_player_judges_units_in_order_and_once_whatever_is_lost(
        arrivals in proptest::collection::vec((0_u64..400, 0_u8..5, 1_u32..4), 1..60),
        resume in 1_u64..10,
        start in prop_oneof![(0_u64..300).prop_map(|delay| StartRule::After(millis(delay))), (0_u64..9).prop_map(StartRule::Units)],
        capacity in prop_oneof![Just(None), (0_u64..400).prop_map(Some)],
        carrier in prop_oneof![Just(Carrier::Stream), Just(Carrier::Skipping), Just(Carrier::Datagrams)],
    ) {
        let count = arrivals.len() as u64;
        let parts = parts_of(&arrivals, carrier);
        let player = Rebuffer::new(audio(count), start, resume);
        let player = capacity.map_or(player.clone(), |capacity| player.with_capacity(millis(capacity)));
        let fake = watch(player, carrier, &parts, 20_000);
        let judged = |(_, event): &(u64, Playout)| match event {
            Playout::Played(unit) | Playout::Lost(unit) => Some(*unit),
            _ => None,
        };
        let judgements: Vec<_> = fake.events.iter().filter_map(judged).collect();
        prop_assert_eq!(&judgements, &(0..judgements.len() as u64).collect::<Vec<_>>());
        for (time, unit) in played(&fake) {
            let all: Vec<_> = parts.iter().filter(|(.., part)| part.unit == unit).collect();
            prop_assert!(all.len() as u32 == all[0].2.parts && all.iter().all(|(arrival, ..)| *arrival <= time));
        }
        let stalls = reported(&fake, |event| *event == Playout::Stalled).len();
        let resumed = reported(&fake, |event| matches!(event, Playout::Resumed(_))).len();
        prop_assert!(stalls == resumed || stalls == resumed + 1);
    }
}
