use earlybird_units::Random;

/// A distribution given by some of its quantiles, rising; between them the logarithm of the value rises evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Empirical(pub(super) &'static [(f64, f64)]);

impl Empirical {
    pub(super) fn draw(self, random: &mut Random) -> f64 {
        self.quantile(random.unit())
    }

    /// Returns the value that a share of the draws does not exceed.
    pub(super) fn quantile(self, share: f64) -> f64 {
        let above = self.0.partition_point(|(known, _)| *known <= share).clamp(1, self.0.len() - 1);
        let ((from, low), (to, high)) = (self.0[above - 1], self.0[above]);
        low * libm::pow(high / low, (share - from) / (to - from))
    }
}
