//! Packets are read back as they were written.

use crate::arbitrary::{V4, V6, addresses, packet, segments, styles};
use earlybird_wire::{
    CannotEmit, Checksums, Datagram, Ecn, Flags, HEADERS_MAX, Layout, Parsed, Segment, Style, emit, emit_bare,
    emit_datagram_headers, emit_headers, parse, parse_bare,
};
use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_is_emitted_is_parsed_back(
        segment in segments(),
        addresses in addresses(),
        style in styles(),
        payload in vec(any::<u8>(), 0..1500),
        split in any::<prop::sample::Index>(),
    ) {
        let mut bytes = [0; 1700];
        let (first, second) = payload.split_at(split.index(payload.len() + 1));
        let length = emit(&segment, &addresses, style, [first, second], &mut bytes).unwrap();
        let parsed = parse(&bytes[..length], Checksums::Verify).unwrap();
        let start = length - payload.len();
        prop_assert_eq!(&bytes[start..length], &payload);
        let segment = Segment { len: payload.len() as u16, ..segment };
        let urgent = segment.flags.contains(Flags::URG).then_some(0);
        let payload_at = start..length;
        let expected =
            Parsed { segment, addresses, payload: payload_at, signature: None, urgent, has_broken_options: false };
        prop_assert_eq!(parsed, expected);
        // Behind the packet a frame may have padding.
        prop_assert_eq!(parse(&bytes, Checksums::Verify).unwrap().segment, segment);

        let mut headers = [0; HEADERS_MAX];
        prop_assert_eq!(emit_headers(&segment, &addresses, style, &payload, &mut headers), Ok(start));
        prop_assert_eq!(&headers[..start], &bytes[..start]);
        let ip = if addresses.source.is_ipv4() { 20 } else { 40 };
        match style.layout {
            Layout::Aligned => prop_assert_eq!(start, ip + 20 + segment.options.wire_len()),
            Layout::Linux => prop_assert!(start <= ip + 20 + segment.options.wire_len()),
        }
    }

    /// A segment by itself is the packet's body but for the checksum, which is zero, and is read as one.
    #[test]
    fn a_segment_without_ip_header_is_parsed_back(
        segment in segments(),
        addresses in addresses(),
        style in styles(),
        payload in vec(any::<u8>(), 0..1400),
        split in any::<prop::sample::Index>(),
    ) {
        let (mut packet, mut bare) = ([0; 1700], [0; 1700]);
        let (first, second) = payload.split_at(split.index(payload.len() + 1));
        let end = emit(&segment, &addresses, style, [first, second], &mut packet).unwrap();
        let length = emit_bare(&segment, &addresses, style.layout, [first, second], &mut bare).unwrap();
        let start = end - length;
        packet[start + 16..start + 18].fill(0);
        prop_assert_eq!(&bare[..length], &packet[start..end]);
        let from_packet = parse(&packet[..end], Checksums::Ignore).unwrap();
        let parsed = parse_bare(&bare[..length], addresses.source, addresses.destination, segment.ecn).unwrap();
        prop_assert_eq!(&bare[parsed.payload.clone()], &payload);
        let payload_at = parsed.payload.start + start..parsed.payload.end + start;
        prop_assert_eq!(Parsed { payload: payload_at, ..parsed }, from_packet);
        let short = &mut bare[..length - 1];
        let ends = [first, second];
        prop_assert_eq!(emit_bare(&segment, &addresses, style.layout, ends, short), Err(CannotEmit::Length));
    }

    /// Another implementation reads the same and finds the same checksum.
    #[test]
    fn etherparse_agrees(
        segment in segments(),
        addresses in addresses(),
        style in styles(),
        payload in vec(any::<u8>(), 0..100),
    ) {
        let mut bytes = [0; 300];
        let length = emit(&segment, &addresses, style, [&payload, &[]], &mut bytes).unwrap();
        let headers = PacketHeaders::from_ip_slice(&bytes[..length]).unwrap();
        let Some(TransportHeader::Tcp(tcp)) = headers.transport else { panic!("not TCP") };
        let checksum = match headers.net.unwrap() {
            NetHeaders::Ipv4(ip, _) => {
                prop_assert_eq!(ip.calc_header_checksum(), ip.header_checksum);
                prop_assert_eq!(ip.identification, style.identification);
                tcp.calc_checksum_ipv4(&ip, &payload).unwrap()
            }
            NetHeaders::Ipv6(ip, _) => {
                prop_assert_eq!((ip.hop_limit, ip.flow_label.value()), (style.hop_limit, 0));
                tcp.calc_checksum_ipv6(&ip, &payload).unwrap()
            }
            NetHeaders::Arp(_) => panic!("not IP"),
        };
        prop_assert_eq!(tcp.checksum, checksum);
        prop_assert_eq!(tcp.sequence_number, segment.seq.0);
    }
}

#[test]
fn a_datagram_has_its_headers_and_its_mark() {
    let datagram = Datagram { len: 3, ecn: Ecn::Congested, ..Datagram::default() };
    let mut bytes = [0; HEADERS_MAX];
    for (addresses, ip) in [(V4, 20), (V6, 40)] {
        let length = emit_datagram_headers(&datagram, &addresses, Style::default(), &[1, 2, 3], &mut bytes).unwrap();
        assert_eq!(length, ip + 8);
        // Ports 5001 and 80, length 11 (RFC 768).
        assert_eq!(bytes[ip..ip + 6], [0x13, 0x89, 0, 80, 0, 11]);
        let with_payload = [&bytes[..length], &[1, 2, 3]].concat();
        let headers = PacketHeaders::from_ip_slice(&with_payload).unwrap();
        let Some(TransportHeader::Udp(udp)) = headers.transport else { panic!("not UDP") };
        let (ecn, checksum) = match headers.net.unwrap() {
            NetHeaders::Ipv4(ip, _) => (ip.ecn.value(), udp.calc_checksum_ipv4(&ip, &[1, 2, 3]).unwrap()),
            NetHeaders::Ipv6(ip, _) => (ip.ecn().value(), udp.calc_checksum_ipv6(&ip, &[1, 2, 3]).unwrap()),
            NetHeaders::Arp(_) => panic!("not IP"),
        };
        assert_eq!((ecn, checksum), (3, udp.checksum));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let segment = Segment::default();
    let style = Style::default();
    let mixed = earlybird_wire::Addresses { destination: V6.destination, ..V4 };
    let (payload, mut into) = (vec![0; 65_536], vec![0; 70_000]);
    let mut emit = |addresses, payload, room| emit(&segment, addresses, style, [payload, &[]], &mut into[..room]);
    assert_eq!(emit(&mixed, &[], 70_000), Err(CannotEmit::Families));
    assert_eq!(emit(&V4, &payload[..65_496], 70_000), Err(CannotEmit::Length));
    assert_eq!(emit(&V4, &payload[..65_495], 70_000), Ok(65_535));
    assert_eq!(emit(&V6, &payload[..65_516], 70_000), Err(CannotEmit::Length));
    assert_eq!(emit(&V6, &payload[..65_515], 70_000), Ok(65_575));
    assert_eq!(emit(&V4, &payload[..10], 49), Err(CannotEmit::Length));
    assert_eq!(emit(&V4, &payload[..10], 50), Ok(50));
    assert_eq!(packet(&segment, &V4, &[]).len(), 40);
}
