//! Reports about packets.

use crate::arbitrary::{V4, V6, addresses, packet};
use earlybird_wire::{
    Addresses, Checksums, Icmp, IcmpError, Malformed, Segment, SeqNum, Unreachable, emit_icmp, parse_icmp,
};
use proptest::prelude::*;
use rstest::rstest;
use std::net::IpAddr;

const SEQ: SeqNum = SeqNum(0x0102_0304);

fn router(addresses: &Addresses) -> IpAddr {
    if addresses.source.is_ipv4() {
        [192, 0, 2, 1].into()
    } else {
        [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9].into()
    }
}

fn report(trouble: IcmpError, addresses: &Addresses) -> Vec<u8> {
    let mut bytes = vec![0; 1500];
    let length = emit_icmp(
        trouble,
        &packet(&Segment { seq: SEQ, ..Segment::default() }, addresses, &[7; 1400]),
        router(addresses),
        &mut bytes,
    )
    .expect("it fits");
    bytes.truncate(length);
    bytes
}

fn troubles() -> impl Strategy<Value = IcmpError> {
    let reasons = prop::sample::select(vec![
        Unreachable::Network,
        Unreachable::Host,
        Unreachable::Protocol,
        Unreachable::Port,
        Unreachable::Prohibited,
        Unreachable::Other,
    ]);
    prop_oneof![
        (1280_u16..).prop_map(|mtu| IcmpError::TooBig { mtu }),
        reasons.prop_map(IcmpError::Unreachable),
        Just(IcmpError::TimeExceeded),
        Just(IcmpError::ParameterProblem),
    ]
}

proptest! {
    #[test]
    fn a_report_is_read_back_and_names_its_segment(trouble in troubles(), addresses in addresses()) {
        let parsed = parse_icmp(&report(trouble, &addresses), Checksums::Verify);
        prop_assert_eq!(parsed, Ok(Icmp { trouble, addresses, seq: SEQ, from: router(&addresses) }));
    }

    #[test]
    fn a_flipped_bit_in_a_report_is_noticed(trouble in troubles(), is_v4: bool, bit in any::<prop::sample::Index>()) {
        let mut bytes = report(trouble, if is_v4 { &V4 } else { &V6 });
        let start = if is_v4 { 20 } else { 40 };
        let bit = start * 8 + bit.index((bytes.len() - start) * 8);
        bytes[bit / 8] ^= 0x80 >> (bit % 8);
        prop_assert_eq!(parse_icmp(&bytes, Checksums::Verify), Err(Malformed::IcmpChecksum));
    }

    #[test]
    fn a_report_cut_anywhere_is_refused_or_read_but_never_panics(trouble in troubles(), is_v4: bool, length in 0_usize..120) {
        let mut bytes = report(trouble, if is_v4 { &V4 } else { &V6 });
        prop_assert!(parse_icmp(&bytes[..length], Checksums::Ignore).is_err());
        // The same with a length that fits what is left.
        bytes.truncate(length);
        let (place, headers) = if is_v4 { (2, 0) } else { (4, 40) };
        if let Some(field) = bytes.get_mut(place..place + 2) {
            field.copy_from_slice(&((length.saturating_sub(headers)) as u16).to_be_bytes());
        }
        let least = if is_v4 { 20 + 8 + 20 + 8 } else { 40 + 8 + 40 + 8 };
        prop_assert_eq!(parse_icmp(&bytes, Checksums::Ignore).is_ok(), length >= least);
    }
}

/// Types and codes of RFC 792, 1122 and 4443, with what stands behind the checksum.
#[rstest]
#[case::network(&V4, [3, 0], 0, IcmpError::Unreachable(Unreachable::Network), false)]
#[case::host(&V4, [3, 1], 0, IcmpError::Unreachable(Unreachable::Host), false)]
#[case::protocol(&V4, [3, 2], 0, IcmpError::Unreachable(Unreachable::Protocol), true)]
#[case::port(&V4, [3, 3], 0, IcmpError::Unreachable(Unreachable::Port), true)]
#[case::fragmentation_needed(&V4, [3, 4], 1400, IcmpError::TooBig { mtu: 1400 }, false)]
#[case::of_an_old_router(&V4, [3, 4], 0, IcmpError::TooBig { mtu: 1006 }, false)]
#[case::unused_bytes_before_the_mtu(&V4, [3, 4], 0xFFFF_0578, IcmpError::TooBig { mtu: 1400 }, false)]
#[case::source_route(&V4, [3, 5], 0, IcmpError::Unreachable(Unreachable::Network), false)]
#[case::filtered(&V4, [3, 13], 0, IcmpError::Unreachable(Unreachable::Prohibited), true)]
#[case::precedence(&V4, [3, 15], 0, IcmpError::Unreachable(Unreachable::Other), false)]
#[case::time(&V4, [11, 0], 0, IcmpError::TimeExceeded, false)]
#[case::parameter(&V4, [12, 0], 0, IcmpError::ParameterProblem, false)]
#[case::no_route(&V6, [1, 0], 0, IcmpError::Unreachable(Unreachable::Network), false)]
#[case::prohibited(&V6, [1, 1], 0, IcmpError::Unreachable(Unreachable::Prohibited), true)]
#[case::address(&V6, [1, 3], 0, IcmpError::Unreachable(Unreachable::Host), false)]
#[case::port_v6(&V6, [1, 4], 0, IcmpError::Unreachable(Unreachable::Port), true)]
#[case::reject(&V6, [1, 6], 0, IcmpError::Unreachable(Unreachable::Prohibited), true)]
#[case::too_big(&V6, [2, 0], 1280, IcmpError::TooBig { mtu: 1280 }, false)]
#[case::beyond_16_bits(&V6, [2, 0], 100_000, IcmpError::TooBig { mtu: 65_535 }, false)]
#[case::hops(&V6, [3, 0], 0, IcmpError::TimeExceeded, false)]
#[case::next_header(&V6, [4, 1], 0, IcmpError::Unreachable(Unreachable::Protocol), true)]
#[case::header_field(&V6, [4, 0], 0, IcmpError::ParameterProblem, false)]
fn a_code(
    #[case] addresses: &Addresses,
    #[case] code: [u8; 2],
    #[case] field: u32,
    #[case] expected: IcmpError,
    #[case] is_hard: bool,
) {
    let bytes = with_code(addresses, code, field);
    assert_eq!(parse_icmp(&bytes, Checksums::Ignore).unwrap().trouble, expected);
    assert_eq!(expected.is_hard(), is_hard);
}

fn with_code(addresses: &Addresses, code: [u8; 2], field: u32) -> Vec<u8> {
    let mut bytes = report(IcmpError::TimeExceeded, addresses);
    let start = if addresses.source.is_ipv4() { 20 } else { 40 };
    bytes[start..start + 2].copy_from_slice(&code);
    bytes[start + 4..start + 8].copy_from_slice(&field.to_be_bytes());
    bytes
}

#[rstest]
#[case::echo(&V4, [8, 0], 0, Malformed::IcmpKind(8))]
#[case::redirect(&V4, [5, 0], 0, Malformed::IcmpKind(5))]
#[case::source_quench(&V4, [4, 0], 0, Malformed::IcmpKind(4))]
#[case::neighbour(&V6, [135, 0], 0, Malformed::IcmpKind(135))]
#[case::a_link_of_67_bytes(&V4, [3, 4], 67, Malformed::IcmpUnbelievable)]
#[case::a_link_of_1279_bytes(&V6, [2, 0], 1279, Malformed::IcmpUnbelievable)]
fn what_is_no_report(
    #[case] addresses: &Addresses,
    #[case] code: [u8; 2],
    #[case] field: u32,
    #[case] expected: Malformed,
) {
    assert_eq!(parse_icmp(&with_code(addresses, code, field), Checksums::Ignore), Err(expected));
}

#[test]
fn a_report_about_somebody_elses_packet_is_refused() {
    for (addresses, place) in [(V4, 20 + 8 + 15), (V6, 40 + 8 + 23)] {
        let mut bytes = report(IcmpError::TimeExceeded, &addresses);
        bytes[place] ^= 1;
        assert_eq!(parse_icmp(&bytes, Checksums::Ignore), Err(Malformed::IcmpUnbelievable));
    }
}

#[test]
fn a_report_about_another_protocol_is_refused() {
    for (addresses, place) in [(V4, 20 + 8 + 9), (V6, 40 + 8 + 6)] {
        let mut bytes = report(IcmpError::TimeExceeded, &addresses);
        bytes[place] = 17;
        assert_eq!(parse_icmp(&bytes, Checksums::Ignore), Err(Malformed::Protocol(17)));
    }
}

#[test]
fn a_segment_is_no_report_and_a_report_no_segment() {
    assert_eq!(parse_icmp(&packet(&Segment::default(), &V4, &[]), Checksums::Verify), Err(Malformed::Protocol(6)));
    let report = report(IcmpError::TimeExceeded, &V4);
    assert_eq!(earlybird_wire::parse(&report, Checksums::Verify), Err(Malformed::Protocol(1)));
}
