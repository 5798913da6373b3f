//! Packets: what packetdrill injects is read, what leaves is written.

use earlybird_wire::{Addresses, Checksums, Icmp, Parsed, Segment, Style, emit, parse, parse_icmp};
use std::net::SocketAddr;

/// What packetdrill injects.
pub(crate) enum Injected {
    Segment(Box<Arrival>),
    Notice(Icmp),
}

/// A segment that came.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) segment: Segment,
    /// How far behind the segment's number its urgent data end.
    pub(crate) urgent: Option<u16>,
}

impl Arrival {
    pub(crate) fn addresses(&self) -> Addresses {
        addresses(self.from, self.to)
    }

    /// Returns the segment as if it carried nothing.
    pub(crate) fn without_payload(&self) -> Segment {
        Segment { len: 0, ..self.segment }
    }
}

/// Reads a packet; `None` if it is neither a segment nor a notice about one, or signed: no connection here has a key.
pub(crate) fn read(packet: &[u8]) -> Option<Injected> {
    if let Ok(notice) = parse_icmp(packet, Checksums::Verify) {
        return Some(Injected::Notice(notice));
    }
    let Parsed { segment, addresses, signature, urgent, .. } = parse(packet, Checksums::Verify).ok()?;
    let from = SocketAddr::new(addresses.source, addresses.source_port);
    let to = SocketAddr::new(addresses.destination, addresses.destination_port);
    signature.is_none().then(|| Injected::Segment(Box::new(Arrival { from, to, segment, urgent })))
}

fn addresses(from: SocketAddr, to: SocketAddr) -> Addresses {
    Addresses { source: from.ip(), destination: to.ip(), source_port: from.port(), destination_port: to.port() }
}

/// Writes a packet with a segment of these payload bytes.
pub(crate) fn write(from: SocketAddr, to: SocketAddr, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; earlybird_wire::HEADERS_MAX + payload.len()];
    let length = emit(segment, &addresses(from, to), Style::default(), [payload, &[]], &mut packet).unwrap_or(0);
    packet.truncate(length);
    packet
}
