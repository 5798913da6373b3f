//! Detection of a full pipe (draft-ietf-ccwg-bbr, "Exiting Acceleration Based on Bandwidth Plateau").

use crate::policy::control::path::RateSample;

/// Detects three rounds in which a faster rate did not increase the delivery rate by 25 %.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// `BBR.full_bw_reached`: whether the pipe was full at some time.
    pub(super) was_reached: bool,
    /// `BBR.full_bw_now`: whether it was full since the detection started.
    pub(super) is_now: bool,
    baseline: f64,
    rounds: u32,
}

/// The growth of the delivery rate that restarts the count (`CheckFullBWReached`).
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds without it: one for a receive window that grows, one to fill that, one to measure (Linux's `bbr_check_full_bw_reached`).
const FULL_BW_ROUNDS: u32 = 3;

impl FullPipe {
    /// `ResetFullBW`: restarts the detection from this rate.
    pub(super) fn restart(&mut self, baseline: f64) {
        *self = Self { was_reached: self.was_reached, baseline, ..Self::default() };
    }

    /// `CheckFullBWReached`.
    pub(super) fn on_sample(&mut self, sample: &RateSample, is_round_start: bool) {
        // Application-limited rounds do not test the path.
        if self.is_now || !is_round_start || sample.is_app_limited {
            return;
        }
        let rate = sample.delivery_rate.unwrap_or(0.0);
        if rate >= self.baseline * FULL_BW_GROWTH {
            return self.restart(rate);
        }
        self.rounds += 1;
        self.is_now = self.rounds >= FULL_BW_ROUNDS;
        self.was_reached |= self.is_now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn sample(rate: u32, is_app_limited: bool) -> RateSample {
        RateSample { delivery_rate: Some(f64::from(rate)), is_app_limited, ..RateSample::default() }
    }

    /// Returns whether the pipe counts as full after each round with these rates.
    fn verdicts<const N: usize>(rates: [u32; N]) -> [bool; N] {
        let mut pipe = FullPipe::default();
        rates.map(|rate| {
            pipe.on_sample(&sample(rate, false), true);
            pipe.is_now
        })
    }

    #[test]
    fn the_pipe_is_full_after_three_rounds_without_a_quarter_more() {
        assert_eq!(verdicts([100, 200, 249, 249, 249, 400]), [false, false, false, false, true, true]);
        assert_eq!(verdicts([100, 200, 249, 250, 260, 270, 280]), [false, false, false, false, false, false, true]);
        conforms(
            Area::Control,
            "bbr",
            "draft-ietf-ccwg-bbr, Exiting Acceleration Based on Bandwidth Plateau",
            "the round that fills the pipe, for 13 rates",
            "13 of 13 rounds",
        );
    }

    #[test]
    fn rounds_limited_by_the_application_and_acks_within_a_round_do_not_count() {
        let mut pipe = FullPipe::default();
        pipe.on_sample(&sample(100, false), true);
        (0..9).for_each(|_| pipe.on_sample(&sample(100, true), true));
        (0..9).for_each(|_| pipe.on_sample(&sample(100, false), false));
        assert!(!pipe.is_now);
        (0..3).for_each(|_| pipe.on_sample(&sample(100, false), true));
        assert!(pipe.is_now && pipe.was_reached);
        pipe.restart(0.0);
        assert!(!pipe.is_now && pipe.was_reached);
    }
}
