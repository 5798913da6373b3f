//! What happens, and in which order.

use crate::ids::LinkId;
use crate::packet_pool::SlotId;
use crate::timestamp::Timestamp;
use earlybird_units::Instant;

/// What happens; simultaneous events happen in this order, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EventKind {
    /// A link may send its next packet.
    Service = 0,
    /// An endpoint's timer, set long before.
    Timer = 1,
    /// The first packet in a link's pipe reaches the far end.
    Arrival = 2,
    /// An endpoint's timer, set while what arrives now was on its way already: ns-2 keeps the order in which events were set.
    ShortTimer = 3,
    /// A packet that a link kept back reaches the far end, behind those that pass it.
    Release = 4,
    /// An application's wake-up.
    Wake = 5,
    /// A measurement.
    Probe = 6,
}

/// Something that happens to the packet in whose slot it is, or to the link, held_id, endpoint or application of a number. Events
/// are ordered by time, ns-2's opinion on ties, kind and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimEvent {
    pub(crate) timestamp: Timestamp,
    /// What decides where times are equal: ns-2's opinion (24 bits), kind (8), number (32).
    rank: u64,
    /// The event behind it in its list, while it is in one.
    pub(crate) next: SlotId,
}

impl SimEvent {
    /// Stands where nothing is to happen.
    pub(crate) const NONE: Self = Self { timestamp: Timestamp::ZERO, rank: 0, next: SlotId::NONE };

    /// Makes an event that concerns no packet.
    pub(crate) fn new(timestamp: Timestamp, kind: EventKind, number: u32) -> Self {
        let timestamp = Timestamp::from_tie_break(timestamp.at, timestamp.tie_break());
        Self { timestamp, rank: Self::rank(timestamp, kind, number), next: SlotId::NONE }
    }

    /// Turns it into the arrival of a packet at the far end of a link, at the moment that stands there.
    #[inline]
    pub(crate) fn become_arrival(&mut self, link: LinkId) {
        self.rank = Self::rank(self.timestamp, EventKind::Arrival, link.0);
    }

    #[inline]
    fn rank(timestamp: Timestamp, kind: EventKind, number: u32) -> u64 {
        u64::from(timestamp.tie_break()) << 40 | (kind as u64) << 32 | u64::from(number)
    }

    /// Returns time and rank as one number, by which events are ordered: it is compared in two instructions.
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

    /// Returns whether its kind is [`EventKind::Arrival`], as that of most.
    #[inline]
    pub(crate) fn is_arrival(&self) -> bool {
        (self.rank >> 32) as u8 == EventKind::Arrival as u8
    }

    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.rank as u32
    }
}
