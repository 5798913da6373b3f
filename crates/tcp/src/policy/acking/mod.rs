//! ACK policies of the receiver.

pub(crate) mod adaptive;
pub(crate) mod spaced;

use earlybird_units::{Duration, Instant};

/// The times at which data is acknowledged. Segments that are out of order, fill a hole or end the stream are acknowledged at
/// once (RFC 5681 §4.2), except with [`Self::Spaced`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acking {
    /// Every segment at once.
    #[default]
    EverySegment,
    /// Every second segment at once, of any length; a single one after this delay, as in ns-2's `DelAckSink`. A segment is single
    /// if it ends at RCV.NXT and no ACK is pending, even if it is a duplicate.
    SecondSegment(Duration),
    /// More than one full segment at once, anything else after this delay (RFC 5681 §4.2, RFC 9293 §3.8.6.3).
    Delayed(Duration),
    /// As Linux: every segment at first, after a pause and after a duplicate; then more than one full segment at once, and anything
    /// else after 40 to 200 ms, depending on the time between segments; with answers if they are sent soon.
    Adaptive,
    /// At most one ACK per quarter of an RTT, within these limits, for senders that detect losses by time and do not count ACKs (SRT's
    /// ACK period; the idea of draft-ietf-tcpm-ack-rate-request). An ACK is sent at once if the period since the last one is over,
    /// if a segment opens a hole or is the next one after that (the first report may be lost), or if it is the first after a
    /// pause. Others wait for such an ACK, or for a pause, so that they lengthen RTT samples little. A lost retransmission is
    /// detected only by the next ACK, so the period shrinks with the RTT.
    Spaced {
        /// The shortest period, also while the RTT is unknown.
        least: Duration,
        /// The longest period.
        most: Duration,
    },
}

/// Whether and when an ACK is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckDue {
    #[default]
    Nothing,
    Now,
    By(Instant),
}

impl AckDue {
    /// Returns the ACK due by `at`, or earlier if it was due earlier.
    pub(crate) fn by(self, at: Instant) -> Self {
        match self {
            Self::Nothing => Self::By(at),
            Self::By(before) => Self::By(before.min(at)),
            Self::Now => Self::Now,
        }
    }
}

impl Acking {
    /// Decides about the ACK of an in-order segment with no hole before or after, for a policy without state. `exceeds_segment`
    /// returns whether more than one full segment is unacknowledged.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few instructions, called for every data segment")]
    pub(crate) fn on_data(self, now: Instant, due: AckDue, exceeds_segment: impl FnOnce() -> bool) -> AckDue {
        match (self, due) {
            // ns-2 counts segments, not bytes: a pending ACK makes the next one immediate.
            (Self::SecondSegment(delay), AckDue::Nothing) => AckDue::By(now + delay),
            (Self::Delayed(delay), _) if !exceeds_segment() => due.by(now + delay),
            _ => AckDue::Now,
        }
    }
}
