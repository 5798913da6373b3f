//! The receiver's packets between their arrival and their release.

use super::CAPACITY;
use alloc::collections::VecDeque;
use earlybird_units::Instant;
use earlybird_wire::{Datagram, SrtLosses};

/// Packets that arrived, by number, from the first that is not released.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// A place for each packet up to the newest; empty where one is missing.
    places: VecDeque<Option<Arrived>>,
    /// Number of the first place.
    first: u32,
    /// Places without a hole from the first on.
    unbroken: usize,
    missing: usize,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) datagram: Datagram,
    pub(crate) written: Instant,
}

impl Window {
    /// Takes a packet and gives the number of the first one that is missing before it, if that is new.
    pub(crate) fn insert(&mut self, sequence: u32, arrived: Arrived) -> Option<u32> {
        // Packets before the buffer were released or dropped, and are rejected like packets beyond it.
        let index = sequence.checked_sub(self.first).map_or(CAPACITY, |index| index as usize);
        let end = self.places.len();
        if index >= CAPACITY || self.places.get(index).is_some_and(Option::is_some) {
            return None;
        }
        if index < end {
            self.missing -= 1;
            self.places[index] = Some(arrived);
        } else {
            self.missing += index - end;
            self.places.resize(index, None);
            self.places.push_back(Some(arrived));
        }
        self.count_unbroken();
        (index > end).then_some(self.first + end as u32)
    }

    fn count_unbroken(&mut self) {
        while self.places.get(self.unbroken).is_some_and(Option::is_some) {
            self.unbroken += 1;
        }
    }

    /// Returns the number of places, holes included.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the first received packet, which may be behind a hole.
    pub(crate) fn front(&self) -> Option<&Arrived> {
        self.places.iter().flatten().next()
    }

    /// Removes that packet, and skips missing ones before it.
    pub(crate) fn pop(&mut self) -> Option<Arrived> {
        let holes = self.places.iter().take_while(|place| place.is_none()).count();
        let arrived = self.places.drain(..self.places.len().min(holes + 1)).next_back()?;
        self.first += holes as u32 + 1;
        self.missing -= holes;
        // With holes in front nothing was unbroken.
        self.unbroken = self.unbroken.saturating_sub(1);
        self.count_unbroken();
        arrived
    }

    /// Returns the number of the first packet that is neither received nor skipped.
    pub(crate) fn next_missing(&self) -> u32 {
        self.first + self.unbroken as u32
    }

    /// Returns whether anything is missing before something that arrived.
    pub(crate) fn has_holes(&self) -> bool {
        self.missing > 0
    }

    /// Returns the ranges that are missing, from that number on.
    pub(crate) fn holes_from(&self, sequence: u32) -> impl Iterator<Item = SrtLosses> + '_ {
        let mut index = sequence.saturating_sub(self.first) as usize;
        core::iter::from_fn(move || {
            let len = |is_hole: bool, from| self.places.range(from..).take_while(|p| p.is_none() == is_hole).count();
            index = index.min(self.places.len());
            index += len(false, index);
            let holes = len(true, index);
            let first = self.first + index as u32;
            index += holes;
            (holes > 0).then(|| SrtLosses { first, last: first + holes as u32 - 1 })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn packet() -> Arrived {
        Arrived { datagram: Datagram::default(), written: Instant::ZERO }
    }

    #[test]
    fn a_gap_is_reported_once_and_all_that_is_missing_at_any_time() {
        let mut window = Window::default();
        let gaps: Vec<_> = [0, 2, 6, 1, 1].into_iter().map(|number| window.insert(number, packet())).collect();
        assert_eq!(gaps, [None, Some(1), Some(3), None, None]);
        assert_eq!(window.holes_from(0).collect::<Vec<_>>(), [SrtLosses { first: 3, last: 5 }]);
        assert_eq!((window.next_missing(), window.has_holes()), (3, true));
        for _ in 0..4 {
            assert!(window.pop().is_some());
        }
        assert_eq!((window.next_missing(), window.has_holes(), window.pop().is_none()), (7, false, true));
    }

    #[test]
    fn what_was_released_or_lies_too_far_ahead_finds_no_place() {
        let mut window = Window::default();
        window.insert(0, packet());
        window.pop();
        assert_eq!([0, 8193, u32::MAX].map(|number| window.insert(number, packet())), [None; 3]);
        assert!(window.front().is_none());
        assert_eq!(window.insert(8192, packet()), Some(1));
    }
}
