//! The table of connections, by identifier and by address.

use super::connection_entry::ConnectionEntry;
use super::id::Id;
use earlybird_wire::Addresses;
use std::collections::HashMap;
use std::net::SocketAddr;

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    entry: Option<ConnectionEntry>,
}

/// All connections of a stack, in slots with generation numbers.
#[derive(Debug, Default)]
pub(super) struct ConnectionTable {
    slots: Vec<Slot>,
    // Slots to reuse. A vector of slots keeps lookups by identifier to one bounds check.
    free: Vec<u32>,
    by_addresses: HashMap<Addresses, Id>,
}

impl ConnectionTable {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn find(&self, addresses: &Addresses) -> Option<Id> {
        self.by_addresses.get(addresses).copied()
    }

    /// Returns the connections to a peer.
    pub(super) fn ids_towards(&self, remote: SocketAddr) -> Vec<Id> {
        let is_towards = |id: &Id| self.get(*id).is_some_and(|entry| entry.path.remote == remote);
        self.by_addresses.values().copied().filter(is_towards).collect()
    }

    pub(super) fn get(&self, id: Id) -> Option<&ConnectionEntry> {
        let slot = self.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        slot.entry.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut ConnectionEntry> {
        let slot = self.slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)?;
        slot.entry.as_mut()
    }

    pub(super) fn insert(&mut self, entry: ConnectionEntry) -> Id {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        let id = Id { index, generation: slot.generation };
        self.by_addresses.insert(entry.addresses, id);
        slot.entry = Some(entry);
        id
    }

    /// Removes a connection from the lookup by address, so that a new connection can use the same addresses. Its identifier stays
    /// valid.
    pub(super) fn unmap(&mut self, id: Id) {
        let Some(addresses) = self.get(id).map(|entry| entry.addresses) else { return };
        // The addresses may already belong to a successor.
        if self.find(&addresses) == Some(id) {
            self.by_addresses.remove(&addresses);
        }
    }

    pub(super) fn remove(&mut self, id: Id) {
        self.unmap(id);
        if self.get(id).is_some() {
            let slot = &mut self.slots[id.index as usize];
            slot.entry = None;
            // Invalidates all copies of the identifier, so that a late call cannot reach another connection.
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(id.index);
        }
    }
}
