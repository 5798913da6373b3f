//! Any segment, any addresses.

use earlybird_wire::{
    Addresses, Ecn, FastOpen, Flags, Layout, Options, SackBlock, Segment, SeqNum, SkipNotice, Style, Timestamps,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::net::IpAddr;

pub(crate) const V4: Addresses = Addresses {
    source: IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)),
    destination: IpAddr::V4(std::net::Ipv4Addr::new(10, 1, 0, 2)),
    source_port: 5001,
    destination_port: 80,
};

pub(crate) const V6: Addresses = Addresses {
    source: IpAddr::V6(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    destination: IpAddr::V6(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 2)),
    ..V4
};

/// The bytes of a packet between `addresses`.
pub(crate) fn packet(segment: &Segment, addresses: &Addresses, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 65_535];
    let length =
        earlybird_wire::emit(segment, addresses, Style::default(), [payload, &[]], &mut bytes).expect("it fits");
    bytes.truncate(length);
    bytes
}

pub(crate) fn addresses() -> impl Strategy<Value = Addresses> {
    let pairs = prop_oneof![
        any::<([u8; 4], [u8; 4])>().prop_map(|(source, destination)| (IpAddr::from(source), IpAddr::from(destination))),
        any::<([u8; 16], [u8; 16])>()
            .prop_map(|(source, destination)| (IpAddr::from(source), IpAddr::from(destination))),
    ];
    (pairs, any::<(u16, u16)>()).prop_map(|((source, destination), (source_port, destination_port))| Addresses {
        source,
        destination,
        source_port,
        destination_port,
    })
}

pub(crate) fn styles() -> impl Strategy<Value = Style> {
    let layouts = prop_oneof![Just(Layout::Linux), Just(Layout::Aligned)];
    (layouts, any::<u8>(), any::<u16>(), any::<bool>()).prop_map(
        |(layout, hop_limit, identification, dont_fragment)| Style {
            layout,
            hop_limit,
            identification,
            dont_fragment,
            partial_checksum: false,
        },
    )
}

fn notices() -> impl Strategy<Value = SkipNotice> {
    let skipped = any::<(u32, u32, u16)>().prop_map(|(total, first, segments)| SkipNotice::Skipped {
        total,
        first: SeqNum(first),
        segments,
    });
    prop_oneof![Just(SkipNotice::Offer), skipped]
}

pub(crate) fn fast_opens() -> impl Strategy<Value = FastOpen> {
    let cookies = vec(any::<u8>(), 2..=8)
        .prop_map(|half| FastOpen::cookie(&half.repeat(2)).expect("even and neither short nor long"));
    (prop_oneof![Just(FastOpen::REQUEST), cookies], any::<bool>())
        .prop_map(|(fast_open, is_experimental)| fast_open.experimental(is_experimental))
}

/// Options that fit into a header in either layout: the costly ones last, and only while there is room.
fn options(is_syn: bool) -> impl Strategy<Value = Options> {
    let plain = (option::of(1_u16..), option::of(0_u8..=14), any::<bool>(), option::of(any::<(u32, u32)>()));
    let blocks = vec(any::<(u32, u32)>(), 0..=4);
    (plain, option::of(notices()), blocks, option::of(fast_opens())).prop_map(
        move |((mss, window_scale, sack_permitted, stamps), notice, blocks, fast_open)| {
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let mss = mss.and_then(std::num::NonZeroU16::new);
            let mut options = Options { mss, window_scale, sack_permitted, timestamps, ..Options::default() };
            let with_notice = Options { skip_notice: notice, ..options };
            if with_notice.wire_len() <= 40 {
                options = with_notice;
            }
            if is_syn {
                let with_cookie = fast_open.map_or(options, |fast_open| options.with_fast_open(fast_open));
                return if with_cookie.wire_len() <= 40 { with_cookie } else { options };
            }
            let room = (40 - options.wire_len()).saturating_sub(4) / 8;
            for (left, right) in blocks.into_iter().take(room) {
                options.sack.push(SackBlock { left: SeqNum(left), right: SeqNum(right) });
            }
            options
        },
    )
}

/// A segment, without the length of a payload.
pub(crate) fn segments() -> impl Strategy<Value = Segment> {
    any::<(u32, u32, u16, u16, u8)>().prop_flat_map(|(seq, ack, window, flags, ecn)| {
        let flags = Flags::from_bits_truncate(flags);
        options(flags.contains(Flags::SYN)).prop_map(move |options| Segment {
            seq: SeqNum(seq),
            ack: SeqNum(ack),
            window,
            len: 0,
            flags,
            ecn: Ecn::from_bits(ecn),
            options,
        })
    })
}
