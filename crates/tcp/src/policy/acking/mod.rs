//! When the receiver acknowledges.

pub(crate) mod adaptive;

use earlybird_units::{Duration, Instant};

/// When to acknowledge data. What is out of order, fills a gap or ends the stream is always acknowledged at once
/// (RFC 5681 §4.2).
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
    /// Decides after an arrival in order, which filled no hole and left none. `exceeds_segment` says that more than one full
    /// segment is not acknowledged.
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
