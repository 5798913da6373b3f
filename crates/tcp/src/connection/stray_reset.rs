//! The reset that answers a segment without a connection (RFC 9293 §3.10.7.1).

use earlybird_wire::{Flags, Segment, SeqNum};

/// A reset that the sender of a segment accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StrayReset {
    seq: SeqNum,
    ack: Option<SeqNum>,
}

impl StrayReset {
    /// Returns the answer to a segment; `None` if it is a reset itself.
    pub(super) fn of(segment: &Segment) -> Option<Self> {
        if segment.flags.contains(Flags::RST) {
            None
        } else if segment.flags.contains(Flags::ACK) {
            // The peer accepts a reset at the number that it has acknowledged.
            Some(Self { seq: segment.ack, ack: None })
        } else {
            Some(Self { seq: SeqNum(0), ack: Some(segment.seq.at(segment.sequence_len())) })
        }
    }

    /// Returns the segment of the reset.
    pub(super) fn segment(self) -> Segment {
        let flags = if self.ack.is_some() { Flags::RST | Flags::ACK } else { Flags::RST };
        Segment { seq: self.seq, ack: self.ack.unwrap_or_default(), flags, ..Segment::default() }
    }
}

/// Returns the reset that answers a segment for which there is neither connection nor listener; `None` if it is a reset itself.
///
/// The driver must limit how many of them it sends.
pub fn reject(segment: &Segment) -> Option<Segment> {
    StrayReset::of(segment).map(StrayReset::segment)
}
