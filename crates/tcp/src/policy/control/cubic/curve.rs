//! The cubic function of time (RFC 9438 §4.2).

/// C in segments per cubic second (RFC 9438 §5).
pub(crate) const C: f64 = 0.4;

/// `W_cubic(t)`: concave up to `W_max`, convex beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicCurve {
    w_max: f64,
    /// K: seconds from the start of the curve to `W_max`.
    k: f64,
}

impl CubicCurve {
    /// Returns the curve that starts at `cwnd` segments and reaches `w_max` after K (RFC 9438 equation 2).
    ///
    /// With a window above `w_max` the curve starts at its plateau, with K = 0 (RFC 9438 §4.8, §4.10).
    pub fn new(w_max: f64, cwnd: f64) -> Self {
        let w_max = w_max.max(cwnd);
        Self { w_max, k: libm::cbrt((w_max - cwnd) / C) }
    }

    /// Returns the window in segments at `seconds` after the start (RFC 9438 equation 1).
    pub fn at(&self, seconds: f64) -> f64 {
        let distance = seconds - self.k;
        C * distance * distance * distance + self.w_max
    }

    /// Returns K in seconds.
    pub fn k(&self) -> f64 {
        self.k
    }

    /// Returns `W_max` in segments.
    pub fn w_max(&self) -> f64 {
        self.w_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn assert_curve(start: f64, k: f64, windows: [f64; 6]) {
        let curve = CubicCurve::new(100.0, start);
        assert!((curve.k() - k).abs() < 1e-6);
        for (seconds, expected) in [0.0, 1.0, 2.0, 4.0, 6.0, 8.0].into_iter().zip(windows) {
            let window = curve.at(seconds);
            assert!((window - expected).abs() < 1e-6, "{seconds} s: {window}, not {expected}");
        }
    }

    #[test]
    fn v12_from_70_to_100_k_4_217163_and_the_windows_at_6_times() {
        assert_curve(70.0, 4.217_163, [70.0, 86.680_763_8, 95.640_335_7, 99.995_903_4, 102.266_703_3, 121.652_735_1]);
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §4.2",
            "K and W_cubic(t) at 6 times, W_max 100, β 0.7 (V12)",
            "K and 6 of 6 windows within 1e-6",
        );
    }

    #[test]
    fn v13_from_80_to_100_k_3_684031_and_the_windows_at_6_times() {
        assert_curve(80.0, 3.684_031, [80.0, 92.265_667_9, 98.089_660_2, 100.012_618_0, 104.968_873_5, 132.158_426_5]);
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §4.2",
            "K and W_cubic(t) at 6 times, W_max 100, β 0.8 (V13)",
            "K and 6 of 6 windows within 1e-6",
        );
    }

    #[test]
    fn it_is_concave_below_the_plateau_and_convex_above() {
        let curve = CubicCurve::new(100.0, 70.0);
        let bend = |seconds: f64| curve.at(seconds + 0.1) - 2.0 * curve.at(seconds) + curve.at(seconds - 0.1);
        let k = curve.k();
        for step in 1..40 {
            let distance = f64::from(step) * 0.1;
            assert!(bend(k - distance) < 0.0 && bend(k + distance) > 0.0, "{distance}");
        }
    }

    #[test]
    fn a_window_above_the_plateau_begins_a_new_one() {
        let curve = CubicCurve::new(50.0, 60.0);
        assert_eq!((curve.w_max(), curve.k()), (60.0, 0.0));
        assert!((curve.at(1.0) - 60.4).abs() < 1e-12);
    }
}
