//! A windowed maximum filter.

use super::arithmetic::Bounds;

/// A maximum over the last `N` slots, the present one included.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotMax<const N: usize> {
    /// The present slot comes first.
    slots: [f64; N],
    /// The maximum of the others, cached because it is read for every ACK.
    before: f64,
}

impl<const N: usize> Default for SlotMax<N> {
    fn default() -> Self {
        Self { slots: [0.0; N], before: 0.0 }
    }
}

impl<const N: usize> SlotMax<N> {
    pub(super) fn note(&mut self, value: f64) {
        self.slots[0] = self.slots[0].at_least(value);
    }

    /// Starts a slot, and drops the oldest one.
    pub(super) fn advance(&mut self) {
        self.slots.rotate_right(1);
        self.slots[0] = 0.0;
        // Recomputed once per slot instead of for every ACK.
        self.before = self.slots.into_iter().fold(0.0, f64::max);
    }

    pub(super) fn max(&self) -> f64 {
        self.present().at_least(self.before)
    }

    /// Returns the maximum of the present slot.
    pub(super) fn present(&self) -> f64 {
        self.slots[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forgets_a_value_after_ten_slots(values in proptest::collection::vec(0_u32..1000, 1..40)) {
            let mut filter = SlotMax::<10>::default();
            for (index, value) in values.iter().enumerate() {
                filter.advance();
                filter.note(f64::from(*value));
                let last_ten = &values[index.saturating_sub(9)..=index];
                prop_assert_eq!(filter.max() as u32, *last_ten.iter().max().unwrap());
                prop_assert_eq!(filter.present() as u32, *value);
            }
        }
    }
}
