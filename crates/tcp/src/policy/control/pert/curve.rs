//! The response curve: gentle RED with the queueing delay instead of the queue length.

use earlybird_units::Duration;

/// T1 (`T_min`): below it there is no response (SIGCOMM 2007; the ports).
pub(super) const FIRST_THRESHOLD: Duration = Duration::from_millis(5);
/// T2 (`T_max`): up to it the probability rises to its maximum (SIGCOMM 2007; the ports).
pub(super) const SECOND_THRESHOLD: Duration = Duration::from_millis(10);
/// Probability at T2 (SIGCOMM 2007; the ports).
pub(super) const MAXIMUM_PROBABILITY: f64 = 0.05;
/// T3 as a share of the largest queueing delay, adaptive form (the ports).
const THIRD_SHARE: f64 = 0.65;

pub(crate) const NO_QUEUE: Duration = FIRST_THRESHOLD;

/// The curve above T2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveTail {
    /// Rises to 1 at T3, as gentle RED does.
    Gentle,
    /// Stays at the maximum probability.
    Flat,
}

/// Probability of an early response against queueing delay.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    third_threshold: Duration,
    tail: CurveTail,
}

impl Curve {
    /// Returns the curve of 2007: T3 = 2·T2.
    pub fn homogeneous(tail: CurveTail) -> Self {
        Self { third_threshold: SECOND_THRESHOLD * 2, tail }
    }

    /// Returns the curve of 2008: T3 = max(2·T2, 0.65 × largest queueing delay).
    pub fn adaptive(largest: Duration, tail: CurveTail) -> Self {
        Self { third_threshold: (SECOND_THRESHOLD * 2).max(largest.mul_f64(THIRD_SHARE)), tail }
    }

    /// Returns the probability of an early response per ACK at this queueing delay.
    pub fn probability(&self, queueing: Duration) -> f64 {
        if queueing < FIRST_THRESHOLD {
            0.0
        } else if queueing < SECOND_THRESHOLD {
            // Gentle RED: 0 to p_max between T1 and T2, p_max to 1 between T2 and T3.
            MAXIMUM_PROBABILITY * position(queueing, FIRST_THRESHOLD, SECOND_THRESHOLD)
        } else if self.tail == CurveTail::Flat {
            MAXIMUM_PROBABILITY
        } else if queueing < self.third_threshold {
            let position = position(queueing, SECOND_THRESHOLD, self.third_threshold);
            MAXIMUM_PROBABILITY + (1.0 - MAXIMUM_PROBABILITY) * position
        } else {
            1.0
        }
    }
}

fn position(value: Duration, low: Duration, high: Duration) -> f64 {
    value.saturating_sub(low).as_nanos() as f64 / high.saturating_sub(low).as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn assert_curve(curve: Curve, points: &[(u64, f64)]) {
        for &(micros, expected) in points {
            let probability = curve.probability(Duration::from_micros(micros));
            assert!((probability - expected).abs() < 5e-7, "{micros} us: {probability}, not {expected}");
        }
    }

    #[test]
    fn v5_t3_20_ms_6_001_7_5_0025_10_005_12_5_02875_15_0525_17_5_07625_20_1() {
        let points = [
            (4_999, 0.0),
            (6_000, 0.01),
            (7_500, 0.025),
            (10_000, 0.05),
            (12_500, 0.2875),
            (15_000, 0.525),
            (17_500, 0.7625),
            (20_000, 1.0),
        ];
        assert_curve(Curve::homogeneous(CurveTail::Gentle), &points);
        conforms(
            Area::Control,
            "PERT",
            "students' ports for ns-3",
            "response curve, homogeneous (V5)",
            "7 of 7 to 1e-6",
        );
    }

    #[test]
    fn v6_dmax_80_ms_12_5_0106548_20_0276190_30_0502381() {
        let curve = Curve::adaptive(Duration::from_millis(80), CurveTail::Gentle);
        assert_curve(curve, &[(12_500, 0.106_548), (20_000, 0.276_190), (30_000, 0.502_381), (52_000, 1.0)]);
        conforms(
            Area::Control,
            "PERT",
            "students' ports for ns-3",
            "response curve, adaptive (V6)",
            "4 of 4 to 1e-6",
        );
    }

    #[test]
    fn a_flat_tail_stays_at_0_05() {
        assert_curve(Curve::homogeneous(CurveTail::Flat), &[(10_000, 0.05), (50_000, 0.05)]);
    }
}
