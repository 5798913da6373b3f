/// An exponentially weighted average that is corrected for its start (`ewma.ts` of hls.js, `ewma.js` of Shaka, `_updateEwmaValues` and
/// `getEwma` of dash.js, which agree).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ewma {
    /// The weight of samples after which earlier ones count half.
    half_life: f64,
    estimate: f64,
    total_weight: f64,
}

impl Ewma {
    pub(super) const fn new(half_life: f64) -> Self {
        Self { half_life, estimate: 0.0, total_weight: 0.0 }
    }

    pub(super) fn sample(&mut self, weight: f64, value: f64) {
        let kept = libm::exp2(-weight / self.half_life);
        self.estimate = value * (1.0 - kept) + kept * self.estimate;
        self.total_weight += weight;
    }

    pub(super) fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// Returns the average; NaN before the first sample.
    pub(super) fn get(&self) -> f64 {
        self.estimate / (1.0 - libm::exp2(-self.total_weight / self.half_life))
    }
}

/// The smaller of a fast and a slow average: it falls quickly and rises slowly.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastAndSlow {
    fast: Ewma,
    slow: Ewma,
}

impl FastAndSlow {
    pub(super) const fn new(fast: f64, slow: f64) -> Self {
        Self { fast: Ewma::new(fast), slow: Ewma::new(slow) }
    }

    pub(super) fn sample(&mut self, weight: f64, value: f64) {
        self.fast.sample(weight, value);
        self.slow.sample(weight, value);
    }

    pub(super) fn total_weight(&self) -> f64 {
        self.fast.total_weight()
    }

    /// Returns the estimate; NaN before the first sample.
    pub(super) fn get(&self) -> f64 {
        self.fast.get().min(self.slow.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn the_throughput_was_another_than_in_the_tests_of_hls_js() {
        // tests/unit/controller/ewma-bandwidth-estimator.ts: a megabyte in 8, 4 and 1 s.
        for (slow, fast, expected) in [
            (15.0, 4.0, [1e6, 1_396_480.154_473_622_6, 2_056_826.948_982_794_8]),
            (9.0, 5.0, [1e6, 1_439_580.319_105_247, 2_208_342.324_322_311]),
        ] {
            let mut estimate = FastAndSlow::new(fast, slow);
            for (seconds, expected) in [8.0, 4.0, 1.0].into_iter().zip(expected) {
                estimate.sample(seconds, 8e6 / seconds);
                assert!((estimate.get() - expected).abs() < 1e-6, "{} for {expected}", estimate.get());
            }
        }
        let source = "hls.js 1.7.1 at afe5b8b (2026-08-20), tests/unit/controller/ewma-bandwidth-estimator.ts";
        let compared = "the estimate after each of three samples with half-lives of 15 and 4, and of 9 and 5 s";
        conforms(Area::Traffic, "Segments: hls.js", source, compared, "six of six, to 1e-6 bit/s");
    }
}
