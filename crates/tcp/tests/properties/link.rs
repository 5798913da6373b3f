//! A link whose faults are written down beforehand.

use earlybird_units::{Duration, Instant};
use earlybird_wire::Segment;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The fate of one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Arrives,
    IsLost,
    /// It arrives, and so many milliseconds later again.
    ArrivesTwice(u64),
    /// So many milliseconds later than others: those sent meanwhile overtake it.
    IsLate(u64),
}

/// The faults in each direction, in order of sending; then everything arrives.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    pub(crate) delay: u64,
    pub(crate) fates: [Vec<Fate>; 2],
}

pub(crate) fn faults() -> impl Strategy<Value = Faults> {
    (1_u64..=200, [fates(), fates()]).prop_map(|(delay, fates)| Faults { delay, fates })
}

/// Faults that keep the order: nothing arrives twice or late.
pub(crate) fn losses() -> impl Strategy<Value = Faults> {
    let fate = |arrives, lost| prop_oneof![arrives => Just(Fate::Arrives), lost => Just(Fate::IsLost)];
    let fates = move || prop_oneof![2 => vec(fate(20, 2), 0..100), 1 => vec(fate(2, 1), 0..40)];
    (1_u64..=200, [fates(), fates()]).prop_map(|(delay, fates)| Faults { delay, fates })
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    prop_oneof![
        2 => vec(fate(20, 2), 0..100),
        1 => vec(fate(4, 4), 0..60),
        1 => vec(Just(Fate::IsLost), 0..12),
    ]
}

fn fate(arrives: u32, lost: u32) -> impl Strategy<Value = Fate> {
    prop_oneof![
        arrives => Just(Fate::Arrives),
        lost => Just(Fate::IsLost),
        1 => (0_u64..400).prop_map(Fate::ArrivesTwice),
        1 => (1_u64..400).prop_map(Fate::IsLate),
    ]
}

/// Segments on their way.
#[derive(Debug)]
pub(crate) struct Link {
    faults: Faults,
    carried: [usize; 2],
    /// By time of arrival, then in order of sending: to which side.
    in_flight: BTreeMap<(Instant, u64), (usize, Segment)>,
    count: u64,
}

impl Link {
    /// Returns whether everything arrives in order.
    pub(crate) fn is_clean(&self) -> bool {
        self.faults.fates.iter().all(Vec::is_empty)
    }

    /// Returns whether the faults of both directions are over.
    pub(crate) fn is_healed(&self) -> bool {
        self.faults.fates.iter().zip(self.carried).all(|(fates, carried)| fates.len() <= carried)
    }

    /// Returns whether all that arrives does so once and in order.
    pub(crate) fn keeps_order(&self) -> bool {
        let is_plain = |fate: &Fate| matches!(fate, Fate::Arrives | Fate::IsLost);
        self.faults.fates.iter().flatten().all(is_plain)
    }

    /// Returns the segments on their way from side `from`.
    pub(crate) fn carried_from(&self, from: usize) -> impl Iterator<Item = &Segment> {
        self.in_flight.values().filter(move |(to, _)| *to == 1 - from).map(|(_, segment)| segment)
    }

    pub(crate) fn new(faults: Faults) -> Self {
        Self { faults, carried: [0, 0], in_flight: BTreeMap::new(), count: 0 }
    }

    /// Takes a segment from side `from`.
    pub(crate) fn carry(&mut self, now: Instant, from: usize, segment: Segment) {
        let fate = self.faults.fates[from].get(self.carried[from]).copied().unwrap_or(Fate::Arrives);
        self.carried[from] += 1;
        let arrival = |late: u64| now + Duration::from_millis(self.faults.delay + late);
        let arrivals = match fate {
            Fate::Arrives => vec![arrival(0)],
            Fate::IsLost => vec![],
            Fate::ArrivesTwice(late) => vec![arrival(0), arrival(late)],
            Fate::IsLate(late) => vec![arrival(late)],
        };
        for arrival in arrivals {
            self.count += 1;
            self.in_flight.insert((arrival, self.count), (1 - from, segment));
        }
    }

    /// Returns the time of the next arrival.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.in_flight.first_key_value().map(|((arrival, _), _)| *arrival)
    }

    /// Returns the side that the next segment arrives at, and the segment.
    pub(crate) fn arrive(&mut self) -> Option<(usize, Segment)> {
        self.in_flight.pop_first().map(|(_, arrived)| arrived)
    }
}
