//! What happens, and in which order.

use crate::ids::LinkId;
use crate::moment::Moment;
use crate::packet::PacketId;
use earlybird_units::Instant;
use std::cmp::Ordering;

/// What happens; simultaneous events happen in this order, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A link may send its next packet.
    Service = 0,
    /// An endpoint's timer, set long before.
    Timer = 1,
    /// The first packet in a link's pipe reaches the far end.
    Arrival = 2,
    /// An endpoint's timer, set while what arrives now was on its way already: ns-2 keeps the order in which events were set.
    ShortTimer = 3,
    /// A packet that a link kept back reaches the far end, behind those that pass it.
    Straggler = 4,
    /// An application's wake-up.
    Wake = 5,
    /// A measurement.
    Probe = 6,
}

/// Something that happens to the link, ticket, endpoint or application of a number. Events are ordered by time, ns-2's opinion
/// on ties, kind and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    moment: Moment,
    /// What decides where times are equal: ns-2's opinion (24 bits), kind (8), number (32).
    rank: u64,
    packet: PacketId,
    /// The event behind it in its list, while it is in one: in here it takes no room, and both fill half a line of the cache.
    pub(crate) next: Place,
}

/// The place of an event among those that wait, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u32);

impl Place {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Gives an index, which lies beyond everything if there is none.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Event {
    /// Makes an event that concerns no packet.
    pub(crate) fn new(moment: Moment, kind: Kind, number: u32) -> Self {
        let moment = Moment::from_tie_order(moment.at, moment.tie_order());
        Self { packet: PacketId::NONE, ..Self::ranked(moment, kind, number) }
    }

    /// Makes the arrival of a packet at the far end of a link.
    #[inline]
    pub(crate) fn arrival(moment: Moment, link: LinkId, packet: PacketId) -> Self {
        Self { packet, ..Self::ranked(moment, Kind::Arrival, link.0) }
    }

    #[inline]
    fn ranked(moment: Moment, kind: Kind, number: u32) -> Self {
        let rank = u64::from(moment.tie_order()) << 40 | (kind as u64) << 32 | u64::from(number);
        Self { moment, rank, packet: PacketId::NONE, next: Place::NONE }
    }

    /// Gives time and rank as one number, which is compared in two instructions.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.moment.at.as_nanos()) << 64 | u128::from(self.rank)
    }

    #[inline]
    pub(crate) fn at(&self) -> Instant {
        self.moment.at
    }

    #[inline]
    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        match (self.rank >> 32) as u8 {
            0 => Kind::Service,
            1 => Kind::Timer,
            2 => Kind::Arrival,
            3 => Kind::ShortTimer,
            4 => Kind::Straggler,
            5 => Kind::Wake,
            _ => Kind::Probe,
        }
    }

    /// Says whether its kind is [`Kind::Arrival`], as that of most.
    #[inline]
    pub(crate) fn is_arrival(&self) -> bool {
        (self.rank >> 32) as u8 == Kind::Arrival as u8
    }

    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.rank as u32
    }

    /// Gives the packet that arrives.
    #[inline]
    pub(crate) fn packet(&self) -> PacketId {
        self.packet
    }
}

impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Event {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}
