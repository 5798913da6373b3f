//! The shortest or longest round trip of a time that has just passed.

use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// A sample that is no better than the last one is kept only if it is a share of the window younger: as many are enough to know
/// the best of at least all but that share, however many come.
const KEPT: u64 = 64;

/// Those samples of a window, the oldest first, that were not bettered since.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    prefers: fn(&Duration, &Duration) -> bool,
    samples: VecDeque<(Instant, Duration)>,
}

impl Recent {
    pub(super) const fn shortest() -> Self {
        Self { prefers: Duration::le, samples: VecDeque::new() }
    }

    pub(super) const fn longest() -> Self {
        Self { prefers: Duration::ge, samples: VecDeque::new() }
    }

    /// Takes a sample, and forgets what is older than the window.
    pub(super) fn note(&mut self, now: Instant, rtt: Duration, window: Duration) {
        while self.samples.pop_back_if(|(_, last)| (self.prefers)(&rtt, last)).is_some() {}
        if self.samples.back().is_none_or(|(at, _)| now - *at >= window / KEPT) {
            self.samples.push_back((now, rtt));
        }
        while self.samples.len() > 1 && self.samples.pop_front_if(|(at, _)| now - *at > window).is_some() {}
    }

    /// Returns the best one; `None` before any sample.
    pub(super) fn best(&self) -> Option<Duration> {
        self.samples.front().map(|(_, rtt)| *rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const WINDOW: u64 = 640;

    proptest! {
        /// Beside what all samples of the window say, and all but those of its oldest 64th.
        #[test]
        fn it_knows_the_best_of_the_window(steps in proptest::collection::vec((1_u64..100, 1_u64..1000), 1..200)) {
            let (mut shortest, mut longest) = (Recent::shortest(), Recent::longest());
            let mut all: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            for (step, rtt) in steps {
                now += step;
                all.push((now, rtt));
                let (at, sample) = (Instant::from_nanos(now), Duration::from_nanos(rtt));
                shortest.note(at, sample, Duration::from_nanos(WINDOW));
                longest.note(at, sample, Duration::from_nanos(WINDOW));
                let within = |age| all.iter().filter(move |(at, _)| now - at <= age).map(|(_, rtt)| *rtt);
                let [least, most] = [&shortest, &longest].map(|recent| recent.best().map_or(0, Duration::as_nanos));
                let young = WINDOW - WINDOW / KEPT;
                prop_assert!(within(WINDOW).min() <= Some(least) && Some(least) <= within(young).min());
                prop_assert!(within(WINDOW).max() >= Some(most) && Some(most) >= within(young).max());
                prop_assert!(shortest.samples.len() <= KEPT as usize + 1);
            }
        }
    }
}
