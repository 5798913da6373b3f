//! The pool of packets in the network and of pending events.

use crate::events::SimEvent;
use crate::ids::{RouteId, SlotId};
use crate::packet::{Content, Packet};
use earlybird_wire::Segment;

/// A packet with its next event, or an event without a packet (then `packet` is stale).
///
/// A packet waits for one event at a time, which is stored beside the fields that links read: that is one cache line, and
/// nothing is moved from one link to the next.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) event: SimEvent,
    pub(crate) packet: Packet,
}

impl Slot {
    fn vacant() -> Self {
        // Most packets are segments, so a new slot is ready for one without a change of variant.
        let content = Content::Segment(Segment::default());
        Self { event: SimEvent::NONE, packet: Packet::external(RouteId(0), 0, content) }
    }
}

/// All slots. Free ones are reused, the last one first, so that they stay in the cache: rings of packets per link would be
/// walked through from end to end.
#[derive(Debug)]
pub(crate) struct PacketPool {
    all: Vec<Slot>,
    /// The list of free slots, and the number of slots in use.
    free: SlotId,
    taken: usize,
}

impl Default for PacketPool {
    fn default() -> Self {
        Self { all: Vec::new(), free: SlotId::NONE, taken: 0 }
    }
}

impl PacketPool {
    #[inline]
    pub(crate) fn get(&self, id: SlotId) -> &Slot {
        &self.all[id.index()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.all[id.index()]
    }

    /// Takes a free slot.
    pub(crate) fn take(&mut self) -> SlotId {
        self.fill(|_| Some(())).map_or(SlotId::NONE, |(id, ())| id)
    }

    /// Takes a free slot if `write` writes a packet into it. In place, because packets are large to copy. Also returns what
    /// `write` returns.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every packet")]
    pub(crate) fn fill<T>(&mut self, write: impl FnOnce(&mut Packet) -> Option<T>) -> Option<(SlotId, T)> {
        if self.free == SlotId::NONE {
            self.grow();
        }
        let id = self.free;
        let slot = &mut self.all[id.index()];
        let written = write(&mut slot.packet)?;
        // The slot leaves the free list only after the writer succeeded: a refused packet costs nothing.
        self.free = slot.event.next;
        self.taken += 1;
        Some((id, written))
    }

    /// Frees a slot. Its packet can be read until the slot is taken again.
    #[inline]
    pub(crate) fn set_free(&mut self, id: SlotId) -> &Packet {
        let slot = &mut self.all[id.index()];
        // Last in, first out: the slot that was freed last is still in the cache.
        slot.event.next = std::mem::replace(&mut self.free, id);
        self.taken -= 1;
        &slot.packet
    }

    /// Returns the number of slots in use.
    pub(crate) fn len(&self) -> usize {
        self.taken
    }

    #[cold]
    fn grow(&mut self) {
        self.free = SlotId::from_number(self.all.len() as u32);
        self.all.push(Slot::vacant());
    }

    /// Inserts the event of a slot into a sorted list, after equal ones. A list is given by its first slot.
    #[inline]
    pub(crate) fn insert(&mut self, first: &mut SlotId, id: SlotId) {
        let key = self.get(id).event.key();
        let (mut before, mut next) = (SlotId::NONE, *first);
        // A bucket holds one or two events, so that a linear search is the fastest. `<=` keeps equal events in order of
        // insertion.
        while let Some(other) = self.all.get(next.index()).filter(|other| other.event.key() <= key) {
            (before, next) = (next, other.event.next);
        }
        self.get_mut(id).event.next = next;
        match self.all.get_mut(before.index()) {
            Some(before) => before.event.next = id,
            None => *first = id,
        }
    }

    /// Removes the first slot of a list if its event satisfies the condition.
    #[inline]
    pub(crate) fn take_first_if(
        &self,
        first: &mut SlotId,
        condition: impl FnOnce(&SimEvent) -> bool,
    ) -> Option<SlotId> {
        let slot = self.all.get(first.index()).filter(|slot| condition(&slot.event))?;
        Some(std::mem::replace(first, slot.event.next))
    }

    /// Removes the first slot of a list.
    pub(crate) fn take_first(&self, first: &mut SlotId) -> Option<SlotId> {
        self.take_first_if(first, |_| true)
    }
}
