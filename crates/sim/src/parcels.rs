//! Payloads of packets under way, where somebody will read them.

use crate::slots::Place;

/// What is kept by the packet's slot.
///
/// What was in a slot before is overwritten or never asked for, so that nobody who drops a packet has to know of it: only
/// those read a payload to whom one is written.
#[derive(Debug, Default)]
pub(crate) struct Parcels {
    kept: Vec<Vec<u8>>,
}

impl Parcels {
    /// Keeps the payload of a packet.
    pub(crate) fn put(&mut self, place: Place, payload: Vec<u8>) {
        if self.kept.len() <= place.index() {
            self.kept.resize_with(place.index() + 1, Vec::new);
        }
        self.kept[place.index()] = payload;
    }

    /// Returns a copy of a packet the same payload, if it has one.
    pub(crate) fn double(&mut self, place: Place, copy: Place) {
        if let Some(payload) = self.kept.get(place.index()) {
            self.put(copy, payload.clone());
        }
    }

    /// Returns the payload of a packet that has come.
    pub(crate) fn take(&mut self, place: Place) -> Vec<u8> {
        self.kept.get_mut(place.index()).map(std::mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_stays_with_its_packet_and_with_its_copy() {
        let mut parcels = Parcels::default();
        let [first, copy, last] = [3, 5, 9].map(Place::numbered);
        parcels.put(first, vec![1]);
        parcels.put(last, vec![2]);
        parcels.double(first, copy);
        assert_eq!([first, copy, last].map(|place| parcels.take(place)), [vec![1], vec![1], vec![2]]);
        assert!(parcels.take(first).is_empty() && parcels.take(Place::numbered(99)).is_empty());
    }

    #[test]
    fn a_slot_used_again_has_the_payload_of_today() {
        let mut parcels = Parcels::default();
        let place = Place::numbered(0);
        parcels.put(place, vec![1]);
        parcels.put(place, vec![2]);
        assert_eq!(parcels.take(place), [2]);
    }
}
