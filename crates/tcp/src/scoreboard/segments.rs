//! The segments on the scoreboard, each in a place that follows from its number.

use super::Sent;
use alloc::vec::Vec;
use core::ops::Range;

/// Consecutive numbers with a record each: new ones are appended, the lowest ones taken off.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    /// Number n is in place n modulo the length, which is a power of two or zero. All other places are worthless.
    places: Vec<Sent>,
    numbers: Range<u64>,
}

/// Places at first: a window of ten segments (RFC 6928) fits.
const PLACES_AT_FIRST: usize = 16;

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
    fn place(&self, number: u64) -> usize {
        number as usize & self.places.len().wrapping_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<&Sent> {
        if self.numbers.contains(&number) { self.places.get(self.place(number)) } else { None }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Sent> {
        let place = self.place(number);
        if self.numbers.contains(&number) { self.places.get_mut(place) } else { None }
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
        if self.len() == self.places.len() as u64 {
            self.grow();
        }
        let place = self.place(self.numbers.end);
        self.places[place] = sent;
        self.numbers.end += 1;
    }

    /// Doubles the places. Half of the records stay where they are, the others move up by half the length.
    #[cold]
    fn grow(&mut self) {
        let before = core::mem::take(&mut self.places);
        let unused = Sent::default();
        self.places = alloc::vec![unused; (2 * before.len()).max(PLACES_AT_FIRST)];
        for number in self.numbers() {
            let place = self.place(number);
            self.places[place] = before[number as usize & (before.len() - 1)];
        }
    }

    /// Takes off the segments that end at a stream position or before it, the lowest first, and shows each.
    #[inline]
    pub(super) fn take_up_to(&mut self, position: u64, mut show: impl FnMut(u64, &Sent)) {
        let mask = self.places.len().wrapping_sub(1);
        let Range { start: mut number, end } = self.numbers;
        while number < end
            && let Some(sent) = self.places.get(number as usize & mask).filter(|sent| sent.end <= position)
        {
            show(number, sent);
            number += 1;
        }
        self.numbers.start = number;
    }

    /// Takes off what lies below `number`, which is none of those that are still to come.
    #[inline]
    pub(super) fn remove_below(&mut self, number: u64) {
        self.numbers.start = number;
    }

    /// Returns the lowest number whose record is none of `is_before`, for which all below are.
    pub(super) fn partition_point(&self, is_before: impl Fn(&Sent) -> bool) -> u64 {
        let Range { mut start, mut end } = self.numbers();
        while start < end {
            let middle = start + (end - start) / 2;
            if is_before(&self.places[self.place(middle)]) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }
}
