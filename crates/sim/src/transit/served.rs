//! How packets wait at links that are served packet by packet.

use super::Transit;
use crate::events::{Event, Kind};
use crate::ids::LinkId;
use crate::link::Offer;
use crate::observer::{DropCause, Observer, PacketEvent};
use crate::slots::{Place, Slot};

impl<O: Observer> Transit<O> {
    /// Puts a packet into the queue of a link that is served packet by packet.
    pub(super) fn queue_up(&mut self, link: LinkId, id: Place) {
        let packet = &mut self.events.slots.get_mut(id).packet;
        let served = self.network.link_mut(link);
        match served.offer(self.now, id, packet) {
            Offer::Lost => {
                self.observer.on_packet(self.now.at, PacketEvent::Dropped(link, DropCause::Loss), packet);
                self.events.slots.set_free(id);
            }
            Offer::Accepted if O::PACKETS => {
                self.observer.on_packet(self.now.at, PacketEvent::Entered(link), packet);
            }
            Offer::Accepted | Offer::Refused => {}
        }
        self.clear_dropped(link);
        match self.network.link_mut(link).wake(self.now) {
            Some(moment) if moment == self.now => self.serve_link(link),
            Some(moment) => self.events.appoint(Event::new(moment, Kind::Service, link.0)),
            None => {}
        }
    }

    /// Sends what a link can send now.
    pub(crate) fn serve_link(&mut self, link: LinkId) {
        self.network.link_mut(link).begin_service(self.now.at);
        while let Some((waiting, arrival)) = self.network.link_mut(link).send(self.now) {
            let Slot { event, packet } = self.events.slots.get_mut(waiting.id);
            event.moment = arrival;
            packet.route = packet.route.rest();
            if waiting.is_marked {
                packet.mark();
                self.network.link_mut(link).count_mark(self.now.at, packet);
            }
            if self.network.link(link).is_impaired {
                self.leave_impaired(link, waiting.id);
            } else {
                self.push_into_pipe(link, waiting.id);
            }
        }
        self.clear_dropped(link);
        if let Some(next) = self.network.link_mut(link).end_service(self.now) {
            self.events.appoint(Event::new(next, Kind::Service, link.0));
        }
    }

    /// Does away with the packets that a queue has dropped.
    fn clear_dropped(&mut self, link: LinkId) {
        while let Some(waiting) = self.network.link_mut(link).pop_dropped() {
            let packet = self.events.slots.set_free(waiting.id);
            self.network.link_mut(link).count_drop(self.now.at, waiting.since, packet);
            self.observer.on_packet(self.now.at, PacketEvent::Dropped(link, DropCause::Queue), packet);
        }
    }
}
