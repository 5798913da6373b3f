//! The skips of the reader, and the SNACK that reports them.

use alloc::collections::VecDeque;
use core::ops::Range;
use earlybird_wire::{SeqNum, SkipNotice};

/// All skips: counted from the beginning, with a list of the newest.
#[derive(Clone, Debug, Default)]
pub(super) struct Skips {
    /// The newest ranges, in order.
    ranges: VecDeque<Range<u64>>,
    /// The number of ranges at the end that were not reported to the application.
    unreported: usize,
    pub(super) segments: u64,
    pub(super) bytes: u64,
    newest: u16,
    /// ACKs that have yet to carry the newest notice.
    notices_due: u8,
}

/// Largest number of recorded ranges: for an application that polls late, and to tell a late segment from a duplicate. At 10 %
/// loss and 50 frames per second this is about a minute.
const MAX_RECORDED: usize = 256;
/// The number of ACKs that carry a notice, of which two may be lost.
const NOTICES: u8 = 3;

impl Skips {
    /// Records a skipped hole. It counts the fewest segments that it can have had if none is longer than `longest`.
    pub(super) fn note(&mut self, hole: Range<u64>, longest: u64) {
        let bytes = hole.end - hole.start;
        let segments = bytes.div_ceil(longest.max(1));
        self.bytes += bytes;
        self.segments += segments;
        self.newest = u16::try_from(segments).unwrap_or(u16::MAX);
        // A newer skip restarts the count; its notice carries the total, which covers the older ones.
        self.notices_due = NOTICES;
        // The oldest range is dropped: memory is bounded whatever the peer does.
        if self.ranges.len() == MAX_RECORDED {
            self.ranges.pop_front();
        }
        self.ranges.push_back(hole);
        self.unreported = (self.unreported + 1).min(MAX_RECORDED);
    }

    /// Returns the next range that was not reported to the application.
    pub(super) fn poll(&mut self) -> Option<Range<u64>> {
        let next = self.ranges.get(self.ranges.len() - self.unreported).cloned()?;
        self.unreported -= 1;
        Some(next)
    }

    /// Returns whether the range overlaps a recorded skip.
    pub(super) fn overlaps(&self, range: &Range<u64>) -> bool {
        let place = self.ranges.partition_point(|skipped| skipped.end <= range.start);
        !range.is_empty() && self.ranges.get(place).is_some_and(|skipped| skipped.start < range.end)
    }

    /// Returns the notice of the newest skip for the next ACK; `origin` is the number of the peer's SYN.
    pub(super) fn notice(&mut self, origin: SeqNum) -> Option<SkipNotice> {
        self.notices_due = self.notices_due.checked_sub(1)?;
        let first = origin.at(self.ranges.back()?.start);
        Some(SkipNotice::Skipped { total: self.segments as u32, first, segments: self.newest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpolled_skips_are_bounded() {
        let mut skips = Skips::default();
        for number in 0..1000 {
            skips.note(number * 20..number * 20 + 10, 10);
        }
        assert_eq!((skips.segments, skips.bytes, skips.ranges.len()), (1000, 10_000, MAX_RECORDED));
        let reported: VecDeque<_> = core::iter::from_fn(|| skips.poll()).collect();
        assert_eq!(
            (reported.len(), reported.front(), reported.back()),
            (256, Some(&(14_880..14_890)), Some(&(19_980..19_990)))
        );
    }

    #[test]
    fn the_segments_of_a_hole_are_as_few_as_they_can_have_been() {
        for (bytes, segments) in [(1, 1), (100, 1), (101, 2), (300, 3)] {
            let mut skips = Skips::default();
            skips.note(1..1 + bytes, 100);
            assert_eq!(skips.segments, segments, "{bytes} bytes");
        }
    }

    #[test]
    fn a_range_is_late_if_any_of_it_was_stepped_over() {
        let mut skips = Skips::default();
        skips.note(10..20, 10);
        skips.note(30..40, 10);
        for (range, is_late) in [(5..10, false), (5..11, true), (19..25, true), (20..30, false), (35..35, false)] {
            assert_eq!(skips.overlaps(&range), is_late, "{range:?}");
        }
    }
}
