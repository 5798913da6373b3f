//! Which part of which unit of media is where in a byte stream.

use crate::{Completion, Part};
use alloc::collections::VecDeque;
use core::ops::Range;

/// Maps positions of a byte stream to the parts of units that were written there.
///
/// A real receiver would read the unit's number in the payload. Here payload has no content, so that the writer's side keeps the
/// map and the reader's side asks it.
#[derive(Debug, Default)]
pub struct UnitMap {
    /// Parts that were written and not read, in stream order.
    parts: VecDeque<(Range<u64>, Part)>,
    /// Number of bytes written.
    written: u64,
    /// Number of the next unit.
    next_unit: u64,
    /// Position up to which the reader has read or skipped.
    read: u64,
    /// End of the last range that the reader skipped.
    skipped_to: u64,
    completion: Completion,
}

fn start_of((range, _): &(Range<u64>, Part)) -> u64 {
    range.start
}

impl UnitMap {
    /// Returns the number for the next unit.
    pub fn allocate_unit(&mut self) -> u64 {
        self.next_unit += 1;
        self.next_unit - 1
    }

    /// Appends a whole unit of `bytes` bytes.
    pub fn push_unit(&mut self, bytes: u64) {
        let unit = self.allocate_unit();
        self.push(bytes, Part::whole(unit));
    }

    /// Appends a part of `bytes` bytes.
    pub fn push(&mut self, bytes: u64, part: Part) {
        self.parts.push_back((self.written..self.written + bytes, part));
        self.written += bytes;
    }

    /// Takes bytes off the end of the last part, which were not sent.
    pub fn shorten(&mut self, bytes: u64) {
        if let Some((range, _)) = self.parts.back_mut() {
            range.end -= bytes;
            self.written -= bytes;
        }
    }

    /// Returns the position up to which the reader has read or skipped.
    pub fn position(&self) -> u64 {
        self.read
    }

    /// Returns the end of the next part to read.
    pub fn next_end(&self) -> Option<u64> {
        self.parts.front().map(|(range, _)| range.end)
    }

    /// Returns the number of bytes that are missing to complete the next part.
    pub fn missing(&self) -> Option<u64> {
        self.next_end().map(|end| end - self.read)
    }

    /// Moves the reader to a position. All bytes before it were read.
    pub fn read_to(&mut self, position: u64) {
        self.read = position;
    }

    /// Moves the reader to a position over bytes that are lost. Parts that overlap them are never complete.
    pub fn skip_to(&mut self, position: u64) {
        (self.read, self.skipped_to) = (position, position);
    }

    /// Removes and returns the next part that was read completely. Parts with skipped bytes are dropped.
    pub fn pop_complete(&mut self) -> Option<Part> {
        while let Some((range, part)) = self.parts.pop_front_if(|(range, _)| range.end <= self.read) {
            // A part with skipped bytes cannot be used: its unit stays incomplete.
            if self.skipped_to <= range.start {
                return Some(part);
            }
        }
        None
    }

    /// Returns the part that begins at a position.
    pub fn part_at(&self, position: u64) -> Option<Part> {
        Some(self.parts[self.index_of(position)?].1)
    }

    /// Removes and returns the part that begins at a position, even behind a hole.
    pub fn take_at(&mut self, position: u64) -> Option<Part> {
        let index = self.index_of(position)?;
        self.parts.remove(index).map(|(_, part)| part)
    }

    /// Replaces the part that begins at a position, if it was not read.
    pub fn replace_at(&mut self, position: u64, part: Part) {
        if let Some(index) = self.index_of(position) {
            self.parts[index].1 = part;
        }
    }

    /// Records that a part was read. Returns its unit if that is complete now.
    pub fn complete(&mut self, part: Part) -> Option<u64> {
        self.completion.take(part)
    }

    fn index_of(&self, position: u64) -> Option<usize> {
        // Parts are in stream order, so positions rise.
        self.parts.binary_search_by_key(&position, start_of).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_complete_when_its_last_byte_was_read() {
        let mut map = UnitMap::default();
        assert_eq!(map.missing(), None);
        map.push_unit(100);
        map.push_unit(50);
        map.read_to(60);
        assert_eq!((map.pop_complete(), map.missing()), (None, Some(40)));
        map.read_to(100);
        assert_eq!((map.pop_complete(), map.missing()), (Some(Part::whole(0)), Some(50)));
        map.read_to(150);
        assert_eq!((map.pop_complete(), map.missing()), (Some(Part::whole(1)), None));
    }

    #[test]
    fn the_next_unit_begins_where_an_abandoned_one_was_cut() {
        let mut map = UnitMap::default();
        map.push_unit(100);
        map.shorten(100);
        map.push_unit(100);
        map.shorten(70);
        map.push_unit(50);
        assert_eq!(map.pop_complete(), Some(Part::whole(0)));
        map.read_to(30);
        assert_eq!((map.pop_complete(), map.missing()), (Some(Part::whole(1)), Some(50)));
    }

    #[test]
    fn a_unit_with_skipped_bytes_is_dropped() {
        let mut map = UnitMap::default();
        (0..3).for_each(|_| map.push_unit(100));
        map.skip_to(120);
        map.read_to(300);
        assert_eq!((map.pop_complete(), map.pop_complete()), (Some(Part::whole(2)), None));
    }

    #[test]
    fn parts_are_found_by_where_they_begin() {
        let mut map = UnitMap::default();
        (0..3).for_each(|_| map.push_unit(100));
        map.replace_at(100, Part::whole(7));
        assert_eq!((map.part_at(100), map.part_at(150)), (Some(Part::whole(7)), None));
        assert_eq!((map.take_at(200), map.take_at(200)), (Some(Part::whole(2)), None));
    }
}
