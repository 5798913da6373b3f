//! Fast arithmetic: counts are far below 2^63, and volumes and rates are never NaN, which `f64::max` and `f64::min` would check.

/// Returns a count as a volume. The conversion from `i64` is faster than that from `u64`.
#[inline]
pub(super) const fn volume(count: u64) -> f64 {
    count.cast_signed() as f64
}

/// Bounds of a number.
pub(super) trait Bounds {
    /// Returns it, or `least` if that is larger.
    #[must_use]
    fn at_least(self, least: Self) -> Self;
    /// Returns it, or `most` if that is smaller.
    #[must_use]
    fn at_most(self, most: Self) -> Self;
}

impl Bounds for f64 {
    #[inline]
    fn at_least(self, least: Self) -> Self {
        if self < least { least } else { self }
    }

    #[inline]
    fn at_most(self, most: Self) -> Self {
        if self > most { most } else { self }
    }
}
