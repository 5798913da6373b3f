//! The segments on the scoreboard, in a ring that is indexed by their numbers.

use super::Sent;
use alloc::vec::Vec;
use core::ops::Range;

/// Records of consecutive numbers: new ones are appended, the lowest ones removed.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    /// Number n is at index n modulo the length, which is a power of two or zero. All other slots have no meaning.
    slots: Vec<Sent>,
    numbers: Range<u64>,
}

/// The initial number of slots: an initial window of ten segments (RFC 6928) fits.
const INITIAL_SLOTS: usize = 16;

impl Segments {
    /// Returns the lowest number, and one past the highest.
    #[inline]
    pub(super) fn numbers(&self) -> Range<u64> {
        self.numbers.clone()
    }

    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.numbers.end - self.numbers.start
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        // A mask instead of a division; with no slots it is all ones, and `get` returns nothing.
        number as usize & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        if self.numbers.contains(&number) { self.slots.get(self.slot(number)) } else { None }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Sent> {
        let slot = self.slot(number);
        if self.numbers.contains(&number) { self.slots.get_mut(slot) } else { None }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Sent> {
        self.get(self.numbers.start)
    }

    pub(super) fn last(&self) -> Option<&Sent> {
        self.get(self.numbers.end.wrapping_sub(1))
    }

    #[inline]
    pub(super) fn push(&mut self, sent: Sent) {
        if self.len() == self.slots.len() as u64 {
            self.grow();
        }
        let slot = self.slot(self.numbers.end);
        self.slots[slot] = sent;
        self.numbers.end += 1;
    }

    /// Doubles the number of slots.
    #[cold]
    fn grow(&mut self) {
        let before = core::mem::take(&mut self.slots);
        let unused = Sent::default();
        self.slots = alloc::vec![unused; (2 * before.len()).max(INITIAL_SLOTS)];
        // The index depends on the length, so half of the records move.
        for number in self.numbers() {
            let slot = self.slot(number);
            self.slots[slot] = before[number as usize & (before.len() - 1)];
        }
    }

    /// Removes the segments that end at a stream position or before it, lowest first, and passes each to `show`.
    #[inline]
    pub(super) fn take_up_to(&mut self, position: u64, mut show: impl FnMut(u64, &Sent)) {
        let mask = self.slots.len().wrapping_sub(1);
        let Range { start: mut number, end } = self.numbers;
        // Every ACK runs this loop: local copies keep it free of stores.
        while number < end
            && let Some(sent) = self.slots.get(number as usize & mask).filter(|sent| sent.end <= position)
        {
            show(number, sent);
            number += 1;
        }
        self.numbers.start = number;
    }

    /// Removes the records below `number`, which is at most one past the highest.
    #[inline]
    pub(super) fn remove_below(&mut self, number: u64) {
        self.numbers.start = number;
    }

    /// Returns the lowest number whose record is not `is_before`; all below it must be.
    pub(super) fn partition_point(&self, is_before: impl Fn(&Sent) -> bool) -> u64 {
        let Range { mut start, mut end } = self.numbers();
        while start < end {
            let middle = start + (end - start) / 2;
            if is_before(&self.slots[self.slot(middle)]) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }
}
