//! RTT minima and maxima of Copa over windows of different lengths (paper, §§2.1, 2.2).

use super::recent::Recent;
use earlybird_units::{Duration, Instant};

/// The queue counts as nearly empty below the largest queueing delay divided by this (§2.2).
const NEARLY_EMPTY: u64 = 10;
/// RTTs over which the detector takes the smallest queueing delay (§2.2; genericCC, `rtt-window.cc`, uses four).
const EMPTIEST: u64 = 5;
/// RTTs over which the detector takes the largest queueing delay (§2.2; genericCC, `rtt-window.cc`).
const LONGEST: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct Delays {
    /// The smoothed RTT (RFC 6298 §2.3; genericCC has a gain of 1/16); zero before the first sample.
    smoothed: Duration,
    /// `RTTmin`: the RTT without a queue.
    min: Recent,
    min_window: Duration,
    /// `RTTstanding`: the minimum over half an RTT, which excludes delayed and compressed ACKs.
    standing: Recent,
    emptiest: Recent,
    longest: Recent,
}

impl Delays {
    pub(super) const fn new(min_window: Duration) -> Self {
        Self {
            smoothed: Duration::ZERO,
            min: Recent::shortest(),
            min_window,
            standing: Recent::shortest(),
            emptiest: Recent::shortest(),
            longest: Recent::longest(),
        }
    }

    pub(super) fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        let is_first = self.smoothed == Duration::ZERO;
        self.smoothed = if is_first { rtt } else { (self.smoothed * 7 + rtt) / 8 };
        self.min.insert(now, rtt, self.min_window);
        // §2.1: RTTstanding is the smallest RTT over srtt/2.
        self.standing.insert(now, rtt, self.smoothed / 2);
        self.emptiest.insert(now, rtt, self.smoothed * EMPTIEST);
        self.longest.insert(now, rtt, self.smoothed * LONGEST);
    }

    pub(super) fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// Returns `RTTstanding`; zero before the first sample.
    pub(super) fn standing(&self) -> Duration {
        self.standing.best().unwrap_or(Duration::ZERO)
    }

    /// Returns `dq`, the queueing delay.
    pub(super) fn queueing(&self) -> Duration {
        self.standing().saturating_sub(self.min.best().unwrap_or(Duration::ZERO))
    }

    /// Returns whether the queue was nearly empty in the last RTTs, as it is with Copa flows alone (§2.2), or empty all the time.
    pub(super) fn was_nearly_empty(&self) -> bool {
        let above_min = |recent: &Recent| recent.best().zip(self.min.best()).map(|(rtt, min)| rtt.saturating_sub(min));
        let [least, most] = [&self.emptiest, &self.longest].map(|recent| above_min(recent).unwrap_or(Duration::ZERO));
        // §2.2: a queue below 10 % of its largest length counts as nearly empty.
        least * NEARLY_EMPTY < most || least == Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    /// Round trips of so many milliseconds, one each 10 ms.
    fn delays(millis: impl IntoIterator<Item = u64>) -> Delays {
        let mut delays = Delays::new(Duration::from_secs(10));
        for (index, rtt) in (0..).zip(millis) {
            delays.on_rtt(Instant::ZERO + Duration::from_millis(10 * index), Duration::from_millis(rtt));
        }
        delays
    }

    #[test]
    fn the_standing_queue_is_that_of_half_a_round_trip() {
        let known = delays([100, 110, 130, 125, 128, 124, 126, 140, 150]);
        assert_eq!((known.standing().as_nanos(), known.queueing().as_nanos()), (124_000_000, 24_000_000));
    }

    /// The paper's rule at its boundary: 10 of 100 ms are a tenth.
    #[test]
    fn less_than_a_tenth_of_the_longest_queue_is_nearly_empty() {
        for (least, expected) in [(100, true), (109, true), (110, false)] {
            let rise = [100].into_iter().chain([200; 200]);
            assert_eq!(delays(rise.chain([least, 200])).was_nearly_empty(), expected, "{least} ms");
        }
        assert!(!delays([100].into_iter().chain([200; 200])).was_nearly_empty(), "it stood for five round trips");
        assert!(delays([100; 200]).was_nearly_empty(), "it was always empty");
        conforms(
            Area::Control,
            "copa",
            "Arun and Balakrishnan, NSDI 2018, §2.2",
            "a queue that is nearly empty, by the shortest of five round trips and the longest of four",
            "5 of 5",
        );
    }
}
