//! What Copa knows of the path: round trips over times of different lengths (paper, §§2.1, 2.2).

use super::recent::Recent;
use earlybird_units::{Duration, Instant};

/// The queue counts as nearly empty below this share of what it was at most (§2.2).
const NEARLY_EMPTY: u64 = 10;
/// Round trips of the detector: for the emptiest queue, and for the longest (§2.2; genericCC, `rtt-window.cc`, takes four for both).
const EMPTIEST: u64 = 5;
const LONGEST: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct Delays {
    /// The smoothed round trip (RFC 6298 §2.3); zero before the first.
    smoothed: Duration,
    /// `RTTmin`: the round trip without a queue.
    min: Recent,
    min_window: Duration,
    /// `RTTstanding`: the shortest of half a round trip, which delayed and bunched ACKs do not reach.
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
        self.min.note(now, rtt, self.min_window);
        self.standing.note(now, rtt, self.smoothed / 2);
        self.emptiest.note(now, rtt, self.smoothed * EMPTIEST);
        self.longest.note(now, rtt, self.smoothed * LONGEST);
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

    /// Returns whether the queue was nearly empty in the last round trips, as flows of Copa alone leave it (§2.2). A queue that was
    /// empty all the time is that too.
    pub(super) fn was_nearly_empty(&self) -> bool {
        let above_min = |recent: &Recent| recent.best().zip(self.min.best()).map(|(rtt, min)| rtt.saturating_sub(min));
        let [least, most] = [&self.emptiest, &self.longest].map(|recent| above_min(recent).unwrap_or(Duration::ZERO));
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
