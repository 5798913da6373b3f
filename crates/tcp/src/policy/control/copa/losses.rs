//! Response to heavy losses without delay, behind a policer or a very short queue (genericCC, `ReduceOnLoss` in `estimators.cc`).

use earlybird_units::{Duration, Instant};

/// The share of lost segments in two RTTs above which losses are heavy.
const HEAVY_LOSS_SHARE: f64 = 0.3;
/// The least number of segments for the share to be valid.
const MIN_SEGMENTS: u64 = 20;
/// The factor by which heavy losses reduce the window (`markoviancc.cc`, `onACK`).
const HEAVY_LOSS_FACTOR: f64 = 0.7;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    since: Instant,
    lost: u64,
    delivered: u64,
}

impl Losses {
    pub(super) fn on_lost(&mut self) {
        self.lost += 1;
    }

    /// Counts delivered segments, and returns the factor for the window.
    pub(super) fn on_delivered(&mut self, now: Instant, segments: u64, rtt: Duration) -> f64 {
        self.delivered += segments;
        let all = self.lost + self.delivered;
        // Too few samples are no evidence.
        if now - self.since <= rtt * 2 || all <= MIN_SEGMENTS {
            return 1.0;
        }
        let is_heavy = self.lost as f64 > HEAVY_LOSS_SHARE * all as f64;
        *self = Self { since: now, ..Self::default() };
        if is_heavy { HEAVY_LOSS_FACTOR } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_three_of_ten_in_two_round_trips_shrink_the_window() {
        let rtt = Duration::from_millis(50);
        for (lost, left) in [(30, 1.0), (31, 0.7)] {
            let mut losses = Losses::default();
            (0..lost).for_each(|_| losses.on_lost());
            let early = losses.on_delivered(Instant::ZERO + rtt * 2, 69, rtt);
            let late = losses.on_delivered(Instant::ZERO + rtt * 3, 100 - 69 - lost, rtt);
            // The next two begin with none.
            let next = losses.on_delivered(Instant::ZERO + rtt * 9, 20, rtt);
            assert_eq!((early, late, next), (1.0, left, 1.0), "{lost} of 100");
        }
    }
}
