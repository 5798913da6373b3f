//! Frames that arrived and are not read: one segment is one frame.

use crate::scoreboard::ranges::Ranges;
use alloc::collections::VecDeque;
use core::ops::Range;

/// The frames that are held, by position in the stream: in order first, then those behind a hole.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    held: VecDeque<Range<u64>>,
    limit: usize,
    /// Frames that were read before the hole in front of them was filled.
    read_early: Ranges,
}

impl Frames {
    /// Returns an empty store for up to `limit` frames.
    pub(super) fn new(limit: usize) -> Self {
        Self { held: VecDeque::new(), limit, read_early: Ranges::default() }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Inserts a frame that overlaps none that is held, and returns whether it fits. The last slot is reserved for the next frame in
    /// order: the frames behind it must not block it for ever.
    pub(super) fn insert(&mut self, frame: Range<u64>, is_next: bool) -> bool {
        if self.held.len() + usize::from(!is_next) >= self.limit {
            return false;
        }
        let place = self.held.partition_point(|held| held.start < frame.start);
        self.held.insert(place, frame);
        true
    }

    /// Returns the lowest frame, behind a hole or not.
    pub(super) fn first(&self) -> Option<Range<u64>> {
        self.held.front().cloned()
    }

    /// Returns the highest frame, behind holes or not.
    pub(super) fn last(&self) -> Option<Range<u64>> {
        self.held.back().cloned()
    }

    /// Returns the bytes of all frames.
    pub(super) fn bytes(&self) -> u64 {
        self.held.iter().map(|frame| frame.end - frame.start).sum()
    }

    /// Removes the lowest frame, which is behind a hole if it ends above `nxt`.
    pub(super) fn pop_unordered(&mut self, nxt: u64) -> Option<Range<u64>> {
        let frame = self.held.pop_front()?;
        // Delivered early: its bytes must not be counted as unread when the hole is filled.
        if frame.end > nxt {
            self.read_early.insert(frame.clone());
        }
        Some(frame)
    }

    /// Removes the frames below `nxt`, which are in order now, from those read early, and returns their bytes.
    pub(super) fn account_early_reads(&mut self, nxt: u64) -> u64 {
        let before = self.read_early.total();
        self.read_early.remove_below(nxt);
        before - self.read_early.total()
    }

    /// Takes out the lowest frame if it ends at or below `nxt` and has at most so many bytes.
    pub(super) fn pop(&mut self, nxt: u64, bytes: u64) -> Option<Range<u64>> {
        self.held.pop_front_if(|frame| frame.end <= nxt && frame.end - frame.start <= bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_behind_a_hole_is_passed_once() {
        let mut frames = Frames::new(9);
        assert!([21..31, 31..41, 51..61].into_iter().all(|frame| frames.insert(frame, false)));
        assert_eq!([11, 11, 11].map(|nxt| frames.pop_unordered(nxt)), [Some(21..31), Some(31..41), Some(51..61)]);
        frames.insert(11..21, true);
        assert_eq!((frames.bytes(), frames.pop_unordered(21)), (10, Some(11..21)));
        assert_eq!([41, 41, 61].map(|nxt| frames.account_early_reads(nxt)), [20, 0, 10]);
    }

    #[test]
    fn the_last_place_is_for_the_frame_that_is_next() {
        let mut frames = Frames::new(2);
        assert!(frames.insert(11..21, false));
        assert!(!frames.insert(31..41, false), "one behind a hole does not get the last place");
        assert!(frames.insert(1..11, true));
        assert!(!frames.insert(21..31, true));
        assert_eq!((frames.first(), frames.last()), (Some(1..11), Some(11..21)));
        assert_eq!(frames.pop(21, 9), None, "a frame is never handed over in part");
        assert_eq!([10, 10, 10].map(|bytes| frames.pop(20, bytes)), [Some(1..11), None, None]);
    }
}
