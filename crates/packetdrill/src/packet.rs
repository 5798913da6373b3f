//! Parses injected packets and serialises transmitted ones.

use earlybird_wire::{Addresses, Checksums, Icmp, Parsed, Segment, Style, emit, parse, parse_icmp};
use std::net::SocketAddr;

/// An injected packet.
pub(crate) enum Injected {
    Segment(Box<RxSegment>),
    Icmp(Icmp),
}

/// A received segment.
#[derive(Clone, Debug)]
pub(crate) struct RxSegment {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) segment: Segment,
    /// The urgent pointer: offset of the end of urgent data.
    pub(crate) urgent: Option<u16>,
}

impl RxSegment {
    pub(crate) fn addresses(&self) -> Addresses {
        addresses(self.from, self.to)
    }

    /// Returns the segment without payload.
    pub(crate) fn without_payload(&self) -> Segment {
        Segment { len: 0, ..self.segment }
    }
}

/// Parses a packet. Returns `None` for other protocols and for signed segments, as no connection has a key.
pub(crate) fn read(packet: &[u8]) -> Option<Injected> {
    if let Ok(icmp) = parse_icmp(packet, Checksums::Verify) {
        return Some(Injected::Icmp(icmp));
    }
    let Parsed { segment, addresses, signature, urgent, .. } = parse(packet, Checksums::Verify).ok()?;
    let from = SocketAddr::new(addresses.source, addresses.source_port);
    let to = SocketAddr::new(addresses.destination, addresses.destination_port);
    signature.is_none().then(|| Injected::Segment(Box::new(RxSegment { from, to, segment, urgent })))
}

fn addresses(from: SocketAddr, to: SocketAddr) -> Addresses {
    Addresses { source: from.ip(), destination: to.ip(), source_port: from.port(), destination_port: to.port() }
}

/// Serialises a segment with its payload.
pub(crate) fn write(from: SocketAddr, to: SocketAddr, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; earlybird_wire::HEADERS_MAX + payload.len()];
    let length = emit(segment, &addresses(from, to), Style::default(), [payload, &[]], &mut packet).unwrap_or(0);
    packet.truncate(length);
    packet
}
