//! The congestion signals of PERT: the smoothed RTT less the smallest.

use earlybird_units::Duration;

/// Weight of the old value in the smoothed RTT (ER thesis).
const SRTT_WEIGHT: f64 = 0.99;
/// Lower bound of the largest queueing delay as a divisor (the ports).
pub(super) const LARGEST_FLOOR: Duration = Duration::from_millis(10);
/// β before any queueing delay (SIGCOMM 2007).
const INITIAL_BETA: f64 = 0.35;

/// The samples of which the largest queueing delay is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxDelay {
    /// The smoothed round-trip time less the smallest.
    Smoothed,
    /// Each sample less the smallest (the ports).
    Raw,
}

/// Returns the share β = q/(q + Q) that a response removes: one half if the queue is as full as ever (ER thesis).
pub fn early_response_share(queueing: Duration, largest: Duration) -> f64 {
    let queueing = queueing.as_nanos() as f64;
    queueing / (queueing + largest.as_nanos() as f64)
}

#[derive(Clone, Debug)]
pub(super) struct Signals {
    max_delay: MaxDelay,
    min_max_delay: Duration,
    smallest: Duration,
    smoothed: Option<f64>,
    largest_raw: Duration,
    largest_queueing: Duration,
    share: f64,
}

impl Signals {
    /// Returns signals whose largest queueing delay is at least `min_max_delay` as a divisor.
    pub(super) fn new(max_delay: MaxDelay, min_max_delay: Duration) -> Self {
        Self {
            max_delay,
            min_max_delay,
            smallest: Duration::MAX,
            smoothed: None,
            largest_raw: Duration::ZERO,
            largest_queueing: Duration::ZERO,
            share: INITIAL_BETA,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.smallest = self.smallest.min(rtt);
        self.largest_raw = self.largest_raw.max(rtt);
        let sample = rtt.as_nanos() as f64;
        // srtt_0.99 (SIGCOMM 2007): it follows standing queues, not single packets.
        self.smoothed = Some(self.smoothed.map_or(sample, |old| SRTT_WEIGHT * old + (1.0 - SRTT_WEIGHT) * sample));
        let queueing = self.queueing();
        self.largest_queueing = self.largest_queueing.max(queueing);
        // β stays at its initial value until a queue was seen.
        if queueing > Duration::ZERO {
            self.share = early_response_share(queueing, self.largest_floored());
        }
    }

    /// Returns the smoothed RTT.
    pub(super) fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.smoothed.unwrap_or(0.0) as u64)
    }

    /// Returns q, the smoothed queueing delay.
    pub(super) fn queueing(&self) -> Duration {
        self.smoothed().saturating_sub(self.smallest)
    }

    /// Returns the largest queueing delay of the whole connection.
    pub(super) fn largest(&self) -> Duration {
        match self.max_delay {
            MaxDelay::Smoothed => self.largest_queueing,
            MaxDelay::Raw => self.largest_raw.saturating_sub(self.smallest),
        }
    }

    /// Returns Q, the largest queueing delay with its lower bound.
    pub(super) fn largest_floored(&self) -> Duration {
        self.largest().max(self.min_max_delay)
    }

    /// Returns β.
    pub(super) fn share(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn v7_from_50_ms_a_hundred_samples_of_70_ms_smooth_to_62_6794_ms() {
        let mut signals = Signals::new(MaxDelay::Smoothed, LARGEST_FLOOR);
        signals.on_rtt(Duration::from_millis(50));
        (0..100).for_each(|_| signals.on_rtt(Duration::from_millis(70)));
        assert_eq!(signals.smoothed().as_nanos() / 100, 626_793);
        assert!((signals.smoothed().as_secs_f64() - 0.062_679_4).abs() < 5e-8);
        assert_eq!(signals.queueing(), signals.largest());
        conforms(
            Area::Control,
            "PERT",
            "own computation by the ER thesis' rule",
            "smoothed delay after 100 samples (V7)",
            "to 0.1 µs",
        );
    }

    #[test]
    fn a_queue_that_was_never_longer_halves_the_window_unless_10_ms_are_the_least() {
        let share = |least| {
            let mut signals = Signals::new(MaxDelay::Smoothed, least);
            signals.on_rtt(Duration::from_millis(50));
            signals.on_rtt(Duration::from_millis(650)); // smoothed: 56 ms, 6 ms of them in the queue
            signals.share()
        };
        assert!((share(Duration::ZERO) - 0.5).abs() < 1e-9);
        assert!((share(LARGEST_FLOOR) - 6.0 / 16.0).abs() < 1e-9);
    }

    #[test]
    fn v8_q_over_q_max_10_40_20_40_40_40_ms_give_0_2_one_third_0_5() {
        let share = |queueing| early_response_share(Duration::from_millis(queueing), Duration::from_millis(40));
        for (queueing, expected) in [(10, 0.2), (20, 1.0 / 3.0), (40, 0.5)] {
            assert!((share(queueing) - expected).abs() < 1e-15);
        }
        conforms(
            Area::Control,
            "PERT",
            "ER thesis, PERT-video paper",
            "share of an early response (V8)",
            "3 of 3 exact",
        );
    }
}
