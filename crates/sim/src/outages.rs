//! Times in which a link sends nothing.

use earlybird_units::{Duration, Instant};

/// An outage, once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Start of the first one.
    pub start: Instant,
    /// Length of each, shorter than the period.
    pub duration: Duration,
    /// Time from one start to the next; `None` for a single outage.
    pub period: Option<Duration>,
}

impl Outage {
    /// Returns the start of the last outage that began by a time.
    fn last_start(&self, now: Instant) -> Option<Instant> {
        if now < self.start {
            return None;
        }
        let since = now - self.start;
        let rounds = self.period.map_or(0, |period| since.as_nanos() / period.as_nanos().max(1));
        Some(self.start + self.period.unwrap_or_default() * rounds)
    }

    /// Returns the end of the outage at a time, if there is one.
    fn end_of(&self, now: Instant) -> Option<Instant> {
        self.last_start(now).map(|start| start + self.duration).filter(|end| now < *end)
    }

    /// Returns the start of the first outage after a time.
    fn next_start(&self, now: Instant) -> Instant {
        match (self.last_start(now), self.period) {
            (None, _) => self.start,
            (Some(last), Some(period)) => last + period,
            (Some(_), None) => Instant::NEVER,
        }
    }
}

/// The outages of a link, which may overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// A box: few links have outages, and an empty one allocates nothing.
pub struct Outages(Box<[Outage]>);

/// Outages that follow each other without a gap, from which on the link counts as down for good: several that repeat may cover all
/// time together, and the least common multiple of their periods may be longer than any run.
const MOST_IN_A_ROW: usize = 1 << 16;

impl Outages {
    /// Collects the outages of a link.
    pub fn new(outages: impl IntoIterator<Item = Outage>) -> Self {
        Self(outages.into_iter().collect())
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the link is down at a time.
    pub fn is_down(&self, now: Instant) -> bool {
        self.0.iter().any(|outage| outage.end_of(now).is_some())
    }

    /// Returns the first time from `now` on at which the link is up; [`Instant::NEVER`] if periodic outages leave none.
    pub(crate) fn up_from(&self, mut now: Instant) -> Instant {
        // Overlapping outages follow each other.
        for _ in 0..MOST_IN_A_ROW {
            let Some(end) = self.0.iter().find_map(|outage| outage.end_of(now)) else { return now };
            now = end;
        }
        Instant::NEVER
    }

    /// Returns the start of the first outage after a time.
    pub(crate) fn next_start(&self, now: Instant) -> Instant {
        self.0.iter().map(|outage| outage.next_start(now)).min().unwrap_or(Instant::NEVER)
    }

    /// Returns the time for which the link is up between two times.
    pub(crate) fn up_between(&self, from: Instant, end: Instant) -> Duration {
        let (mut now, mut up) = (self.up_from(from), Duration::ZERO);
        while now < end {
            let down = self.next_start(now).min(end);
            up += down - now;
            now = self.up_from(down);
        }
        up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn outage((start, duration, gap): (u64, u64, Option<u64>)) -> Outage {
        let [start, duration] = [start, duration].map(Duration::from_millis);
        Outage { start: Instant::ZERO + start, duration, period: gap.map(|gap| duration + Duration::from_millis(gap)) }
    }

    #[test]
    fn two_seconds_of_every_minute_are_down_from_30_s_on() {
        let outages = Outages::new([outage((30_000, 2_000, Some(58_000)))]);
        let down =
            [29_999, 30_000, 31_999, 32_000, 89_999, 90_000, 91_999, 92_000].map(|millis| outages.is_down(at(millis)));
        assert_eq!(down, [false, true, true, false, false, true, true, false]);
        assert_eq!(outages.up_from(at(91_000)), at(92_000));
        assert_eq!(outages.up_between(at(0), at(600_000)), Duration::from_secs(580));
    }

    /// The symptom: a run never ended.
    #[test]
    fn a_link_whose_outages_cover_all_time_is_never_up() {
        let outages = Outages::new([outage((0, 39, Some(1))), outage((30, 39, Some(1)))]);
        assert_eq!(outages.up_from(at(0)), Instant::NEVER);
        assert_eq!(outages.up_between(at(30), at(600)), Duration::ZERO);
    }

    proptest! {
        /// Counted millisecond by millisecond.
        #[test]
        fn time_up_is_what_is_left_of_overlapping_outages(
            outages in prop::collection::vec((0_u64..100, 1_u64..40, prop::option::of(1_u64..60)), 0..4),
            from in 0_u64..150,
            length in 0_u64..300,
        ) {
            let outages = Outages::new(outages.into_iter().map(outage));
            let up = (from..from + length).filter(|millis| !outages.is_down(at(*millis))).count() as u64;
            prop_assert_eq!(outages.up_between(at(from), at(from + length)), Duration::from_millis(up));
        }
    }
}
