//! Segments as text, in the notation of tcpdump and packetdrill.
//!
//! `S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>`: flags, stream positions `first:end(length)` without counting SYN and
//! FIN, acknowledgement, window, options. `E`, `W` and `A` are the flags ECE, CWR and AE; `[ect0]`, `[ect1]` or `[ce]` in front is
//! the ECN field of the packet. `snack` offers skip notices, `snack 3 101:2` is one: three segments skipped in all, the newest
//! skip begins at 101 and has two. `FO` asks for a Fast Open cookie, `FO abcd1234` is one; `FOEXP` under the experimental kind. Positions count from the SYN, so the first byte of data is number 1.

use earlybird_wire::{Ecn, FastOpen, Flags, Options, SackBlock, Segment, SeqNum, SkipNotice, Timestamps};
use std::fmt::Write;
use std::num::NonZeroU16;

const FLAGS: [(char, Flags); 9] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('U', Flags::URG),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
    ('.', Flags::ACK),
];

const ECN: [(&str, Ecn); 3] = [("[ect0] ", Ecn::Capable0), ("[ect1] ", Ecn::Capable1), ("[ce] ", Ecn::Congested)];

/// Writes a segment; `origin` is the sender's SYN, `peer` the one of the other side. The window is left out if it is
/// `known`.
pub(crate) fn write(segment: &Segment, origin: SeqNum, peer: SeqNum, known: Option<u16>) -> String {
    let mut text: String = ECN.iter().filter(|(_, ecn)| segment.ecn == *ecn).map(|(word, _)| *word).collect();
    text.extend(FLAGS.iter().filter(|(_, flag)| segment.flags.contains(*flag)).map(|(letter, _)| letter));
    let start = segment.seq.0.wrapping_sub(origin.0);
    put(&mut text, format_args!(" {start}:{}({})", start + u32::from(segment.len), segment.len));
    if segment.flags.contains(Flags::ACK) {
        put(&mut text, format_args!(" ack {}", segment.ack.0.wrapping_sub(peer.0)));
    }
    if known != Some(segment.window) {
        put(&mut text, format_args!(" win {}", segment.window));
    }
    let options = write_options(&segment.options, peer);
    if !options.is_empty() {
        put(&mut text, format_args!(" <{}>", options.join(",")));
    }
    text
}

fn put(text: &mut String, words: std::fmt::Arguments<'_>) {
    text.write_fmt(words).expect("a text takes every word");
}

fn write_options(options: &Options, peer: SeqNum) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(options.mss.map(|mss| format!("mss {mss}")));
    words.extend(options.sack_permitted.then(|| "sackOK".to_owned()));
    words.extend(options.timestamps.map(|stamps| format!("TS {}/{}", stamps.value, stamps.echo)));
    words.extend(options.window_scale.map(|shift| format!("wscale {shift}")));
    words.extend(options.skip_notice.map(|notice| match notice {
        SkipNotice::Offer => "snack".to_owned(),
        SkipNotice::Skipped { total, first, segments } => {
            format!("snack {total} {}:{segments}", first.0.wrapping_sub(peer.0))
        }
    }));
    words.extend(options.fast_open().map(write_fast_open));
    if !options.sack.is_empty() {
        let mut word = "sack".to_owned();
        for block in options.sack.as_slice() {
            let [left, right] = [block.left, block.right].map(|edge| edge.0.wrapping_sub(peer.0));
            put(&mut word, format_args!(" {left}:{right}"));
        }
        words.push(word);
    }
    words
}

fn write_fast_open(option: FastOpen) -> String {
    let mut word = if option.is_experimental() { "FOEXP" } else { "FO" }.to_owned();
    for (index, byte) in option.as_slice().iter().enumerate() {
        put(&mut word, format_args!("{}{byte:02x}", if index == 0 { " " } else { "" }));
    }
    word
}

/// Reads a segment that a side with SYN number `origin` sends to one with SYN number `peer`. A window that is left out
/// is `window`.
pub(crate) fn read(text: &str, origin: SeqNum, peer: SeqNum, window: u16) -> Segment {
    let field = ECN.iter().find_map(|(word, ecn)| Some((text.strip_prefix(word)?, *ecn)));
    let (text, ecn) = field.unwrap_or((text, Ecn::NotCapable));
    let (header, options) = text.split_once(" <").unwrap_or((text, ""));
    let mut words = header.split(' ');
    let flags = words.next().expect("flags").chars().map(flag).collect();
    let (start, rest) = words.next().and_then(|numbers| numbers.split_once(':')).expect("first:end(length)");
    let (_, len) = rest.split_once('(').expect("(length)");
    let mut segment = Segment {
        seq: origin.at(number(start)),
        len: len.trim_end_matches(')').parse().expect("a length"),
        flags,
        ecn,
        window,
        options: read_options(options.trim_end_matches('>'), peer),
        ..Segment::default()
    };
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        match name {
            "ack" => segment.ack = peer.at(number(value)),
            "win" => segment.window = value.parse().expect("a window"),
            _ => panic!("unknown word {name}"),
        }
    }
    segment
}

fn flag(letter: char) -> Flags {
    FLAGS.iter().find(|(known, _)| *known == letter).expect("a letter for a flag").1
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

fn read_options(text: &str, peer: SeqNum) -> Options {
    let mut options = Options::default();
    for option in text.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once(' ').unwrap_or((option, ""));
        match name {
            "mss" => options.mss = NonZeroU16::new(value.parse().expect("a size")),
            "sackOK" => options.sack_permitted = true,
            "wscale" => options.window_scale = Some(value.parse().expect("a shift")),
            "snack" => options.skip_notice = Some(read_notice(value, peer)),
            "TS" => options.timestamps = Some(read_timestamps(value)),
            "FO" => options = options.with_fast_open(read_fast_open(value)),
            "FOEXP" => options = options.with_fast_open(read_fast_open(value).experimental(true)),
            "sack" => value.split(' ').for_each(|block| options.sack.push(read_block(block, peer))),
            _ => panic!("unknown option {name}"),
        }
    }
    options
}

fn read_fast_open(text: &str) -> FastOpen {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect("hexadecimal");
    let bytes: Vec<u8> = text.as_bytes().chunks(2).map(byte).collect();
    if bytes.is_empty() { FastOpen::REQUEST } else { FastOpen::cookie(&bytes).expect("4 to 16 bytes") }
}

fn read_timestamps(text: &str) -> Timestamps {
    let (value, echo) = text.split_once('/').expect("value/echo");
    Timestamps { value: number(value) as u32, echo: number(echo) as u32 }
}

fn read_notice(text: &str, peer: SeqNum) -> SkipNotice {
    let Some((total, newest)) = text.split_once(' ') else { return SkipNotice::Offer };
    let (first, segments) = newest.split_once(':').expect("first:segments");
    let [total, first, segments] = [total, first, segments].map(number);
    SkipNotice::Skipped { total: total as u32, first: peer.at(first), segments: segments as u16 }
}

fn read_block(text: &str, peer: SeqNum) -> SackBlock {
    let (left, right) = text.split_once(':').expect("left:right");
    SackBlock { left: peer.at(number(left)), right: peer.at(number(right)) }
}
