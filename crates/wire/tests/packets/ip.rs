//! IP headers around a segment.

use crate::arbitrary::{V4, V6, packet};
use earlybird_wire::{Checksums, Malformed, Segment, parse};
use rstest::rstest;

/// A change to the bytes of a packet without options and payload; checksums are not looked at.
#[rstest]
#[case::unchanged(&[], Ok(()))]
#[case::another_version(&[(0, 0x55)], Err(Malformed::Version))]
#[case::header_shorter_than_can_be(&[(0, 0x44)], Err(Malformed::IpHeader))]
#[case::header_longer_than_the_packet(&[(0, 0x4F)], Err(Malformed::IpHeader))]
#[case::total_length_below_the_header(&[(3, 19)], Err(Malformed::IpLength))]
#[case::total_length_of_the_header_alone(&[(3, 20)], Err(Malformed::TcpHeader))]
#[case::total_length_beyond_the_packet(&[(3, 41)], Err(Malformed::IpLength))]
#[case::total_length_within_tcp(&[(3, 39)], Err(Malformed::TcpHeader))]
#[case::more_fragments(&[(6, 0x20)], Err(Malformed::Fragment))]
#[case::last_fragment(&[(7, 1)], Err(Malformed::Fragment))]
#[case::highest_offset(&[(6, 0x1F)], Err(Malformed::Fragment))]
#[case::may_be_fragmented(&[(6, 0)], Ok(()))]
#[case::udp(&[(9, 17)], Err(Malformed::Protocol(17)))]
#[case::icmp(&[(9, 1)], Err(Malformed::Protocol(1)))]
#[case::data_offset_below_the_header(&[(32, 0x40)], Err(Malformed::TcpHeader))]
#[case::data_offset_beyond_the_packet(&[(32, 0x60)], Err(Malformed::TcpHeader))]
fn an_ipv4_packet(#[case] changes: &[(usize, u8)], #[case] expected: Result<(), Malformed>) {
    let mut packet = packet(&Segment::default(), &V4, &[]);
    for &(place, byte) in changes {
        packet[place] = byte;
    }
    assert_eq!(parse(&packet, Checksums::Ignore).map(|_| ()), expected);
}

/// IP options of a router's test stand between the headers.
#[test]
fn ipv4_options_are_passed_over() {
    let mut bytes = packet(&Segment::default(), &V4, b"abc");
    bytes.splice(20..20, [1, 1, 1, 0]);
    (bytes[0], bytes[3]) = (0x46, bytes.len() as u8);
    let parsed = parse(&bytes, Checksums::Ignore).unwrap();
    assert_eq!((parsed.payload.clone(), &bytes[parsed.payload]), (44..47, b"abc".as_slice()));
    assert_eq!(parse(&bytes, Checksums::Verify), Err(Malformed::IpChecksum), "the options are part of the sum");
}

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// Extension headers, each with what follows it in its first byte, before a segment.
#[rstest]
#[case::none(TCP, &[], Ok(()))]
#[case::padding(HOP_BY_HOP, &[TCP, 0, 1, 4, 0, 0, 0, 0], Ok(()))]
#[case::pad1_only(HOP_BY_HOP, &[TCP, 0, 0, 0, 0, 0, 0, 0], Ok(()))]
#[case::router_alert(HOP_BY_HOP, &[TCP, 0, 5, 2, 0, 0, 1, 0], Ok(()))]
#[case::both(HOP_BY_HOP, &[DESTINATION, 0, 1, 4, 0, 0, 0, 0, TCP, 0, 1, 4, 0, 0, 0, 0], Ok(()))]
#[case::two_words(DESTINATION, &[TCP, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Ok(()))]
#[case::hop_by_hop_not_first(DESTINATION, &[HOP_BY_HOP, 0, 1, 4, 0, 0, 0, 0, TCP, 0, 1, 4, 0, 0, 0, 0], Err(Malformed::Extension(0)))]
#[case::an_option_that_must_be_known(DESTINATION, &[TCP, 0, 0x80, 4, 0, 0, 0, 0], Err(Malformed::Extension(60)))]
#[case::a_jumbogram(HOP_BY_HOP, &[TCP, 0, 0xC2, 4, 0, 1, 0, 0], Err(Malformed::Extension(0)))]
#[case::an_option_beyond_its_header(DESTINATION, &[TCP, 0, 1, 5, 0, 0, 0, 0], Err(Malformed::Extension(60)))]
#[case::an_option_without_length(DESTINATION, &[TCP, 0, 1, 3, 0, 0, 0, 1], Err(Malformed::Extension(60)))]
#[case::longer_than_the_packet(DESTINATION, &[TCP, 200, 1, 4, 0, 0, 0, 0], Err(Malformed::IpHeader))]
#[case::routing(ROUTING, &[TCP, 0, 0, 0, 0, 0, 0, 0], Err(Malformed::Extension(43)))]
#[case::authentication(51, &[TCP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Err(Malformed::Extension(51)))]
#[case::whole_in_a_fragment(FRAGMENT, &[TCP, 0, 0, 0, 0, 0, 0, 0], Err(Malformed::Fragment))]
#[case::experimental(253, &[TCP, 0, 1, 4, 0, 0, 0, 0], Err(Malformed::Extension(253)))]
#[case::nothing_next(59, &[], Err(Malformed::Protocol(59)))]
#[case::icmp_of_the_other_family(1, &[], Err(Malformed::Protocol(1)))]
fn an_ipv6_packet(#[case] next: u8, #[case] extensions: &[u8], #[case] expected: Result<(), Malformed>) {
    let mut bytes = packet(&Segment::default(), &V6, b"abc");
    bytes.splice(40..40, extensions.iter().copied());
    (bytes[5], bytes[6]) = ((bytes.len() - 40) as u8, next);
    let parsed = parse(&bytes, Checksums::Verify);
    assert_eq!(parsed.as_ref().map(|_| ()).map_err(|&reason| reason), expected);
    if let Ok(parsed) = parsed {
        assert_eq!((&bytes[parsed.payload], parsed.addresses), (b"abc".as_slice(), V6));
    }
}

#[rstest]
#[case::beyond_the_packet(24, Err(Malformed::IpLength))]
#[case::whole(23, Ok(()))]
#[case::within_tcp(19, Err(Malformed::TcpHeader))]
#[case::nothing(0, Err(Malformed::TcpHeader))]
fn a_payload_length_of_ipv6(#[case] length: u8, #[case] expected: Result<(), Malformed>) {
    let mut bytes = packet(&Segment::default(), &V6, b"abc");
    bytes[5] = length;
    assert_eq!(parse(&bytes, Checksums::Ignore).map(|_| ()), expected);
}
