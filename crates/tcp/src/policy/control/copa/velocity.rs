//! The velocity of the window: it increases while the direction stays the same (paper, §2.1, step 3).

use crate::policy::control::path::RateSample;
use core::cmp::Ordering;

/// The number of RTTs with the same direction before the velocity doubles: in equilibrium the direction changes every 2.5 RTTs.
const MIN_UNCHANGED: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    /// `v` of the paper.
    value: f64,
    direction: Ordering,
    /// The number of RTTs with the same direction as the previous one.
    unchanged: u32,
    /// The RTT ends with the ACK of a segment that was sent when this many were delivered.
    round_end: u64,
    /// The window at the start of the RTT.
    start_cwnd: f64,
}

impl Velocity {
    pub(super) const fn new() -> Self {
        Self { value: 1.0, direction: Ordering::Equal, unchanged: 0, round_end: 0, start_cwnd: 0.0 }
    }

    /// Returns `v` for a window with a target queue, limited so that the window changes by at most itself per RTT (genericCC,
    /// `update_intersend_time`; the paper has no limit).
    pub(super) fn value(&self, cwnd: f64, target_queue: f64) -> f64 {
        self.value.min(cwnd / target_queue).max(1.0)
    }

    /// Processes an ACK with window `cwnd`, and updates the direction at the end of an RTT.
    pub(super) fn on_sample(&mut self, sample: &RateSample, cwnd: f64) {
        // Once per RTT, measured by packets as in BBR.
        if sample.prior_delivered < self.round_end {
            return;
        }
        self.update_direction(cwnd.total_cmp(&self.start_cwnd));
        (self.round_end, self.start_cwnd) = (sample.total_delivered, cwnd);
    }

    fn update_direction(&mut self, direction: Ordering) {
        let is_unchanged = direction == self.direction && direction != Ordering::Equal;
        self.direction = direction;
        self.unchanged = if is_unchanged { self.unchanged + 1 } else { 0 };
        if !is_unchanged {
            self.value = 1.0;
        // Doubling from the fourth RTT on lets the window follow a change of the path quickly.
        } else if self.unchanged >= MIN_UNCHANGED {
            self.value *= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    /// Round trips that end with these windows; gives `v` after each.
    fn values(windows: &[f64]) -> Vec<f64> {
        let mut velocity = Velocity::new();
        let mut values = Vec::new();
        for (round, cwnd) in (1..).zip(windows) {
            let acked = |delivered| RateSample {
                prior_delivered: 100 * round - 100,
                total_delivered: delivered,
                ..RateSample::default()
            };
            velocity.on_sample(&acked(100 * round), *cwnd);
            // The rest of the round trip changes nothing.
            velocity.on_sample(&RateSample { prior_delivered: 100 * round - 1, ..acked(100 * round + 50) }, cwnd / 2.0);
            values.push(velocity.value(1e9, 2.0));
        }
        values
    }

    #[test]
    fn it_doubles_once_the_direction_has_stayed_for_three_round_trips() {
        assert_eq!(values(&[10.0, 12.0, 14.0, 16.0, 20.0, 28.0]), [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
        assert_eq!(
            values(&[10.0, 12.0, 14.0, 16.0, 15.0, 14.0, 13.0, 12.0, 11.0]),
            [1., 1., 1., 2., 1., 1., 1., 2., 4.]
        );
        assert_eq!(values(&[10.0; 8]), [1.0; 8], "a window that stays goes nowhere");
        let source = "Arun and Balakrishnan, NSDI 2018, §2.1";
        conforms(Area::Control, "copa", source, "velocity over round trips up, down and level", "23 of 23");
    }

    #[test]
    fn a_window_moves_by_no_more_than_itself() {
        let velocity = Velocity { value: 64.0, ..Velocity::new() };
        let values = (velocity.value(40.0, 2.0), velocity.value(1000.0, 2.0), velocity.value(1.0, 2.0));
        assert_eq!(values, (20.0, 64.0, 1.0));
    }
}
