//! The reference model of a receiver, which sees every segment.

use earlybird_tcp::AcceptedRange;
use earlybird_wire::{Segment, SeqNum};
use std::ops::Range;

/// Records what a receiver keeps of segments.
#[derive(Debug, Default)]
pub(crate) struct ReceiverOracle {
    /// Sequence number of the peer's first byte.
    first: Option<SeqNum>,
    /// Ranges that were kept above `in_order`.
    above: Vec<Range<u64>>,
    /// Everything below this offset was kept.
    in_order: u64,
}

impl ReceiverOracle {
    /// Checks that what was kept is part of the segment, at the offset of its sequence number. Returns the number of bytes.
    pub(crate) fn record(&mut self, segment: &Segment, taken: &AcceptedRange) -> u64 {
        let length = taken.stream.end - taken.stream.start;
        if length == 0 {
            return 0;
        }
        assert!(u64::from(taken.skip) + length <= u64::from(segment.len), "{taken:?} of {} bytes", segment.len);
        // The SYN occupies one number before the payload.
        let payload = segment.seq.at(u64::from(segment.flags.contains(earlybird_wire::Flags::SYN)));
        let first = SeqNum(payload.at(taken.skip.into()).0.wrapping_sub(taken.stream.start as u32));
        assert_eq!(*self.first.get_or_insert(first), first, "the place of {taken:?}");
        self.above.push(taken.stream.clone());
        // Ranges may overlap: receivers keep old or new bytes of a retransmission.
        while let Some(index) = self.above.iter().position(|range| range.start <= self.in_order) {
            self.in_order = self.in_order.max(self.above.swap_remove(index).end);
        }
        length
    }

    /// Returns the largest number of bytes that may be delivered.
    pub(crate) fn in_order(&self) -> u64 {
        self.in_order
    }
}
