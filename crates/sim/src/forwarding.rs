//! Forwarding of packets from one endpoint to another.

mod event_driven;
mod reorder_buffer;

use crate::event_queue::EventQueue;
use crate::events::SimEvent;
use crate::ids::LinkId;
use crate::ids::SlotId;
use crate::network::{Hop, Network};
use crate::observer::{Observer, PacketEvent};
use crate::packet_pool::Slot;
use crate::payloads::Payloads;
use crate::timestamp::Timestamp;
use earlybird_units::Instant;
use reorder_buffer::ReorderBuffer;

/// The network, the packets in it, and the pending events.
#[derive(Debug)]
pub(crate) struct Forwarder<O> {
    pub(crate) now: Timestamp,
    pub(crate) events: EventQueue,
    pub(crate) network: Network,
    pub(crate) payloads: Payloads,
    reorder_buffer: ReorderBuffer,
    pub(crate) observer: O,
}

impl<O: Observer> Forwarder<O> {
    pub(crate) fn new(mut network: Network, observer: O) -> Self {
        network.classify_hops();
        let (events, payloads, reorder_buffer) = (EventQueue::default(), Payloads::default(), ReorderBuffer::default());
        Self { now: Timestamp::ZERO, events, network, payloads, reorder_buffer, observer }
    }

    /// Sends a packet that an endpoint has written.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    pub(crate) fn depart(&mut self, slot: SlotId) {
        self.events.pool.get_mut(slot).event.timestamp = self.now;
        if self.forward(slot) {
            // An endpoint that sends to itself.
            // It crosses no link, but its arrival is an event, so that it does not overtake events of the same time.
            self.schedule_arrival(LinkId(0), slot);
        }
    }

    /// Forwards a packet now. Returns whether it is at the end of its route.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called several times per packet")]
    pub(crate) fn forward(&mut self, slot: SlotId) -> bool {
        let step = self.network.first_hop(self.events.pool.get(slot).packet.route);
        // One bit decides the common case, an analytic link.
        if !step.needs_event() {
            self.carry(slot, step);
        } else if step != Hop::END {
            self.enqueue(step.link(), slot);
        }
        step == Hop::END
    }

    /// Carries a packet over its next links, as far as the analytic link model reaches.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    fn carry(&mut self, slot: SlotId, first: Hop) {
        let Slot { event: SimEvent { timestamp, .. }, packet } = self.events.pool.get_mut(slot);
        let mut step = first;
        loop {
            let entered = timestamp.at;
            if !self.network.link_mut(step.link()).accept(timestamp, packet) {
                return self.drop_at(step.link(), entered, slot);
            }
            if O::PACKETS {
                self.observer.on_packet(entered, PacketEvent::Entered(step.link()), packet);
            }
            // The route is consumed as the packet advances, so that its current hop is always the first one.
            packet.route = packet.route.rest();
            if !step.is_chained() {
                break;
            }
            step = self.network.first_hop(packet.route);
        }
        // Chained hops never end at a reordering link, so only the last link of the loop can be one.
        if self.network.link(step.link()).is_impaired {
            return self.exit_with_impairments(step.link(), slot);
        }
        self.schedule_arrival(step.link(), slot);
    }

    #[cold]
    fn drop_at(&mut self, link: LinkId, at: Instant, slot: SlotId) {
        let cause = self.network.link(link).drop_cause();
        // Drops are reported even without `Observer::PACKETS`: the tables of every run count them.
        self.observer.on_packet(at, PacketEvent::Dropped(link, cause), self.events.pool.set_free(slot));
    }

    /// Schedules the arrival of a packet at the far end of a link.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    fn schedule_arrival(&mut self, link: LinkId, slot: SlotId) {
        self.events.pool.get_mut(slot).event.become_arrival(link);
        self.events.push(slot);
    }
}
