//! Options, byte by byte.

use crate::arbitrary::{V4, fast_opens, packet};
use earlybird_wire::{
    CannotEmit, Checksums, FastOpen, Flags, HEADERS_MAX, Layout, Options, Parsed, SackBlock, Segment, SeqNum,
    Signature, SkipNotice, Style, Timestamps, emit_headers, parse,
};
use proptest::prelude::*;
use rstest::rstest;
use std::num::NonZeroU16;

const STAMPS: Timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };

fn syn(sack_permitted: bool, stamped: bool) -> Segment {
    let options = Options {
        mss: NonZeroU16::new(1460),
        window_scale: Some(7),
        sack_permitted,
        timestamps: stamped.then_some(STAMPS),
        ..Options::default()
    };
    Segment { flags: Flags::SYN, options, ..Segment::default() }
}

fn written(segment: &Segment, layout: Layout) -> Vec<u8> {
    let mut bytes = [0; HEADERS_MAX];
    let style = Style { layout, ..Style::default() };
    let length = emit_headers(segment, &V4, style, &[], &mut bytes).expect("they fit");
    bytes[40..length].to_vec()
}

/// Reads a segment with these bytes as its options.
fn read(options: &[u8], flags: Flags) -> Parsed {
    let length = options.len().next_multiple_of(4);
    let mut bytes = packet(&Segment { flags, ..Segment::default() }, &V4, &vec![0; length]);
    bytes[40..40 + options.len()].copy_from_slice(options);
    bytes[32] = (((20 + length) / 4) << 4) as u8;
    parse(&bytes, Checksums::Ignore).expect("the headers are sound")
}

const MSS: &[u8] = &[2, 4, 5, 180];
const SCALE: &[u8] = &[1, 3, 3, 7];
const STAMP: &[u8] = &[8, 10, 1, 2, 3, 4, 5, 6, 7, 8];

#[rstest]
#[case::all(true, true, &[MSS, &[4, 2], STAMP, SCALE])]
#[case::without_timestamps(true, false, &[MSS, &[1, 1, 4, 2], SCALE])]
#[case::without_sack(false, true, &[MSS, &[1, 1], STAMP, SCALE])]
#[case::plain(false, false, &[MSS, SCALE])]
fn a_syn_has_the_order_of_linux(#[case] sack: bool, #[case] stamped: bool, #[case] expected: &[&[u8]]) {
    let segment = syn(sack, stamped);
    assert_eq!(written(&segment, Layout::Linux), expected.concat());
    assert_eq!(read(&expected.concat(), Flags::SYN).segment.options, segment.options);
}

#[test]
fn the_simulators_syn_has_every_option_in_words_of_its_own() {
    let segment = syn(true, true);
    let expected: [&[u8]; 5] = [MSS, SCALE, &[1, 1, 4, 2], &[1, 1], STAMP];
    assert_eq!(written(&segment, Layout::Aligned), expected.concat());
    assert_eq!(segment.options.wire_len(), 24);
}

#[test]
fn timestamps_and_sack_blocks_start_words_on_data() {
    let mut options = Options { timestamps: Some(STAMPS), ..Options::default() };
    options.sack.push(SackBlock { left: SeqNum(1), right: SeqNum(2) });
    let segment = Segment { flags: Flags::ACK, options, ..Segment::default() };
    let expected: [&[u8]; 3] = [&[1, 1], STAMP, &[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]];
    assert_eq!(written(&segment, Layout::Linux), expected.concat());
    assert_eq!(written(&segment, Layout::Aligned), expected.concat());
}

/// The layout of docs/real-time-mode.md, byte by byte: kind, length, identifier, total, first, count.
#[test]
fn a_skip_notice_stands_behind_the_timestamps_and_before_the_sack_blocks() {
    let skip_notice = Some(SkipNotice::Skipped { total: 0x0102_0304, first: SeqNum(0x0506_0708), segments: 0x090A });
    let mut options = Options { timestamps: Some(Timestamps::default()), skip_notice, ..Options::default() };
    options.sack.push(SackBlock::default());
    let bytes = written(&Segment { options, ..Segment::default() }, Layout::Aligned);
    assert_eq!(bytes.len(), 40, "all of them");
    assert_eq!(bytes[12..28], [1, 1, 253, 14, 0x53, 0x4B, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(bytes[30..32], [5, 10]);
}

#[test]
fn experiments_of_others_and_notices_of_another_length_are_passed_over() {
    let others: [&[u8]; 4] = [&[253, 4, 0xF9, 0x88], &[253, 5, 0x53, 0x4B, 0], &[253, 2], &[254, 4, 0x53, 0x4B]];
    for option in others {
        assert_eq!(read(option, Flags::SYN).segment.options, Options::default(), "{option:?}");
        let with_offer = [option, &[253, 4, 0x53, 0x4B]].concat();
        assert_eq!(read(&with_offer, Flags::SYN).segment.options.skip_notice, Some(SkipNotice::Offer), "{option:?}");
    }
}

/// Options before one with an impossible length count; the rest is ignored.
#[rstest]
#[case::zero(&[2, 4, 5, 180, 99, 0, 4, 2], true)]
#[case::one(&[2, 4, 5, 180, 99, 1, 4, 2], true)]
#[case::beyond_the_end(&[2, 4, 5, 180, 99, 5, 4, 2], true)]
#[case::the_last_byte_is_a_kind(&[2, 4, 5, 180, 1, 1, 1, 99], true)]
#[case::known_kind_of_length_zero(&[2, 4, 5, 180, 4, 0, 4, 2], true)]
#[case::end_of_list(&[2, 4, 5, 180, 0, 99, 0, 0], false)]
#[case::unknown_kind(&[2, 4, 5, 180, 99, 4, 4, 2], false)]
fn an_option_length_that_cannot_be_ends_the_list(#[case] options: &[u8], #[case] is_broken: bool) {
    let parsed = read(options, Flags::SYN);
    assert_eq!(parsed.has_broken_options, is_broken);
    assert_eq!(parsed.segment.options, Options { mss: NonZeroU16::new(1460), ..Options::default() });
}

#[rstest]
#[case::short_mss(&[2, 3, 5])]
#[case::long_mss(&[2, 5, 5, 180, 0])]
#[case::mss_of_zero(&[2, 4, 0, 0])]
#[case::long_window_scale(&[3, 4, 1, 1])]
#[case::long_sack_permitted(&[4, 3, 1])]
#[case::short_timestamps(&[8, 9, 0, 0, 0, 0, 0, 0, 0])]
#[case::a_block_and_a_half(&[5, 14, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3])]
#[case::sack_without_blocks(&[5, 2])]
fn a_known_option_of_another_length_is_passed_over(#[case] option: &[u8]) {
    let parsed = read(&[option, &[1, 3, 3, 9]].concat(), Flags::ACK);
    assert_eq!(parsed.segment.options, Options { window_scale: Some(9), ..Options::default() });
    assert!(!parsed.has_broken_options);
}

#[test]
fn a_window_scale_beyond_14_counts_as_14() {
    assert_eq!(read(&[3, 3, 200], Flags::SYN).segment.options.window_scale, Some(14));
}

#[test]
fn sack_blocks_on_a_syn_mean_nothing() {
    let parsed = read(&[5, 10, 0, 0, 0, 1, 0, 0, 0, 2], Flags::SYN);
    assert_eq!(parsed.segment.options, Options::default());
}

#[rstest]
#[case(&[19, 18], Signature::Md5)]
#[case(&[29, 16], Signature::Authentication)]
fn a_signature_is_seen(#[case] header: &[u8], #[case] expected: Signature) {
    let option = [header, &vec![7; usize::from(header[1]) - 2]].concat();
    assert_eq!(read(&option, Flags::ACK).signature, Some(expected));
    assert_eq!(read(&[1], Flags::ACK).signature, None);
}

#[test]
fn urgent_data_is_visible_and_stays_in_the_stream() {
    let segment = Segment { flags: Flags::URG | Flags::ACK, ..Segment::default() };
    let mut bytes = packet(&segment, &V4, b"abc");
    (bytes[38], bytes[39]) = (0, 2);
    let parsed = parse(&bytes, Checksums::Ignore).unwrap();
    assert_eq!((parsed.segment.flags, parsed.segment.len, parsed.urgent), (Flags::URG | Flags::ACK, 3, Some(2)));
    let bytes = packet(&Segment { flags: Flags::ACK, ..segment }, &V4, b"abc");
    assert_eq!(parse(&bytes, Checksums::Verify).unwrap().urgent, None);
}

#[rstest]
#[case::request(FastOpen::REQUEST, &[34, 2, 1, 1])]
#[case::cookie(FastOpen::cookie(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap(), &[34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1])]
#[case::six(FastOpen::cookie(&[1, 2, 3, 4, 5, 6]).unwrap(), &[34, 8, 1, 2, 3, 4, 5, 6])]
#[case::old_request(FastOpen::REQUEST.experimental(true), &[254, 4, 0xF9, 0x89])]
#[case::old_cookie(FastOpen::cookie(&[1, 2, 3, 4]).unwrap().experimental(true), &[254, 8, 0xF9, 0x89, 1, 2, 3, 4])]
fn fast_open_stands_last_on_a_syn(#[case] fast_open: FastOpen, #[case] expected: &[u8]) {
    let plain = syn(true, true);
    let segment = Segment { options: plain.options.with_fast_open(fast_open), ..plain };
    let bytes = written(&segment, Layout::Linux);
    assert_eq!(bytes, [&written(&plain, Layout::Linux), expected].concat());
    assert_eq!(read(&bytes, Flags::SYN).segment.options, segment.options);
    assert_eq!(read(&bytes, Flags::SYN).segment.options.fast_open(), Some(fast_open));
    assert_eq!(read(&bytes, Flags::ACK).segment.options.fast_open(), None, "only a SYN may bear it");
    assert_eq!(segment.options.wire_len(), 24 + expected.len());
}

/// RFC 7413 §4.1.1: 4 to 16 bytes, an even number.
#[rstest]
#[case(&[34, 4, 1, 2])]
#[case(&[34, 7, 1, 2, 3, 4, 5])]
#[case(&[34, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18])]
#[case(&[254, 5, 0xF9, 0x89, 0])]
#[case(&[254, 3, 0xF9])]
fn what_is_no_cookie_is_passed_over(#[case] option: &[u8]) {
    assert_eq!(read(option, Flags::SYN).segment.options, Options::default());
    assert_eq!(FastOpen::cookie(&option[2..]), None);
}

#[test]
fn the_longest_cookie_fits_beside_all_options_of_a_syn_as_linux_packs_them() {
    let plain = syn(true, true);
    let longest = FastOpen::cookie(&[9; 16]).unwrap();
    let packed = Segment { options: plain.options.with_fast_open(longest), ..plain };
    assert_eq!(written(&packed, Layout::Linux).len(), 40);
    let style = Style { layout: Layout::Aligned, ..Style::default() };
    assert_eq!(emit_headers(&packed, &V4, style, &[], &mut [0; HEADERS_MAX]), Err(CannotEmit::Options));
}

proptest! {
    #[test]
    fn a_cookie_takes_the_place_of_blocks_and_blocks_that_of_a_cookie(fast_open in fast_opens()) {
        let mut options = Options::default();
        options.sack.push(SackBlock::default());
        options = options.with_fast_open(fast_open);
        prop_assert!(options.sack.is_empty() && options.sack.as_slice().is_empty());
        prop_assert_eq!(options.fast_open(), Some(fast_open));
        prop_assert_ne!(options, Options::default());
        options.sack.push(SackBlock::default());
        prop_assert_eq!((options.sack.len(), options.fast_open()), (1, None));
    }
}

/// Packets of a simulation are copied: a larger segment costs every one of them.
#[test]
fn a_segment_is_no_larger_than_its_numbers_blocks_and_stamps() {
    assert!(size_of::<Segment>() <= 84);
}
