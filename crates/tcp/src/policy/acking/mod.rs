//! When the receiver acknowledges.

pub(crate) mod adaptive;

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
    /// Decides after an arrival in order, which filled no hole and left none. `exceeds_segment` says that more than one full
    /// segment is not acknowledged.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is a few instructions, and all payload comes by")]
    ///
    /// `last` is when the last segment came before this one, and when the last ACK left; `round_trip` is asked for by
    /// [`Self::Spaced`] only.
    pub(crate) fn on_data(
        self,
        now: Instant,
        due: AckDue,
        last: (Instant, Instant),
        round_trip: Option<Duration>,
        exceeds_segment: impl FnOnce() -> bool,
    ) -> AckDue {
        match (self, due) {
            (Self::SecondSegment(delay), AckDue::Nothing) => AckDue::By(now + delay),
            (Self::Delayed(delay), _) if !exceeds_segment() => due.by(now + delay),
            (Self::Spaced { least, most }, _) => {
                spaced(now, due, last, round_trip.map_or(least, |round_trip| (round_trip / 4).clamp(least, most)))
            }
            _ => AckDue::Now,
        }
    }
}

/// A pause between segments after which none is held back for the next: some packets of 1316 bytes at 4 Mb/s.
const REST: Duration = Duration::from_millis(5);

/// Decides where ACKs keep their distance.
fn spaced(now: Instant, due: AckDue, (arrived, told): (Instant, Instant), gap: Duration) -> AckDue {
    match due {
        AckDue::Now => AckDue::Now,
        _ if now - arrived > REST || now - told >= gap => AckDue::Now,
        _ => AckDue::By((told + gap).min(now + REST)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn spaced_by(millis: u64) -> Acking {
        Acking::Spaced { least: Duration::from_millis(millis), most: Duration::from_millis(millis) }
    }

    #[test]
    fn spaced_acks_keep_a_quarter_of_a_round_trip_apart_within_their_limits() {
        let acking = Acking::Spaced { least: Duration::from_millis(10), most: Duration::from_millis(25) };
        for (round_trip, gap) in [(None, 10), (Some(30), 10), (Some(60), 15), (Some(200), 25)] {
            let round_trip = round_trip.map(Duration::from_millis);
            let due_at =
                |millis| acking.on_data(at(millis), AckDue::Nothing, (at(millis - 1), at(100)), round_trip, || true);
            assert_eq!(due_at(99 + gap), AckDue::By(at(100 + gap)), "{round_trip:?}");
            assert_eq!(due_at(100 + gap), AckDue::Now, "{round_trip:?}");
        }
    }

    #[test]
    fn spaced_acks_wait_while_segments_come_densely_and_not_for_long() {
        let acking = spaced_by(20);
        let due_at = |millis, arrived, due| acking.on_data(at(millis), due, (at(arrived), at(100)), None, || true);
        assert_eq!(due_at(110, 107, AckDue::Nothing), AckDue::By(at(115)), "though it is more than one segment");
        assert_eq!(due_at(113, 110, AckDue::By(at(115))), AckDue::By(at(118)), "another one came");
        assert_eq!(due_at(117, 113, AckDue::By(at(118))), AckDue::By(at(120)));
        assert_eq!(due_at(120, 117, AckDue::By(at(120))), AckDue::Now, "the time has passed");
        assert_eq!(due_at(110, 104, AckDue::Nothing), AckDue::Now, "it came alone");
        assert_eq!(due_at(105, 104, AckDue::Now), AckDue::Now, "what is owed already stays so");
    }
}
