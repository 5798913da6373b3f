use earlybird_tcp::{Assembler, Connection, Cx, Event, Ring};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, Checksums, HEADERS_MAX, Style, emit, parse};
use std::collections::VecDeque;

/// A connection with the bytes on both its sides.
#[derive(Debug)]
pub struct Session {
    /// The endpoint.
    pub connection: Connection,
    /// From us to the peer.
    addresses: Addresses,
    outgoing: Ring,
    incoming: Assembler,
    /// What the endpoint told and was not asked for yet.
    pub events: VecDeque<Event>,
}

/// Bytes that may wait on each side.
const BUFFER: usize = 16 << 20;

impl Session {
    /// Makes a session; `addresses` are those of what it sends.
    pub fn new(connection: Connection, addresses: Addresses) -> Self {
        let (outgoing, incoming) = (Ring::new(BUFFER), Assembler::new(BUFFER));
        Self { connection, addresses, outgoing, incoming, events: VecDeque::new() }
    }

    /// Takes a packet from the network; what is not for this connection is left alone.
    pub fn on_packet(&mut self, now: Instant, packet: &[u8]) {
        let Ok(parsed) = parse(packet, Checksums::Verify) else { return };
        let expected = Addresses { ..self.addresses.reversed() };
        let is_ours = parsed.addresses.destination_port == expected.destination_port
            && parsed.addresses.destination == expected.destination;
        if !is_ours {
            return;
        }
        self.addresses = parsed.addresses.reversed();
        let payload = &packet[parsed.payload];
        let taken = self.connection.on_segment(&mut Cx { now, trace: &mut () }, &parsed.segment);
        if !taken.stream.is_empty() {
            self.incoming.put(taken.stream, &payload[usize::from(taken.skip)..]);
        }
    }

    /// Acts on deadlines, and gives the next packet to send.
    pub fn next_packet(&mut self, now: Instant) -> Option<Vec<u8>> {
        let cx = &mut Cx { now, trace: &mut () };
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.connection.on_timeout(cx);
        }
        let transmit = self.connection.poll_transmit(cx);
        self.events.extend(std::iter::from_fn(|| self.connection.poll_event()));
        let transmit = transmit?;
        self.outgoing.forget_below(self.connection.acknowledged().min(self.outgoing.written()));
        let payload = if transmit.data.is_empty() { [&[][..]; 2] } else { self.outgoing.slices(transmit.data)? };
        let mut packet = vec![0; HEADERS_MAX + payload.concat().len()];
        let len = emit(&transmit.segment, &self.addresses, Style::default(), payload, &mut packet).ok()?;
        packet.truncate(len);
        Some(packet)
    }

    /// Writes as much as fits; gives how many bytes that were.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        self.outgoing.forget_below(self.connection.acknowledged().min(self.outgoing.written()));
        let fits = bytes.len().min(self.outgoing.room());
        let taken = self.connection.write(fits as u64).unwrap_or(0) as usize;
        self.outgoing.append(&bytes[..taken])
    }

    /// Reads what is there.
    pub fn read(&mut self) -> Vec<u8> {
        let count = self.connection.read(u64::MAX) as usize;
        let mut bytes = vec![0; count];
        let read = self.incoming.read(&mut bytes);
        bytes.truncate(read);
        bytes
    }
}
