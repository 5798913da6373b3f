//! What a receiver may have, as one who sees every segment knows.

use earlybird_tcp::AcceptedRange;
use earlybird_wire::{Segment, SeqNum};
use std::ops::Range;

/// Watches what is kept of arriving segments.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The number of the peer's first byte.
    first: Option<SeqNum>,
    /// What was kept above …
    above: Vec<Range<u64>>,
    /// … everything up to here.
    in_order: u64,
}

impl Witness {
    /// Checks that what was kept of a segment was in it, at the place where its number puts it. Gives the number of bytes.
    pub(crate) fn keep(&mut self, segment: &Segment, taken: &AcceptedRange) -> u64 {
        let length = taken.stream.end - taken.stream.start;
        if length == 0 {
            return 0;
        }
        assert!(u64::from(taken.skip) + length <= u64::from(segment.len), "{taken:?} of {} bytes", segment.len);
        let payload = segment.seq.at(u64::from(segment.flags.contains(earlybird_wire::Flags::SYN)));
        let first = SeqNum(payload.at(taken.skip.into()).0.wrapping_sub(taken.stream.start as u32));
        assert_eq!(*self.first.get_or_insert(first), first, "the place of {taken:?}");
        self.above.push(taken.stream.clone());
        while let Some(index) = self.above.iter().position(|range| range.start <= self.in_order) {
            self.in_order = self.in_order.max(self.above.swap_remove(index).end);
        }
        length
    }

    /// Returns the bytes that can have been delivered.
    pub(crate) fn in_order(&self) -> u64 {
        self.in_order
    }
}
