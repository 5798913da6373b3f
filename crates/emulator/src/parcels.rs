//! The bytes of the packets that are on their way.

use crate::ways::Side;
use earlybird_sim::{Observer, Packet, PacketEvent};
use earlybird_units::Instant;

/// Bytes by external_id. Places are used again, with the room that they have grown to.
#[derive(Debug, Default)]
pub(crate) struct Parcels {
    all: Vec<Parcel>,
    free: Vec<u32>,
    /// Bytes of what is on its way.
    held: usize,
}

#[derive(Debug)]
struct Parcel {
    bytes: Vec<u8>,
    from: Side,
    /// Packets under way that carry it: links may double one.
    copies: u32,
}

impl Parcels {
    /// Keeps the bytes of a packet, and gives its external_id.
    pub(crate) fn keep(&mut self, from: Side, bytes: &[u8]) -> u32 {
        self.held += bytes.len();
        let external_id = self.free.pop().unwrap_or_else(|| self.grow(from));
        let parcel = &mut self.all[external_id as usize];
        (parcel.from, parcel.copies) = (from, 1);
        parcel.bytes.clear();
        parcel.bytes.extend_from_slice(bytes);
        external_id
    }

    fn grow(&mut self, from: Side) -> u32 {
        self.all.push(Parcel { bytes: Vec::new(), from, copies: 0 });
        self.all.len() as u32 - 1
    }

    /// Abandons one of the packets with this external_id. The bytes can be read until something else is kept.
    pub(crate) fn release(&mut self, external_id: u32) -> (Side, &mut [u8]) {
        let parcel = &mut self.all[external_id as usize];
        parcel.copies -= 1;
        if parcel.copies == 0 {
            self.held -= parcel.bytes.len();
            self.free.push(external_id);
        }
        (parcel.from, &mut parcel.bytes)
    }

    /// Returns how many bytes are on their way.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }
}

impl Observer for Parcels {
    fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Dropped(..) => {
                self.release(packet.external_id);
            }
            PacketEvent::Duplicated(_) => self.all[packet.external_id as usize].copies += 1,
            _ => {}
        }
    }
}
