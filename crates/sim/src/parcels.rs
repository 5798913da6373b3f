//! Payloads of packets under way, where somebody will read them.

use std::collections::BTreeMap;

/// What is kept by ticket; see [`Packet::ticket`](crate::Packet::ticket). Ticket 0 is nobody's.
#[derive(Debug, Default)]
pub(crate) struct Parcels {
    last: u32,
    kept: BTreeMap<u32, Parcel>,
}

#[derive(Debug)]
struct Parcel {
    payload: Vec<u8>,
    /// Packets under way that carry it.
    packets: u32,
}

impl Parcels {
    /// Keeps the payload of a packet, and gives its ticket.
    pub(crate) fn put(&mut self, payload: Vec<u8>) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.kept.insert(self.last, Parcel { payload, packets: 1 });
        self.last
    }

    /// Learns that one more packet carries it.
    pub(crate) fn double(&mut self, ticket: u32) {
        if let Some(parcel) = self.kept.get_mut(&ticket) {
            parcel.packets += 1;
        }
    }

    /// Gives the payload of a packet that is under way no longer.
    pub(crate) fn take(&mut self, ticket: u32) -> Option<Vec<u8>> {
        let parcel = self.kept.get_mut(&ticket)?;
        parcel.packets -= 1;
        if parcel.packets > 0 {
            return Some(parcel.payload.clone());
        }
        self.kept.remove(&ticket).map(|parcel| parcel.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_kept_until_the_last_packet_with_it_is_gone() {
        let mut parcels = Parcels::default();
        let [first, second] = [vec![1], vec![2]].map(|payload| parcels.put(payload));
        parcels.double(first);
        let taken = [first, second, first, first, 0].map(|ticket| parcels.take(ticket));
        assert_eq!(taken, [Some(vec![1]), Some(vec![2]), Some(vec![1]), None, None]);
        assert!(parcels.kept.is_empty());
    }
}
