//! Unwrapped sequence numbers of a stream, as seen by an observer.

use earlybird_wire::{Flags, Segment, SeqNum};

/// The first sequence number of a stream, and the highest one so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    origin: Option<Origin>,
    /// The end of all that was sent.
    pub(crate) highest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Origin {
    seq: SeqNum,
    is_syn: bool,
}

impl Sequence {
    /// Returns the part of the numbered stream that a segment takes up; its first segment begins it.
    pub(crate) fn range(&mut self, segment: &Segment) -> (u64, u64) {
        let is_syn = segment.flags.contains(Flags::SYN);
        // The first segment seen defines position 0, be it a SYN or, after a lost SYN, data.
        let origin = *self.origin.get_or_insert(Origin { seq: segment.seq, is_syn });
        // Sequence numbers wrap after 4 GiB: the highest one determines how often.
        let start = segment.seq.unwrap_near(origin.seq, self.highest).unwrap_or(0);
        (start, start + segment.sequence_len())
    }

    /// Returns the stream position of a sequence number, after the start of the stream.
    pub(crate) fn place(&self, seq: SeqNum) -> Option<u64> {
        seq.unwrap_near(self.origin?.seq, self.highest)
    }

    /// Returns the offset of a segment's payload in the stream of bytes: a SYN takes a number and is no byte of it.
    pub(crate) fn offset(&self, segment: &Segment, start: u64) -> u64 {
        // A SYN takes a sequence number (RFC 9293 §3.4) but is no byte of the stream.
        let data = start + u64::from(segment.flags.contains(Flags::SYN));
        data.saturating_sub(u64::from(self.origin.is_some_and(|origin| origin.is_syn)))
    }

    /// Records that the stream was sent up to `end`.
    pub(crate) fn reach(&mut self, end: u64) {
        self.highest = self.highest.max(end);
    }
}
