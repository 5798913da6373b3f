//! Bytes that claim to be packets.

use crate::Counts;
use crate::packets::{addresses, read, write};
use earlybird_wire::{Checksums, Icmp, Segment, emit_icmp, parse_icmp};

/// A packet of any bytes, whose checksums are not looked at.
///
/// # Panics
///
/// Where something does not hold.
pub fn parse(data: &[u8], counts: &mut Counts) {
    counts.packet("any bytes");
    if let Err(reason) = read(data, Checksums::Ignore) {
        counts.refuse(reason);
    }
}

/// A sound packet, the first byte of the bytes being its flags and the rest its options.
///
/// # Panics
///
/// Where something does not hold.
pub fn options(data: &[u8], counts: &mut Counts) {
    counts.packet("any options");
    let Some((&flags, options)) = data.split_first() else {
        return;
    };
    let length = options.len().min(40).next_multiple_of(4);
    let Ok(mut packet) = write(&Segment::default(), &addresses(false), &vec![0; length]) else {
        unreachable!("an empty segment fits");
    };
    packet[33] = flags;
    packet[32] = (5 + length as u8 / 4) << 4;
    packet[40..].iter_mut().zip(options).for_each(|(place, byte)| *place = *byte);
    let parsed = read(&packet, Checksums::Ignore).expect("the headers are sound");
    assert!(parsed.payload.is_empty());
}

/// A report of any bytes about a segment.
///
/// # Panics
///
/// Where something does not hold.
pub fn icmp(data: &[u8], counts: &mut Counts) {
    counts.packet("any report");
    match parse_icmp(data, Checksums::Ignore) {
        Ok(icmp) => assert_eq!(parse_icmp(&report(&icmp), Checksums::Verify), Ok(icmp)),
        Err(reason) => counts.refuse(reason),
    }
}

/// Writes the same report anew.
fn report(icmp: &Icmp) -> Vec<u8> {
    let segment = Segment { seq: icmp.seq, ..Segment::default() };
    let mut report = vec![0; 1280];
    let length = write(&segment, &icmp.addresses, &[])
        .and_then(|packet| emit_icmp(icmp.trouble, &packet, icmp.from, &mut report))
        .expect("it was read from a packet");
    report.truncate(length);
    report
}
