use crate::Duration;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A seed from which seeds are derived by name.
///
/// The random numbers of a part depend on its name only: a new flow or another algorithm does not change those of other parts, so
/// that runs with equal seeds are comparable (common random numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedTree(u64);

impl SeedTree {
    /// Returns the root for the seed of a run.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the branch called `name`.
    #[must_use]
    pub fn child(self, name: &str) -> Self {
        // A hash instead of a counter: the seed of a branch does not depend on the order of calls.
        Self(xxh3_64_with_seed(name.as_bytes(), self.0))
    }

    /// Returns the branch with number `index`.
    #[must_use]
    pub fn nth(self, index: u64) -> Self {
        Self(xxh3_64_with_seed(&index.to_le_bytes(), self.0))
    }

    /// Returns the random stream of this branch.
    pub fn random(self) -> Random {
        Random(Pcg64Mcg::seed_from_u64(self.0))
    }
}

/// A stream of random numbers that is the same on every platform.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// Draws from [0, 1).
    pub fn unit(&mut self) -> f64 {
        // 53 bits: the resolution of a double.
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws from [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Draws a span from [low, high).
    pub fn duration_between(&mut self, low: Duration, high: Duration) -> Duration {
        Duration::from_secs_f64(self.uniform(low.as_secs_f64(), high.as_secs_f64()))
    }

    /// Draws from 0 … `count` − 1; 0 if `count` is 0.
    pub fn below(&mut self, count: u64) -> u64 {
        // The bias for counts far below 2^53 is negligible, and one draw per call keeps streams aligned.
        (self.unit() * count as f64) as u64
    }

    /// Draws from the exponential distribution with the given mean (inverse transform).
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 − u is in (0, 1], so that the logarithm is finite. `libm` gives the same bits on every platform.
        -mean * libm::log(1.0 - self.unit())
    }

    /// Draws from the Pareto distribution: at least `least`, above x with probability (least/x)^shape.
    pub fn pareto(&mut self, least: f64, shape: f64) -> f64 {
        least * libm::pow(1.0 - self.unit(), -1.0 / shape)
    }

    /// Draws from the Weibull distribution: above x with probability exp(−(x/scale)^shape).
    pub fn weibull(&mut self, scale: f64, shape: f64) -> f64 {
        scale * libm::pow(-libm::log(1.0 - self.unit()), 1.0 / shape)
    }

    /// Draws from the normal distribution with mean 0 and deviation 1 (Box and Muller 1958; the second number is discarded).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * core::f64::consts::PI * self.unit())
    }

    /// Draws from the lognormal distribution, whose logarithm is normal with this mean and deviation.
    pub fn lognormal(&mut self, mean: f64, deviation: f64) -> f64 {
        libm::exp(mean + deviation * self.normal())
    }

    /// Draws from the Lomax (Pareto II) distribution with the given mean; `shape` must exceed 1.
    ///
    /// Scale = mean·(shape − 1), as ns-2's `ParetoII` takes its average.
    pub fn lomax(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0);
        scale * (libm::pow(1.0 - self.unit(), -1.0 / shape) - 1.0)
    }
}
