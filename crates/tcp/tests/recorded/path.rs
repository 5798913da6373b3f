//! Paths: a bottleneck with a queue, and what happens on it beyond that.

use earlybird_units::{Duration, Instant, Random, SeedTree};
use earlybird_wire::{Ecn, Segment, SeqNum};
use std::collections::BTreeMap;

/// The properties of a path. Shares are of segments, in thousandths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The transmission time of a segment of full size at the bottleneck.
    pub(crate) service: Duration,
    /// Segments that may wait there.
    pub(crate) queue: usize,
    /// One way, each way.
    pub(crate) delay: Duration,
    pub(crate) lost: u64,
    pub(crate) acks_lost: u64,
    pub(crate) late: u64,
    pub(crate) repeated: u64,
    /// A queue of so many marks what can be marked.
    pub(crate) marks_from: Option<usize>,
    /// Nothing gets through between these two times.
    pub(crate) outage: Option<(Duration, Duration)>,
    /// Segments of more bytes do not pass from some time on.
    pub(crate) narrow: Option<Narrow>,
    /// The reader's window is told an eighth as large between these two times.
    pub(crate) squeezed: Option<(Duration, Duration)>,
    /// The writes.
    pub(crate) writing: Writing,
    /// The reads.
    pub(crate) reading: Reading,
    /// Bytes that the reader writes whenever it has read.
    pub(crate) answers: u64,
    /// Whether the SYN carries data, and the reader takes them.
    pub(crate) opens_fast: bool,
    /// Decides which segments are lost, late and repeated.
    pub(crate) seed: u64,
}

/// A reduction of the PMTU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    pub(crate) from: Duration,
    /// Most bytes of payload.
    pub(crate) most: u16,
    /// Whether a router says so (RFC 1191); else they vanish.
    pub(crate) sends_icmp: bool,
}

/// An arrival at the end of a path.
#[derive(Clone, Debug)]
pub(crate) enum Arrival {
    Segment(Segment),
    /// A segment with this number was too big: packets may have so many bytes.
    TooBig(SeqNum, u16),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Writing {
    /// Everything at once.
    Bulk { segments: u64 },
    /// So many bytes now and then, with a long pause in the middle.
    Bursts { bytes: u64, period: Duration, count: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading {
    AtOnce,
    /// So many bytes in so much time.
    Slowly {
        bytes: u64,
        period: Duration,
    },
}

pub(crate) const CALM: Conditions = Conditions {
    service: Duration::from_millis(2),
    queue: 40,
    delay: Duration::from_millis(25),
    lost: 0,
    acks_lost: 0,
    late: 0,
    repeated: 0,
    marks_from: None,
    outage: None,
    narrow: None,
    squeezed: None,
    writing: Writing::Bulk { segments: 600 },
    reading: Reading::AtOnce,
    answers: 0,
    opens_fast: false,
    seed: 7,
};

/// Returns every path with its name.
pub(crate) fn all() -> Vec<(&'static str, Conditions)> {
    let between = |from, to| Some((Duration::from_millis(from), Duration::from_millis(to)));
    let narrow = |sends_icmp| Some(Narrow { from: Duration::from_millis(600), most: 900, sends_icmp });
    let bursts = |bytes, millis, count| Writing::Bursts { bytes, period: Duration::from_millis(millis), count };
    vec![
        ("short-queue", Conditions { queue: 8, ..CALM }),
        ("long-queue", Conditions { queue: 400, ..CALM }),
        ("lossy", Conditions { lost: 20, acks_lost: 50, queue: 100, ..CALM }),
        ("very-lossy", Conditions { lost: 120, acks_lost: 100, writing: Writing::Bulk { segments: 120 }, ..CALM }),
        ("reordering", Conditions { late: 60, repeated: 20, queue: 60, ..CALM }),
        ("marking", Conditions { marks_from: Some(10), lost: 2, ..CALM }),
        ("silent", Conditions { outage: between(700, 4000), lost: 5, ..CALM }),
        ("thin", Conditions { lost: 40, writing: bursts(2500, 70, 90), ..CALM }),
        ("bursty", Conditions { lost: 10, queue: 15, writing: bursts(60_000, 900, 12), ..CALM }),
        ("stretched", Conditions { acks_lost: 700, lost: 8, ..CALM }),
        ("narrowing", Conditions { narrow: narrow(true), lost: 10, ..CALM }),
        ("swallowing", Conditions { narrow: narrow(false), lost: 4, ..CALM }),
        ("squeezing", Conditions { squeezed: between(300, 1500), lost: 20, ..CALM }),
        (
            "slow-reader",
            Conditions {
                lost: 15,
                reading: Reading::Slowly { bytes: 40_000, period: Duration::from_millis(900) },
                ..CALM
            },
        ),
    ]
}

/// Bytes of a packet that are neither payload nor options (IPv4, TCP), and room for options.
const HEADERS: u16 = 52;

fn is_between(times: Option<(Duration, Duration)>, now: Instant) -> bool {
    let since = now - Instant::ZERO;
    times.is_some_and(|(from, to)| from <= since && since < to)
}

/// A path and what is on it.
pub(crate) struct NetworkPath {
    conditions: Conditions,
    chance: Random,
    /// The time at which the bottleneck becomes idle.
    free: Instant,
    /// By time of arrival, then in order of sending: to which side.
    in_flight: BTreeMap<(Instant, u64), (usize, Arrival)>,
    count: u64,
}

impl NetworkPath {
    pub(crate) fn new(conditions: Conditions) -> Self {
        let chance = SeedTree::new(conditions.seed).random();
        Self { conditions, chance, free: Instant::ZERO, in_flight: BTreeMap::new(), count: 0 }
    }

    fn happens(&mut self, thousandths: u64) -> bool {
        self.chance.below(1000) < thousandths
    }

    /// Returns whether a segment is too big, and lets a router say so where it does.
    fn swallows(&mut self, now: Instant, from: usize, segment: &Segment) -> bool {
        let is_over = |narrow: &Narrow| now - Instant::ZERO >= narrow.from && segment.len > narrow.most;
        let Some(narrow) = self.conditions.narrow.filter(is_over) else { return false };
        if narrow.sends_icmp {
            let report = Arrival::TooBig(segment.seq, narrow.most + HEADERS);
            self.put(now + self.conditions.delay, from, report);
        }
        true
    }

    /// Returns what a segment looks like at the path's end.
    fn altered(&self, now: Instant, from: usize, ecn: Ecn, segment: Segment) -> Segment {
        let is_squeezed = from == 1 && is_between(self.conditions.squeezed, now);
        let window = if is_squeezed { segment.window / 8 } else { segment.window };
        Segment { ecn, window, ..segment }
    }

    /// Takes a segment from side `from`; data pass the bottleneck, ACKs do not.
    pub(crate) fn carry(&mut self, now: Instant, from: usize, segment: Segment) {
        let is_data = from == 0;
        let lost = if is_data { self.conditions.lost } else { self.conditions.acks_lost };
        if self.happens(lost) || is_between(self.conditions.outage, now) || self.swallows(now, from, &segment) {
            return;
        }
        let Some((ready, ecn)) = (if is_data { self.queue(now, &segment) } else { Some((now, segment.ecn)) }) else {
            return;
        };
        let segment = Arrival::Segment(self.altered(now, from, ecn, segment));
        let late = if self.happens(self.conditions.late) {
            Duration::from_millis(3 + self.chance.below(20))
        } else {
            Duration::ZERO
        };
        self.put(ready + self.conditions.delay + late, 1 - from, segment.clone());
        if self.happens(self.conditions.repeated) {
            self.put(ready + self.conditions.delay + Duration::from_millis(4), 1 - from, segment);
        }
    }

    /// Returns when the bottleneck has sent a segment, and its mark; none if the queue is full.
    fn queue(&mut self, now: Instant, segment: &Segment) -> Option<(Instant, Ecn)> {
        let service = self.conditions.service * u64::from(segment.len.max(100)) / 1460;
        let start = self.free.max(now);
        let waiting = ((start - now).as_nanos() / self.conditions.service.as_nanos()) as usize;
        if waiting > self.conditions.queue {
            return None;
        }
        self.free = start + service;
        let is_marked = self.conditions.marks_from.is_some_and(|from| waiting >= from) && segment.ecn.is_capable();
        Some((self.free, if is_marked { Ecn::Congested } else { segment.ecn }))
    }

    fn put(&mut self, at: Instant, to: usize, arrival: Arrival) {
        self.count += 1;
        self.in_flight.insert((at, self.count), (to, arrival));
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.in_flight.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn arrive(&mut self) -> Option<(usize, Arrival)> {
        self.in_flight.pop_first().map(|(_, arrived)| arrived)
    }
}
