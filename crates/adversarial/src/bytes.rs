//! Arbitrary bytes as packets.

use crate::Totals;
use crate::packets::{addresses, read, write};
use earlybird_wire::{Checksums, Icmp, Segment, emit_icmp, parse_icmp};

/// Parses arbitrary bytes, without verifying checksums.
///
/// # Panics
///
/// If an invariant is violated.
pub fn parse(data: &[u8], totals: &mut Totals) {
    totals.packet("any bytes");
    if let Err(reason) = read(data, Checksums::Ignore) {
        totals.refuse(reason);
    }
}

/// Parses a valid packet with arbitrary flags (the first byte) and options (the rest).
///
/// # Panics
///
/// If an invariant is violated.
pub fn options(data: &[u8], totals: &mut Totals) {
    totals.packet("any options");
    let Some((&flags, options)) = data.split_first() else {
        return;
    };
    let length = options.len().min(40).next_multiple_of(4);
    let Ok(mut packet) = write(&Segment::default(), &addresses(false), &vec![0; length]) else {
        unreachable!("an empty segment fits");
    };
    packet[33] = flags;
    // The data offset is in words of 32 bits; five are the header without options.
    packet[32] = (5 + length as u8 / 4) << 4;
    packet[40..].iter_mut().zip(options).for_each(|(place, byte)| *place = *byte);
    let parsed = read(&packet, Checksums::Ignore).expect("the headers are sound");
    assert!(parsed.payload.is_empty());
}

/// Parses arbitrary bytes as an ICMP message.
///
/// # Panics
///
/// If an invariant is violated.
pub fn icmp(data: &[u8], totals: &mut Totals) {
    totals.packet("any report");
    match parse_icmp(data, Checksums::Ignore) {
        Ok(icmp) => assert_eq!(parse_icmp(&report(&icmp), Checksums::Verify), Ok(icmp)),
        Err(reason) => totals.refuse(reason),
    }
}

/// Serialises the message again.
fn report(icmp: &Icmp) -> Vec<u8> {
    let segment = Segment { seq: icmp.seq, ..Segment::default() };
    let mut report = vec![0; 1280];
    let length = write(&segment, &icmp.addresses, &[])
        .and_then(|packet| emit_icmp(icmp.trouble, &packet, icmp.from, &mut report))
        .expect("it was read from a packet");
    report.truncate(length);
    report
}
