//! The replay window of RFC 6479.

/// Bits per word of the bitmap.
const WORD: u64 = 64;
/// Words of the bitmap, a power of two: 8192 bits, as in `WireGuard` (24 ms at 4 Gbit/s).
const WORDS: u64 = 128;
/// The largest distance of a counter below the highest one; one word is always partly unused (RFC 6479 §2).
const DISTANCE: u64 = (WORDS - 1) * WORD;

/// The counters that were received: each is accepted once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayWindow {
    /// The highest counter, plus one.
    next: u64,
    bitmap: [u64; WORDS as usize],
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { next: 0, bitmap: [0; WORDS as usize] }
    }
}

impl ReplayWindow {
    /// Returns whether a counter is the highest so far.
    pub const fn is_highest(&self, counter: u64) -> bool {
        counter >= self.next
    }

    /// Records the counter of an authentic datagram. Returns whether it is new; one that is too old to decide is not.
    pub fn accept(&mut self, counter: u64) -> bool {
        if counter == u64::MAX || (!self.is_highest(counter) && self.next - 1 - counter >= DISTANCE) {
            return false;
        }
        if self.is_highest(counter) {
            self.advance(counter);
        }
        let (word, bit) = (counter / WORD % WORDS, 1 << (counter % WORD));
        let is_new = self.bitmap[word as usize] & bit == 0;
        self.bitmap[word as usize] |= bit;
        is_new
    }

    /// Clears the words between the highest counter so far and a higher one.
    fn advance(&mut self, counter: u64) {
        // Before the first counter, `next` is 0 and all words are clear.
        let current = self.next.saturating_sub(1) / WORD;
        for step in 1..=(counter / WORD - current).min(WORDS) {
            self.bitmap[((current + step) % WORDS) as usize] = 0;
        }
        self.next = counter + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn counters_are_accepted_once_within_8128_of_the_highest() {
        let mut window = ReplayWindow::default();
        assert!(window.accept(0) && !window.accept(0));
        assert!(window.accept(10_000) && !window.accept(10_000));
        assert!(window.accept(10_000 - DISTANCE + 1));
        assert!(!window.accept(10_000 - DISTANCE));
        assert!(!window.accept(u64::MAX));
        assert!(window.accept(u64::MAX - 1) && !window.accept(10_001));
    }

    proptest! {
        /// Compares with a set of all counters.
        #[test]
        fn the_window_agrees_with_a_set(
            steps in prop::collection::vec((-10_000_i64..10_000, 0_u32..8), 1..400), start in 0_u64..20_000
        ) {
            let (mut window, mut seen, mut highest) = (ReplayWindow::default(), BTreeSet::new(), start);
            for (step, scale) in steps {
                let counter = highest.saturating_add_signed(step >> scale);
                let is_recent = seen.last().is_none_or(|last: &u64| last.saturating_sub(counter) < DISTANCE);
                let is_expected = is_recent && !seen.contains(&counter);
                prop_assert_eq!(window.accept(counter), is_expected, "{}", counter);
                seen.insert(counter);
                highest = highest.max(counter);
            }
        }
    }
}
