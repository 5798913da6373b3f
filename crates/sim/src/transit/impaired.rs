//! How packets leave links that do not keep their order.

use super::Transit;
use crate::events::{Event, Kind};
use crate::ids::LinkId;
use crate::observer::{Observer, PacketEvent};
use crate::slots::{Place, Slot};
use earlybird_units::Instant;

/// Packets that are kept back, by ticket. Each has an event of its own at its deadline, and perhaps one before.
#[derive(Debug, Default)]
pub(super) struct Stragglers {
    places: Vec<Straggler>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Straggler {
    /// None once it was set free.
    packet: Option<Place>,
    deadline: Instant,
}

impl Stragglers {
    fn keep(&mut self, packet: Place, deadline: Instant) -> u32 {
        let straggler = Straggler { packet: Some(packet), deadline };
        if let Some(ticket) = self.free.pop() {
            self.places[ticket as usize] = straggler;
            return ticket;
        }
        self.places.push(straggler);
        self.places.len() as u32 - 1
    }

    /// Returns the packet if it is still there. The ticket is free again after its deadline, which is its last event.
    fn release(&mut self, ticket: u32, now: Instant) -> Option<Place> {
        let straggler = &mut self.places[ticket as usize];
        if straggler.deadline == now {
            self.free.push(ticket);
        }
        straggler.packet.take()
    }
}

impl<O: Observer> Transit<O> {
    /// Lets a packet out that would reach the far end at the moment in its slot, and perhaps a copy.
    pub(super) fn leave_impaired(&mut self, link: LinkId, place: Place) {
        let Slot { event: Event { moment, .. }, packet } = *self.events.slots.get(place);
        let is_doubled = self.network.impairments_mut(link).doubles(&packet);
        self.leave_in_disorder(link, place);
        if is_doubled {
            self.observer.on_packet(moment.at, PacketEvent::Duplicated(link), &packet);
            let copy = self.events.slots.take();
            let slot = self.events.slots.get_mut(copy);
            (slot.packet, slot.event.moment) = (packet, moment);
            self.parcels.double(place, copy);
            self.leave_in_disorder(link, copy);
        }
    }

    fn leave_in_disorder(&mut self, link: LinkId, place: Place) {
        let Slot { event: Event { moment: arrival, .. }, packet } = *self.events.slots.get(place);
        let impairments = self.network.impairments_mut(link);
        if let Some(delay) = impairments.keeps_back(&packet) {
            let due = arrival.after(delay, delay.as_secs_f64());
            let ticket = self.stragglers.keep(place, due.at);
            impairments.wait(ticket, due.at);
            self.events.appoint(Event::new(due, Kind::Straggler, ticket));
            return;
        }
        for ticket in impairments.pass(arrival.at, &packet) {
            self.events.appoint(Event::new(arrival, Kind::Straggler, ticket));
        }
        self.push_into_pipe(link, place);
    }

    /// Returns the packet of a ticket, as one that comes now, if it is still kept back.
    pub(crate) fn release_straggler(&mut self, ticket: u32) -> Option<Place> {
        let place = self.stragglers.release(ticket, self.now.at)?;
        self.events.slots.get_mut(place).event.moment = self.now;
        Some(place)
    }
}
