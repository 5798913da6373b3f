//! Packets that something on the way has harmed.

use crate::arbitrary::{V4, V6, addresses, packet, segments};
use earlybird_wire::{Checksums, Malformed, Segment, parse, parse_icmp};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes that no checksum covers: the version tells which, and IPv6 has none over its own header but through the pseudo header.
fn is_covered(bit: usize, packet: &[u8]) -> bool {
    let is_v4 = packet[0] >> 4 == 4;
    // Of IPv6's header: version, next header, lengths and addresses are; traffic class, flow label and hop limit are not.
    is_v4 || !matches!(bit, 4..32 | 56..64)
}

proptest! {
    #[test]
    fn a_flipped_bit_is_noticed(
        segment in segments(),
        addresses in addresses(),
        payload in vec(any::<u8>(), 0..100),
        bit in any::<prop::sample::Index>(),
    ) {
        let mut packet = packet(&segment, &addresses, &payload);
        let bit = bit.index(packet.len() * 8);
        prop_assume!(is_covered(bit, &packet));
        packet[bit / 8] ^= 0x80 >> (bit % 8);
        prop_assert!(parse(&packet, Checksums::Verify).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
    }

    #[test]
    fn a_packet_cut_short_is_refused(segment in segments(), addresses in addresses(), payload in vec(any::<u8>(), 0..60)) {
        let packet = packet(&segment, &addresses, &payload);
        for length in 0..packet.len() {
            for checksums in [Checksums::Verify, Checksums::Ignore] {
                prop_assert!(parse(&packet[..length], checksums).is_err(), "{} of {}", length, packet.len());
                prop_assert!(parse_icmp(&packet[..length], checksums).is_err());
            }
        }
    }

    #[test]
    fn parsing_any_bytes_never_panics(mut bytes in vec(any::<u8>(), 0..120), version in prop_oneof![Just(0x45), Just(0x60)]) {
        let _ = (parse(&bytes, Checksums::Ignore), parse_icmp(&bytes, Checksums::Ignore));
        if let Some(first) = bytes.first_mut() {
            *first = version;
        }
        let _ = (parse(&bytes, Checksums::Ignore), parse_icmp(&bytes, Checksums::Ignore));
    }
}

/// Every single bit of one packet of each family, so that none is left to chance.
#[test]
fn every_flipped_bit_is_noticed() {
    for addresses in [V4, V6] {
        let whole = packet(&Segment::default(), &addresses, b"payload");
        for bit in (0..whole.len() * 8).filter(|&bit| is_covered(bit, &whole)) {
            let mut harmed = whole.clone();
            harmed[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(parse(&harmed, Checksums::Verify).is_err(), "bit {bit} between {addresses:?}");
        }
    }
}

#[test]
fn a_wrong_checksum_is_reported_by_its_header_and_ignored_on_request() {
    let whole = packet(&Segment::default(), &V4, b"payload");
    let harm = |place: usize| {
        let mut harmed = whole.clone();
        harmed[place] ^= 1;
        (parse(&harmed, Checksums::Verify).err(), parse(&harmed, Checksums::Ignore).is_ok())
    };
    assert_eq!(harm(10), (Some(Malformed::IpChecksum), true));
    assert_eq!(harm(36), (Some(Malformed::TcpChecksum), true));
    assert_eq!(harm(44), (Some(Malformed::TcpChecksum), true), "a byte of the payload");
    let mut harmed = packet(&Segment::default(), &V6, b"payload");
    harmed[64] ^= 1;
    assert_eq!(parse(&harmed, Checksums::Verify), Err(Malformed::TcpChecksum));
}
