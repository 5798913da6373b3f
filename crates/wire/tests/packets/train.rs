//! Segments joined for a device, and divided as a device does it.

use crate::arbitrary::addresses;
use earlybird_wire::{
    Addresses, Checksums, Flags, HEADERS_MAX, Options, Segment, SeqNum, Style, Timestamps, Train, emit, parse,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn packet(segment: &Segment, addresses: &Addresses, payload: &[u8], partial_checksum: bool) -> Vec<u8> {
    let mut bytes = vec![0; HEADERS_MAX + payload.len()];
    let style = Style { partial_checksum, ..Style::default() };
    let len = emit(segment, addresses, style, [payload, &[]], &mut bytes).expect("it fits");
    bytes.truncate(len);
    bytes
}

/// Does what a device does: completes the checksum, whose field holds the sum of the pseudo header.
fn complete(mut packet: Vec<u8>, ip_len: usize) -> Vec<u8> {
    let sum: u64 = packet[ip_len..]
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u64::from))
        .sum();
    let folded = (0..4).fold(sum, |sum, _| (sum & 0xffff) + (sum >> 16));
    packet[ip_len + 16..ip_len + 18].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    packet
}

/// A segment of a transfer that goes on.
fn data(seq: u32, flags: Flags) -> Segment {
    let options = Options { timestamps: Some(Timestamps { value: 7, echo: 9 }), ..Options::default() };
    Segment { seq: SeqNum(seq), ack: SeqNum(5), flags, window: 100, options, ..Segment::default() }
}

proptest! {
    /// A device splits the whole into the segments that were joined.
    #[test]
    fn a_train_is_its_segments(
        addresses in addresses(),
        start in any::<u32>(),
        payloads in (1_usize..300, 1_usize..20, 0_usize..300),
        text in vec(any::<u8>(), 6000),
        ending in 0_u16..4,
    ) {
        let (size, count, last) = payloads;
        let lens = std::iter::repeat_n(size, count).chain((last > 0).then_some(last.min(size)));
        let total: usize = lens.clone().sum();
        let ending = Flags::ACK | [Flags::empty(), Flags::PSH, Flags::FIN, Flags::PSH | Flags::FIN][usize::from(ending)];
        let mut at = 0;
        let segments: Vec<(Segment, &[u8])> = lens.map(|len| {
            let flags = if at + len == total { ending } else { Flags::ACK };
            let part = (data(start.wrapping_add(at as u32), flags), &text[at..at + len]);
            at += len;
            part
        }).collect();
        let packets: Vec<_> = segments.iter().map(|(segment, text)| packet(segment, &addresses, text, true)).collect();
        let mut train = Train::new(&packets[0]).unwrap();
        for next in &packets[1..] {
            prop_assert!(train.take(next));
        }
        prop_assert_eq!((train.segment_size(), train.is_divided()), (size, packets.len() > 1));
        let (headers, len) = train.headers();
        let whole = [&headers[..len], &text[..total]].concat();
        let parsed = parse(&complete(whole, train.ip_len()), Checksums::Verify).unwrap();
        prop_assert_eq!(&parsed.segment, &Segment { len: total as u16, ..data(start, ending) });
        prop_assert_eq!(parsed.addresses, addresses);
        // Each by itself is complete too, once the device has done its part.
        for ((segment, text), alone) in segments.iter().zip(packets) {
            prop_assert_eq!(complete(alone, train.ip_len()), packet(segment, &addresses, text, false));
        }
    }
}

#[test]
fn what_is_no_part_of_it_is_not_taken() {
    let addresses = crate::arbitrary::V4;
    let write = |segment: Segment, len: usize| packet(&segment, &addresses, &vec![1; len], true);
    let first = write(data(100, Flags::ACK), 50);
    let takes = |next: &[u8]| Train::new(&first).unwrap().take(next);
    assert!(takes(&write(data(150, Flags::ACK), 50)));
    assert!(!takes(&write(data(151, Flags::ACK), 50)), "a hole");
    assert!(!takes(&write(data(150, Flags::ACK), 51)), "longer");
    assert!(!takes(&write(data(150, Flags::ACK), 0)), "empty");
    assert!(!takes(&write(data(150, Flags::ACK | Flags::CWR), 50)), "another flag");
    assert!(!takes(&write(Segment { ack: SeqNum(6), ..data(150, Flags::ACK) }, 50)), "another acknowledgement");
    assert!(!takes(&write(Segment { options: Options::default(), ..data(150, Flags::ACK) }, 50)), "other options");
    let other = Addresses { destination_port: 1, ..addresses };
    assert!(!takes(&packet(&data(150, Flags::ACK), &other, &[1; 50], true)), "another connection");
    for flags in [Flags::PSH, Flags::FIN, Flags::SYN, Flags::CWR] {
        let mut ended = Train::new(&write(data(100, Flags::ACK | flags), 50)).unwrap();
        assert!(!ended.take(&write(data(150, Flags::ACK | flags), 50)), "{flags:?} ends it");
    }
    let mut long = Train::new(&write(data(0, Flags::ACK), 1400)).unwrap();
    let count = (1..100).take_while(|number| long.take(&write(data(number * 1400, Flags::ACK), 1400))).count();
    assert_eq!(count + 1, (65_535 - 52) / 1400, "no packet is longer than IP allows");
}
