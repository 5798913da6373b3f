//! Events and their total order.

use crate::ids::LinkId;
use crate::ids::SlotId;
use crate::timestamp::Timestamp;
use earlybird_units::Instant;

/// The kind of an event. Simultaneous events are handled in this order, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventKind {
    /// An event-driven link can send its next packet.
    Service = 0,
    /// A timer of an endpoint that was set before the packets that arrive now were sent.
    Timer = 1,
    /// A packet reaches the far end of a link.
    Arrival = 2,
    /// A timer that was set after the packets that arrive now were sent: ns-2 orders simultaneous events by when they were set.
    ShortTimer = 3,
    /// A packet that a link held for reordering reaches the far end, after those that pass it.
    Release = 4,
    /// The wake-up of an application.
    Wake = 5,
    /// A sample or the end of the warm-up.
    Probe = 6,
}

/// An event of the packet in its slot, or of a link, held packet, endpoint or application by number. Events
/// are ordered by time, ns-2's opinion on ties, kind and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimEvent {
    pub(crate) timestamp: Timestamp,
    /// The tie break of equal times: bits of ns-2's clock (24 bits), kind (8), number (32).
    rank: u64,
    /// The event behind it in its list, while it is in one.
    pub(crate) next: SlotId,
}

impl SimEvent {
    /// The event of a free slot.
    pub(crate) const NONE: Self = Self { timestamp: Timestamp::ZERO, rank: 0, next: SlotId::NONE };

    /// Makes an event without a packet.
    pub(crate) fn new(timestamp: Timestamp, kind: EventKind, number: u32) -> Self {
        let timestamp = Timestamp::from_tie_break(timestamp.at, timestamp.tie_break());
        Self { timestamp, rank: Self::rank(timestamp, kind, number), next: SlotId::NONE }
    }

    /// Makes it the arrival at the far end of a link, at the timestamp that it has.
    #[inline]
    pub(crate) fn become_arrival(&mut self, link: LinkId) {
        self.rank = Self::rank(self.timestamp, EventKind::Arrival, link.0);
    }

    #[inline]
    fn rank(timestamp: Timestamp, kind: EventKind, number: u32) -> u64 {
        u64::from(timestamp.tie_break()) << 40 | (kind as u64) << 32 | u64::from(number)
    }

    /// Returns time and tie break as one number, which two instructions compare.
    #[inline]
    pub(crate) fn key(&self) -> u128 {
        u128::from(self.timestamp.at.as_nanos()) << 64 | u128::from(self.rank)
    }

    #[inline]
    pub(crate) fn at(&self) -> Instant {
        self.timestamp.at
    }

    #[inline]
    pub(crate) fn kind(&self) -> EventKind {
        match (self.rank >> 32) as u8 {
            0 => EventKind::Service,
            1 => EventKind::Timer,
            2 => EventKind::Arrival,
            3 => EventKind::ShortTimer,
            4 => EventKind::Release,
            5 => EventKind::Wake,
            _ => EventKind::Probe,
        }
    }

    /// Returns whether its kind is [`EventKind::Arrival`], the most frequent one.
    #[inline]
    pub(crate) fn is_arrival(&self) -> bool {
        (self.rank >> 32) as u8 == EventKind::Arrival as u8
    }

    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.rank as u32
    }
}
