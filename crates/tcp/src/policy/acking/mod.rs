//! When the receiver acknowledges.

pub(crate) mod adaptive;
pub(crate) mod spaced;

use earlybird_units::{Duration, Instant};

/// When to acknowledge data. What is out of order, fills a gap or ends the stream is always acknowledged at once
/// (RFC 5681 §4.2), but for [`Self::Spaced`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acking {
    /// Every segment at once.
    #[default]
    EverySegment,
    /// Every second segment at once, however short; a single one after this delay at the latest, as ns-2's sink does
    /// (`DelAckSink`): a segment is single if it ends all that arrived and no ACK waits, be it that it came before.
    SecondSegment(Duration),
    /// At once what is more than one full segment, anything after this delay at the latest (RFC 5681 §4.2, RFC 9293
    /// §3.8.6.3).
    Delayed(Duration),
    /// As Linux does: every segment at first, after a pause and after something came twice; then more than one full segment
    /// at once and anything after a delay between 40 and 200 ms, by how densely segments come; where answers are sent soon,
    /// with them.
    Adaptive,
    /// One ACK in a quarter of a round trip at most, but not less or more than this, for senders that find losses by time and count no
    /// ACKs (SRT's period of ACKs; the idea of draft-ietf-tcpm-ack-rate-request). At once goes that of a segment that comes later
    /// than that after the last ACK, that tells of a new hole or is the next one behind it, as the news may get lost, or that is
    /// the first after a rest; all others with the next one that does, or when nothing else came for such a rest: round trips
    /// seem longer by less. A repair that is lost in its turn is missed when the ACK that lacks it comes: the shorter the way,
    /// the sooner it has to.
    Spaced {
        /// The time between two ACKs over the shortest of ways, and where the round trip is not known.
        least: Duration,
        /// That over long ones.
        most: Duration,
    },
}

/// Whether an ACK is owed, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckDue {
    #[default]
    Nothing,
    Now,
    By(Instant),
}

impl AckDue {
    /// Owes it by a time, or earlier if that was owed already.
    pub(crate) fn by(self, at: Instant) -> Self {
        match self {
            Self::Nothing => Self::By(at),
            Self::By(before) => Self::By(before.min(at)),
            Self::Now => Self::Now,
        }
    }
}

impl Acking {
    /// Decides after an arrival in order, which filled no hole and left none, where the policy remembers nothing.
    /// `exceeds_segment` says that more than one full segment is not acknowledged.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is a few instructions, and all payload comes by")]
    pub(crate) fn on_data(self, now: Instant, due: AckDue, exceeds_segment: impl FnOnce() -> bool) -> AckDue {
        match (self, due) {
            (Self::SecondSegment(delay), AckDue::Nothing) => AckDue::By(now + delay),
            (Self::Delayed(delay), _) if !exceeds_segment() => due.by(now + delay),
            _ => AckDue::Now,
        }
    }
}
