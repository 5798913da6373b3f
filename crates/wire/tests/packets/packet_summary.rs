//! Packets as a router reads and writes them.

use crate::arbitrary::{addresses, packet, segments};
use earlybird_wire::{Checksums, Ecn, Malformed, PacketSummary, mark_congested, parse};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    /// A router reads the same fields as a host; a marked packet differs in the mark only.
    #[test]
    fn a_router_reads_what_a_host_does_and_changes_nothing_but_the_mark(
        segment in segments(),
        addresses in addresses(),
        payload in vec(any::<u8>(), 0..1400),
    ) {
        let mut packet = packet(&segment, &addresses, &payload);
        let parsed = parse(&packet, Checksums::Verify).unwrap();
        let summary = PacketSummary::read(&packet).unwrap();
        prop_assert_eq!((summary.source, summary.destination), (addresses.source, addresses.destination));
        prop_assert_eq!(summary.ports, Some([addresses.source_port, addresses.destination_port]));
        prop_assert_eq!((summary.payload, summary.ecn), (Some(payload.len() as u16), segment.ecn));
        mark_congested(&mut packet);
        let marked = parse(&packet, Checksums::Verify).unwrap();
        prop_assert_eq!(marked.segment.ecn, Ecn::Congested);
        prop_assert_eq!(
            (earlybird_wire::Segment { ecn: segment.ecn, ..marked.segment }, marked.payload),
            (parsed.segment, parsed.payload)
        );
    }

    /// Whatever the bytes, reading and marking them ends.
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in vec(any::<u8>(), 0..100), version in prop_oneof![Just(4_u8), Just(6), 0..16_u8]) {
        if let Some(first) = bytes.first_mut() {
            *first = version << 4 | *first & 0xf;
        }
        let before = PacketSummary::read(&bytes);
        mark_congested(&mut bytes);
        if let Ok(summary) = before {
            let expected = PacketSummary { ecn: Ecn::Congested, ..summary };
            prop_assert_eq!(PacketSummary::read(&bytes), Ok(expected));
        }
    }
}

#[test]
fn a_later_fragment_has_no_ports() {
    let mut packet = vec![0; 40];
    packet[..10].copy_from_slice(&[0x45, 0, 0, 40, 0, 7, 0x20, 0, 64, 6]);
    assert!(PacketSummary::read(&packet).unwrap().ports.is_some());
    packet[7] = 1;
    let summary = PacketSummary::read(&packet).unwrap();
    assert_eq!((summary.ports, summary.payload), (None, None));
    assert_eq!(PacketSummary::read(&packet[..19]), Err(Malformed::IpHeader));
}

proptest! {
    /// A segment that UDP carries is, to whoever knows of the carrier, what it would be in IP.
    #[test]
    fn a_segment_within_udp_is_read_as_if_ip_carried_it(
        segment in segments(),
        addresses in addresses(),
        payload in vec(any::<u8>(), 0..1400),
    ) {
        let packet = packet(&segment, &addresses, &payload);
        let plain = PacketSummary::read(&packet).unwrap();
        prop_assert_eq!(PacketSummary::read_udp_encapsulated(&packet), Ok(plain));
        let header = if addresses.source.is_ipv4() { usize::from(packet[0] & 0xf) * 4 } else { 40 };
        let mut carried = [&packet[..header], &[0x27, 0x0f, 0x27, 0x0f, 0, 0, 0, 0], &packet[header..]].concat();
        carried[if addresses.source.is_ipv4() { 9 } else { 6 }] = 17;
        let expected = PacketSummary { encapsulation: 8, ..plain };
        prop_assert_eq!(PacketSummary::read_udp_encapsulated(&carried), Ok(expected));
        prop_assert_eq!(PacketSummary::read(&carried).unwrap().ports, Some([9999, 9999]));
    }
}
