//! The connections, by number and by address.

use super::flow::Flow;
use earlybird_wire::Addresses;
use std::collections::HashMap;

/// Names a connection of a stack. That of one that is gone names no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    index: u32,
    generation: u32,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    flow: Option<Flow>,
}

/// All connections of a stack.
#[derive(Debug, Default)]
pub(super) struct Flows {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_addresses: HashMap<Addresses, Id>,
}

impl Flows {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn find(&self, addresses: &Addresses) -> Option<Id> {
        self.by_addresses.get(addresses).copied()
    }

    pub(super) fn get(&self, id: Id) -> Option<&Flow> {
        let slot = self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        slot.flow.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut Flow> {
        let slot = self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        slot.flow.as_mut()
    }

    pub(super) fn insert(&mut self, flow: Flow) -> Id {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        let id = Id { index, generation: slot.generation };
        self.by_addresses.insert(flow.addresses, id);
        slot.flow = Some(flow);
        id
    }

    /// Takes a connection out of the table: what comes between these addresses is for others. It keeps its number.
    pub(super) fn make_way(&mut self, id: Id) {
        let Some(addresses) = self.get(id).map(|flow| flow.addresses) else { return };
        if self.find(&addresses) == Some(id) {
            self.by_addresses.remove(&addresses);
        }
    }

    pub(super) fn remove(&mut self, id: Id) {
        self.make_way(id);
        if self.get(id).is_some() {
            let slot = &mut self.slots[id.index as usize];
            slot.flow = None;
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(id.index);
        }
    }
}
