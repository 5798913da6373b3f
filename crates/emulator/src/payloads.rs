//! The bytes of packets in flight.

use crate::flow_routes::Side;
use earlybird_sim::{Observer, Packet, PacketEvent};
use earlybird_units::Instant;

/// The bytes of packets in flight, by the identifier that the simulator carries. Slots and their buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    all: Vec<Payload>,
    free: Vec<u32>,
    /// Total bytes in flight.
    bytes: usize,
}

#[derive(Debug)]
struct Payload {
    bytes: Vec<u8>,
    from: Side,
    /// The number of packets that carry it: links may duplicate one.
    copies: u32,
}

impl Payloads {
    /// Stores the bytes of a packet and returns their identifier.
    pub(crate) fn insert(&mut self, from: Side, bytes: &[u8]) -> u32 {
        self.bytes += bytes.len();
        let external_id = self.free.pop().unwrap_or_else(|| self.allocate(from));
        let payload = &mut self.all[external_id as usize];
        (payload.from, payload.copies) = (from, 1);
        // Keeps the capacity: no allocation per packet in steady state.
        payload.bytes.clear();
        payload.bytes.extend_from_slice(bytes);
        external_id
    }

    fn allocate(&mut self, from: Side) -> u32 {
        self.all.push(Payload { bytes: Vec::new(), from, copies: 0 });
        self.all.len() as u32 - 1
    }

    /// Releases one packet with this identifier. Its bytes stay valid until the next call of `insert`.
    pub(crate) fn release(&mut self, external_id: u32) -> (Side, &mut [u8]) {
        let payload = &mut self.all[external_id as usize];
        payload.copies -= 1;
        if payload.copies == 0 {
            self.bytes -= payload.bytes.len();
            self.free.push(external_id);
        }
        (payload.from, &mut payload.bytes)
    }

    /// Returns the total bytes in flight.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Observer for Payloads {
    fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Dropped(..) => {
                // The simulator dropped it: nothing will be delivered that frees the slot.
                self.release(packet.external_id);
            }
            PacketEvent::Duplicated(_) => self.all[packet.external_id as usize].copies += 1,
            _ => {}
        }
    }
}
