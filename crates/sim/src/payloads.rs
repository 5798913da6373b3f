//! Payloads of packets in the network, for endpoints that read them.

use crate::ids::SlotId;

/// Payloads by slot number.
///
/// An old payload is overwritten or never read, so that code that drops a packet need not free it: only
/// endpoints that write payloads read them.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    kept: Vec<Vec<u8>>,
}

impl Payloads {
    /// Stores the payload of a packet.
    pub(crate) fn put(&mut self, slot: SlotId, payload: Vec<u8>) {
        // Slot numbers are dense, so that a vector is enough.
        if self.kept.len() <= slot.index() {
            self.kept.resize_with(slot.index() + 1, Vec::new);
        }
        self.kept[slot.index()] = payload;
    }

    /// Copies the payload of a packet to its duplicate.
    pub(crate) fn duplicate(&mut self, slot: SlotId, copy: SlotId) {
        if let Some(payload) = self.kept.get(slot.index()) {
            self.put(copy, payload.clone());
        }
    }

    /// Removes and returns the payload of a packet.
    pub(crate) fn take(&mut self, slot: SlotId) -> Vec<u8> {
        self.kept.get_mut(slot.index()).map(std::mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_stays_with_its_packet_and_with_its_copy() {
        let mut payloads = Payloads::default();
        let [first, copy, last] = [3, 5, 9].map(SlotId::from_number);
        payloads.put(first, vec![1]);
        payloads.put(last, vec![2]);
        payloads.duplicate(first, copy);
        assert_eq!([first, copy, last].map(|slot| payloads.take(slot)), [vec![1], vec![1], vec![2]]);
        assert!(payloads.take(first).is_empty() && payloads.take(SlotId::from_number(99)).is_empty());
    }

    #[test]
    fn a_reused_slot_has_the_payload_of_its_new_packet() {
        let mut payloads = Payloads::default();
        let slot = SlotId::from_number(0);
        payloads.put(slot, vec![1]);
        payloads.put(slot, vec![2]);
        assert_eq!(payloads.take(slot), [2]);
    }
}
