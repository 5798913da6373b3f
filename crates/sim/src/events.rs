//! What happens, and in which order.

use crate::ids::LinkId;
use crate::moment::Moment;
use crate::slots::Place;
use earlybird_units::Instant;

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

/// Something that happens to the packet in whose slot it is, or to the link, ticket, endpoint or application of a number. Events
/// are ordered by time, ns-2's opinion on ties, kind and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) moment: Moment,
    /// What decides where times are equal: ns-2's opinion (24 bits), kind (8), number (32).
    rank: u64,
    /// The event behind it in its list, while it is in one.
    pub(crate) next: Place,
}

impl Event {
    /// Stands where nothing is to happen.
    pub(crate) const NONE: Self = Self { moment: Moment::ZERO, rank: 0, next: Place::NONE };

    /// Makes an event that concerns no packet.
    pub(crate) fn new(moment: Moment, kind: Kind, number: u32) -> Self {
        let moment = Moment::from_tie_order(moment.at, moment.tie_order());
        Self { moment, rank: Self::rank(moment, kind, number), next: Place::NONE }
    }

    /// Turns it into the arrival of a packet at the far end of a link, at the moment that stands there.
    #[inline]
    pub(crate) fn become_arrival(&mut self, link: LinkId) {
        self.rank = Self::rank(self.moment, Kind::Arrival, link.0);
    }

    #[inline]
    fn rank(moment: Moment, kind: Kind, number: u32) -> u64 {
        u64::from(moment.tie_order()) << 40 | (kind as u64) << 32 | u64::from(number)
    }

    /// Returns time and rank as one number, by which events are ordered: it is compared in two instructions.
    #[inline]
    pub(crate) fn key(&self) -> u128 {
        u128::from(self.moment.at.as_nanos()) << 64 | u128::from(self.rank)
    }

    #[inline]
    pub(crate) fn at(&self) -> Instant {
        self.moment.at
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

    /// Returns whether its kind is [`Kind::Arrival`], as that of most.
    #[inline]
    pub(crate) fn is_arrival(&self) -> bool {
        (self.rank >> 32) as u8 == Kind::Arrival as u8
    }

    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.rank as u32
    }
}
