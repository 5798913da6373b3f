//! Roads: a bottleneck with a queue, and what happens on it beyond that.

use earlybird_units::{Duration, Instant, Random, SeedTree};
use earlybird_wire::{Ecn, Segment};
use std::collections::BTreeMap;

/// What a road is like. Shares are of segments, in thousandths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// How long the bottleneck takes for a segment of full size.
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
    pub(crate) silence: Option<(Duration, Duration)>,
    /// What the writer does.
    pub(crate) writing: Writing,
    /// What the reader does.
    pub(crate) reading: Reading,
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

const CALM: Conditions = Conditions {
    service: Duration::from_millis(2),
    queue: 40,
    delay: Duration::from_millis(25),
    lost: 0,
    acks_lost: 0,
    late: 0,
    repeated: 0,
    marks_from: None,
    silence: None,
    writing: Writing::Bulk { segments: 600 },
    reading: Reading::AtOnce,
};

/// Gives every road with its name.
pub(crate) fn all() -> Vec<(&'static str, Conditions)> {
    let silence = |from, to| Some((Duration::from_millis(from), Duration::from_millis(to)));
    let bursts = |bytes, millis, count| Writing::Bursts { bytes, period: Duration::from_millis(millis), count };
    vec![
        ("short-queue", Conditions { queue: 8, ..CALM }),
        ("long-queue", Conditions { queue: 400, ..CALM }),
        ("lossy", Conditions { lost: 20, acks_lost: 50, queue: 100, ..CALM }),
        ("very-lossy", Conditions { lost: 120, acks_lost: 100, writing: Writing::Bulk { segments: 120 }, ..CALM }),
        ("reordering", Conditions { late: 60, repeated: 20, queue: 60, ..CALM }),
        ("marking", Conditions { marks_from: Some(10), lost: 2, ..CALM }),
        ("silent", Conditions { silence: silence(700, 4000), lost: 5, ..CALM }),
        ("thin", Conditions { lost: 40, writing: bursts(2500, 70, 90), ..CALM }),
        ("bursty", Conditions { lost: 10, queue: 15, writing: bursts(60_000, 900, 12), ..CALM }),
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

/// A road and what is on it.
pub(crate) struct Road {
    conditions: Conditions,
    chance: Random,
    /// When the bottleneck is free again.
    free: Instant,
    /// By time of arrival, then in order of sending: to which side.
    on_the_way: BTreeMap<(Instant, u64), (usize, Segment)>,
    count: u64,
}

impl Road {
    pub(crate) fn new(conditions: Conditions) -> Self {
        let chance = SeedTree::new(7).random();
        Self { conditions, chance, free: Instant::ZERO, on_the_way: BTreeMap::new(), count: 0 }
    }

    fn happens(&mut self, thousandths: u64) -> bool {
        self.chance.below(1000) < thousandths
    }

    fn is_silent(&self, now: Instant) -> bool {
        let since = now - Instant::ZERO;
        self.conditions.silence.is_some_and(|(from, to)| from <= since && since < to)
    }

    /// Takes a segment from side `from`; data pass the bottleneck, ACKs do not.
    pub(crate) fn carry(&mut self, now: Instant, from: usize, segment: Segment) {
        let is_data = from == 0;
        let lost = if is_data { self.conditions.lost } else { self.conditions.acks_lost };
        if self.happens(lost) || self.is_silent(now) {
            return;
        }
        let Some((ready, ecn)) = (if is_data { self.queue(now, &segment) } else { Some((now, segment.ecn)) }) else {
            return;
        };
        let segment = Segment { ecn, ..segment };
        let late = if self.happens(self.conditions.late) {
            Duration::from_millis(3 + self.chance.below(20))
        } else {
            Duration::ZERO
        };
        self.put(ready + self.conditions.delay + late, 1 - from, segment);
        if self.happens(self.conditions.repeated) {
            self.put(ready + self.conditions.delay + Duration::from_millis(4), 1 - from, segment);
        }
    }

    /// Gives when the bottleneck has sent a segment, and its mark; none if the queue is full.
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

    fn put(&mut self, at: Instant, to: usize, segment: Segment) {
        self.count += 1;
        self.on_the_way.insert((at, self.count), (to, segment));
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.on_the_way.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn arrive(&mut self) -> Option<(usize, Segment)> {
        self.on_the_way.pop_first().map(|(_, arrived)| arrived)
    }
}
