//! Segments that are sent in pieces, because the path or the receiver's window has shrunk since they were cut.
//!
//! Recovery, rate sampler and timer count by the original segments: a segment is sent when its first piece is, and has arrived
//! when all of it has.

use core::ops::Range;
use earlybird_wire::Flags;

/// The remainders of segments whose first piece was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resegmentation {
    /// The remainder to send next.
    next: Option<Remainder>,
    /// A remainder beyond the receiver's window. Others may be sent before it.
    blocked: Option<Remainder>,
}

/// The part of a segment that is still to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remainder {
    pub(super) number: u64,
    /// Stream position of the next piece.
    pub(super) from: u64,
}

impl Remainder {
    /// Returns all of a segment.
    pub(crate) const fn whole(number: u64) -> Self {
        Self { number, from: 0 }
    }
}

impl Resegmentation {
    /// Returns whether nothing is left to send.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.next.is_none() && self.blocked.is_none()
    }

    /// Returns the remainder to send next; a blocked one only if it begins before `window_end`.
    pub(super) fn next(&mut self, window_end: u64) -> Option<Remainder> {
        self.next.or_else(|| self.blocked.take_if(|blocked| blocked.from < window_end))
    }

    /// Sets the remainder to send next.
    pub(super) fn set_next(&mut self, remainder: Option<Remainder>) {
        self.next = remainder;
    }

    /// Keeps a remainder until the receiver's window opens.
    pub(super) fn block(&mut self, remainder: Remainder) {
        self.next = None;
        // One slot is enough: the first missing data matter most, and the retransmission timer repairs the rest.
        if self.blocked.is_none_or(|blocked| remainder.from < blocked.from) {
            self.blocked = Some(remainder);
        }
    }
}

/// A part of a segment that is sent now.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Number of its segment.
    pub(crate) number: u64,
    /// Its payload, by stream positions.
    pub(crate) part: Range<u64>,
    pub(crate) flags: Flags,
    /// Whether its segment was sent before.
    pub(crate) is_retransmission: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_blocked_remainders_the_first_one_is_kept() {
        let mut pieces = Resegmentation::default();
        for (from, first) in [(500, 500), (300, 300), (700, 300)] {
            pieces.block(Remainder { number: 1, from });
            assert_eq!(pieces.blocked.map(|remainder| remainder.from), Some(first));
        }
    }
}
