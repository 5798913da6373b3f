//! Links that delay, reorder or duplicate packets.

use super::Forwarder;
use crate::events::{EventKind, SimEvent};
use crate::ids::LinkId;
use crate::ids::SlotId;
use crate::observer::{Observer, PacketEvent};
use crate::packet_pool::Slot;
use earlybird_units::Instant;

/// Packets that are held back, by number. Each has an event at its deadline, and perhaps one before.
#[derive(Debug, Default)]
pub(super) struct ReorderBuffer {
    places: Vec<HeldPacket>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct HeldPacket {
    /// `None` after the packet was released.
    packet: Option<SlotId>,
    deadline: Instant,
}

impl ReorderBuffer {
    fn keep(&mut self, packet: SlotId, deadline: Instant) -> u32 {
        let held = HeldPacket { packet: Some(packet), deadline };
        if let Some(held_id) = self.free.pop() {
            self.places[held_id as usize] = held;
            return held_id;
        }
        self.places.push(held);
        self.places.len() as u32 - 1
    }

    /// Returns the packet if it is still held. Its number is free again after its deadline, which is its last event.
    fn release(&mut self, held_id: u32, now: Instant) -> Option<SlotId> {
        let held = &mut self.places[held_id as usize];
        // Only the deadline event frees the id: an earlier release leaves that event pending with the same id.
        if held.deadline == now {
            self.free.push(held_id);
        }
        held.packet.take()
    }
}

impl<O: Observer> Forwarder<O> {
    /// Delivers a packet, and perhaps a copy, at the far end of a link that delays, reorders or duplicates.
    pub(super) fn exit_with_impairments(&mut self, link: LinkId, slot: SlotId) {
        let Slot { event: SimEvent { timestamp, .. }, packet } = *self.events.pool.get(slot);
        let is_doubled = self.network.impairments_mut(link).is_duplicated(&packet);
        // The copy draws its own delay, as in netem, where it is enqueued once more.
        self.exit_or_hold(link, slot);
        if is_doubled {
            self.observer.on_packet(timestamp.at, PacketEvent::Duplicated(link), &packet);
            let copy = self.events.pool.take();
            let copied = self.events.pool.get_mut(copy);
            (copied.packet, copied.event.timestamp) = (packet, timestamp);
            self.payloads.duplicate(slot, copy);
            self.exit_or_hold(link, copy);
        }
    }

    fn exit_or_hold(&mut self, link: LinkId, slot: SlotId) {
        let Slot { event: SimEvent { timestamp, .. }, packet } = *self.events.pool.get(slot);
        let impairments = self.network.impairments_mut(link);
        let arrival = impairments.delayed(timestamp, &packet);
        self.events.pool.get_mut(slot).event.timestamp = arrival;
        if let Some(delay) = impairments.hold_delay(&packet) {
            // Held packets are not in the event list of the link, so that others can pass.
            let due = arrival.after(delay, delay.as_secs_f64());
            let held_id = self.reorder_buffer.keep(slot, due.at);
            impairments.wait(held_id, due.at);
            self.events.schedule(SimEvent::new(due, EventKind::Release, held_id));
            return;
        }
        for held_id in impairments.pass(arrival.at, &packet) {
            self.events.schedule(SimEvent::new(arrival, EventKind::Release, held_id));
        }
        self.schedule_arrival(link, slot);
    }

    /// Returns a held packet as one that arrives now, if it was not released before.
    pub(crate) fn release_held(&mut self, held_id: u32) -> Option<SlotId> {
        let slot = self.reorder_buffer.release(held_id, self.now.at)?;
        self.events.pool.get_mut(slot).event.timestamp = self.now;
        Some(slot)
    }
}
