//! Queueing and service at event-driven links.

use super::Forwarder;
use crate::events::{EventKind, SimEvent};
use crate::ids::LinkId;
use crate::ids::SlotId;
use crate::link::EnqueueOutcome;
use crate::observer::{DropCause, Observer, PacketEvent};
use crate::packet_pool::Slot;

impl<O: Observer> Forwarder<O> {
    /// Enqueues a packet at an event-driven link, and starts the link if it is idle.
    pub(super) fn enqueue(&mut self, link: LinkId, id: SlotId) {
        let packet = &mut self.events.pool.get_mut(id).packet;
        let served = self.network.link_mut(link);
        match served.offer(self.now, id, packet) {
            EnqueueOutcome::Lost => {
                self.observer.on_packet(self.now.at, PacketEvent::Dropped(link, DropCause::Loss), packet);
                self.events.pool.set_free(id);
            }
            EnqueueOutcome::Accepted if O::PACKETS => {
                self.observer.on_packet(self.now.at, PacketEvent::Entered(link), packet);
            }
            EnqueueOutcome::Accepted | EnqueueOutcome::Refused => {}
        }
        // Enqueueing may drop other packets than the new one (head drop, FQ-CoDel's longest queue).
        self.discard_dropped(link);
        match self.network.link_mut(link).wake(self.now) {
            // An idle link with a rate serves at once: an event at the same time could be ordered after others.
            Some(timestamp) if timestamp == self.now => self.serve_link(link),
            Some(timestamp) => self.events.schedule(SimEvent::new(timestamp, EventKind::Service, link.0)),
            None => {}
        }
    }

    /// Sends the packets that an event-driven link can send now.
    pub(crate) fn serve_link(&mut self, link: LinkId) {
        self.network.link_mut(link).begin_service(self.now.at);
        while let Some((waiting, arrival)) = self.network.link_mut(link).send(self.now) {
            let id = SlotId::from_number(waiting.id);
            let Slot { event, packet } = self.events.pool.get_mut(id);
            event.timestamp = arrival;
            packet.route = packet.route.rest();
            // Marks are set on departure: CoDel and FQ-CoDel decide when they dequeue.
            if waiting.is_marked {
                packet.mark();
                self.network.link_mut(link).count_mark(self.now.at, waiting.since, packet);
            }
            self.network.link_mut(link).count_sent(packet);
            if self.network.link(link).is_impaired {
                self.exit_with_impairments(link, id);
            } else {
                self.schedule_arrival(link, id);
            }
        }
        self.discard_dropped(link);
        if let Some(next) = self.network.link_mut(link).end_service(self.now) {
            self.events.schedule(SimEvent::new(next, EventKind::Service, link.0));
        }
    }

    /// Frees the packets that a queue has dropped, and reports them.
    fn discard_dropped(&mut self, link: LinkId) {
        while let Some(waiting) = self.network.link_mut(link).pop_dropped() {
            let packet = self.events.pool.set_free(SlotId::from_number(waiting.id));
            self.network.link_mut(link).count_drop(self.now.at, waiting.since, packet);
            self.observer.on_packet(self.now.at, PacketEvent::Dropped(link, DropCause::Queue), packet);
        }
    }
}
