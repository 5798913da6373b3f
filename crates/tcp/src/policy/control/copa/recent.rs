//! The smallest or largest RTT over a sliding window.

use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// A sample that is no better than the last one is kept only if it is younger by this fraction of the window, so that the number of
/// samples is bounded.
const RESOLUTION: u64 = 64;

/// The samples of a window that no later one surpasses, the oldest first (a monotonic queue).
#[derive(Clone, Debug)]
pub(super) struct Recent {
    is_better_or_equal: fn(&Duration, &Duration) -> bool,
    samples: VecDeque<(Instant, Duration)>,
}

impl Recent {
    pub(super) const fn shortest() -> Self {
        Self { is_better_or_equal: Duration::le, samples: VecDeque::new() }
    }

    pub(super) const fn longest() -> Self {
        Self { is_better_or_equal: Duration::ge, samples: VecDeque::new() }
    }

    /// Inserts a sample, and removes those older than the window.
    pub(super) fn insert(&mut self, now: Instant, rtt: Duration, window: Duration) {
        // Samples that the new one surpasses can never be the best again.
        while self.samples.pop_back_if(|(_, last)| (self.is_better_or_equal)(&rtt, last)).is_some() {}
        if self.samples.back().is_none_or(|(at, _)| now - *at >= window / RESOLUTION) {
            self.samples.push_back((now, rtt));
        }
        // At least one sample stays: an estimate must exist after an idle period.
        while self.samples.len() > 1 && self.samples.pop_front_if(|(at, _)| now - *at > window).is_some() {}
    }

    /// Returns the best sample; `None` before any.
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
                shortest.insert(at, sample, Duration::from_nanos(WINDOW));
                longest.insert(at, sample, Duration::from_nanos(WINDOW));
                let within = |age| all.iter().filter(move |(at, _)| now - at <= age).map(|(_, rtt)| *rtt);
                let [least, most] = [&shortest, &longest].map(|recent| recent.best().map_or(0, Duration::as_nanos));
                let young = WINDOW - WINDOW / RESOLUTION;
                prop_assert!(within(WINDOW).min() <= Some(least) && Some(least) <= within(young).min());
                prop_assert!(within(WINDOW).max() >= Some(most) && Some(most) >= within(young).max());
                prop_assert!(shortest.samples.len() <= RESOLUTION as usize + 1);
            }
        }
    }
}
