//! Serialising and parsing with round-trip checks.

use earlybird_wire::{Addresses, CannotEmit, Checksums, Malformed, Parsed, Segment, Style, emit, parse};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const V4: Addresses = Addresses {
    source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    destination: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
    source_port: 40_000,
    destination_port: 80,
};

const V6: Addresses = Addresses {
    source: IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    destination: IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
    ..V4
};

pub(crate) const fn addresses(is_v6: bool) -> Addresses {
    if is_v6 { V6 } else { V4 }
}

/// Serialises a segment with its payload.
pub(crate) fn write(segment: &Segment, addresses: &Addresses, payload: &[u8]) -> Result<Vec<u8>, CannotEmit> {
    let mut packet = vec![0; earlybird_wire::HEADERS_MAX + payload.len()];
    let length = emit(segment, addresses, Style::default(), [payload, &[]], &mut packet)?;
    packet.truncate(length);
    Ok(packet)
}

/// Parses a packet, and checks that it is equal after another round trip.
pub(crate) fn read(packet: &[u8], checksums: Checksums) -> Result<Parsed, Malformed> {
    let parsed = parse(packet, checksums)?;
    let payload = &packet[parsed.payload.clone()];
    assert_eq!(payload.len(), usize::from(parsed.segment.len));
    match write(&parsed.segment, &parsed.addresses, payload) {
        Ok(rewritten) => {
            let reread = parse(&rewritten, Checksums::Verify).expect("what is written can be read");
            assert_eq!((reread.segment, reread.addresses), (parsed.segment, parsed.addresses));
            assert_eq!(&rewritten[reread.payload], payload);
        }
        // Options are padded when they are written, which may exceed the header; with longer options, the payload may exceed an
        // IPv6 packet.
        Err(error) => assert!(matches!(error, CannotEmit::Options | CannotEmit::Length)),
    }
    Ok(parsed)
}
