//! The rate of events per packet, by the weighted mean of the last eight intervals (RFC 5348 §5.4).

/// Weights of the intervals, the newest first (RFC 5348 §5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The packets between events: the last eight intervals and the one still open.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalHistory {
    closed: [u64; WEIGHTS.len()],
    count: usize,
    open: u64,
}

impl IntervalHistory {
    /// Adds packets to the open interval.
    pub fn count(&mut self, packets: u64) {
        self.open += packets;
    }

    /// Sets the number of packets of the open interval.
    pub fn set_open(&mut self, packets: u64) {
        self.open = packets;
    }

    /// Closes the open interval at an event.
    pub fn close(&mut self) {
        self.closed.rotate_right(1);
        self.closed[0] = self.open;
        self.count = (self.count + 1).min(WEIGHTS.len());
        self.open = 0;
    }

    /// Returns the weighted mean interval; the open one counts if it raises the mean. `None` before the first event.
    pub fn mean(&self) -> Option<f64> {
        let closed = weighted_mean(self.closed[..self.count].iter().copied())?;
        // As many intervals as there are closed ones: the open one pushes the oldest out.
        let newer = self.closed[..self.count - 1].iter().copied();
        let with_open = weighted_mean(core::iter::once(self.open).chain(newer))?;
        // RFC 5348 §5.4: the open interval counts only if it lowers the loss rate.
        Some(closed.max(with_open))
    }

    /// Returns the events per packet; 0 before the first event.
    pub fn rate(&self) -> f64 {
        self.mean().map_or(0.0, |mean| 1.0 / mean.max(1.0))
    }
}

fn weighted_mean(intervals: impl Iterator<Item = u64>) -> Option<f64> {
    let (sum, weights) = intervals
        .zip(WEIGHTS)
        .fold((0.0, 0.0), |(sum, weights), (interval, weight)| (sum + weight * interval as f64, weights + weight));
    (weights > 0.0).then(|| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn history(open: u64) -> IntervalHistory {
        let mut history = IntervalHistory::default();
        for interval in [110, 90, 40, 200, 60, 120, 80, 100] {
            history.count(interval);
            history.close();
        }
        history.count(open);
        history
    }

    #[test]
    fn v10_intervals_100_80_120_60_200_40_90_110_give_mean_100_33_whatever_the_open_30() {
        assert!((history(30).mean().unwrap() - 100.333_333).abs() < 1e-5);
        conforms(
            Area::Control,
            "loss intervals",
            "RFC 5348 §5.4",
            "weighted mean of eight, open one short (V10)",
            "to 1e-5",
        );
    }

    #[test]
    fn an_open_interval_takes_the_place_of_the_only_closed_one_if_it_is_longer() {
        let mut history = IntervalHistory::default();
        history.set_open(100);
        history.close();
        for (open, mean) in [(20, 100.0), (300, 300.0)] {
            history.set_open(open);
            assert_eq!(history.mean(), Some(mean));
        }
    }

    #[test]
    fn v10_with_open_interval_500_mean_167_and_rate_0_005988() {
        assert!((history(500).mean().unwrap() - 167.0).abs() < 1e-9);
        assert!((history(500).rate() - 0.005_988).abs() < 5e-7);
        conforms(
            Area::Control,
            "loss intervals",
            "RFC 5348 §5.4",
            "weighted mean with a long open one, rate (V10)",
            "to 5e-7",
        );
    }
}
