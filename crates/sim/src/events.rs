//! The event queue: a binary heap of 128-bit keys, each of which is the event.

use crate::moment::Moment;
use earlybird_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

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

/// An event: time (64 bits), ns-2's opinion on ties (24), kind (8), number of the link, ticket, endpoint or application (32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event(u128);

impl Event {
    pub(crate) fn new(moment: Moment, kind: Kind, number: u32) -> Self {
        let time = u128::from(moment.at.as_nanos()) << 64 | u128::from(moment.tie_order()) << 40;
        Self(time | (kind as u128) << 32 | u128::from(number))
    }

    pub(crate) fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    pub(crate) fn moment(self) -> Moment {
        Moment::from_tie_order(self.at(), (self.0 >> 40) as u32 & ((1 << Moment::TIE_BITS) - 1))
    }

    pub(crate) fn kind(self) -> Kind {
        match (self.0 >> 32) as u8 {
            0 => Kind::Service,
            1 => Kind::Timer,
            2 => Kind::Arrival,
            3 => Kind::ShortTimer,
            4 => Kind::Straggler,
            5 => Kind::Wake,
            _ => Kind::Probe,
        }
    }

    pub(crate) fn number(self) -> u32 {
        self.0 as u32
    }
}

/// Events to come.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<Event>>,
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.heap.push(Reverse(event));
    }

    /// Gives the first event, and leaves it in place: call [`Self::replace_first`] or [`Self::remove_first`].
    pub(crate) fn first(&self) -> Option<Event> {
        self.heap.peek().map(|event| event.0)
    }

    /// Puts `event` in the place of the first one: cheaper than removing and pushing.
    pub(crate) fn replace_first(&mut self, event: Event) {
        if let Some(mut first) = self.heap.peek_mut() {
            first.0 = event;
        }
    }

    pub(crate) fn remove_first(&mut self) {
        if let Some(first) = self.heap.peek_mut() {
            PeekMut::pop(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simultaneous_events_come_by_kind_then_number_whatever_the_order_of_insertion() {
        let at = |nanos| Moment::fresh(Instant::from_nanos(nanos));
        let mut events = Events::default();
        for (kind, number) in [(Kind::Probe, 0), (Kind::Wake, 1), (Kind::Arrival, 9), (Kind::Arrival, 2)] {
            events.push(Event::new(at(5), kind, number));
        }
        events.push(Event::new(at(4), Kind::Probe, 7));
        let mut order = Vec::new();
        while let Some(event) = events.first() {
            events.remove_first();
            order.push((event.at().as_nanos(), event.kind(), event.number()));
        }
        let expected = [
            (4, Kind::Probe, 7),
            (5, Kind::Arrival, 2),
            (5, Kind::Arrival, 9),
            (5, Kind::Wake, 1),
            (5, Kind::Probe, 0),
        ];
        assert_eq!(order, expected);
    }
}
