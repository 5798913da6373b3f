#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod addresses;
mod checksum;
mod datagram;
mod emit;
mod envelope;
mod fast_open;
mod icmp;
mod ip;
mod malformed;
mod option_bytes;
mod options;
mod parse;
mod sack;
mod segment;
mod sequence;
mod train;

pub use addresses::{Addresses, Martian};
pub use checksum::Checksums;
pub use datagram::{Datagram, DatagramHeader, SrtAck, SrtData, SrtLosses, SrtNak, TfrcData, TfrcFeedback};
pub use emit::{
    CannotEmit, HEADERS_MAX, IPV4_HEADERS_MAX, Style, emit, emit_bare, emit_datagram_headers, emit_headers,
};
pub use envelope::{Envelope, mark_congested, without_udp};
pub use fast_open::FastOpen;
pub use icmp::{Icmp, Trouble, Unreachable, emit_icmp, parse_icmp};
pub use malformed::Malformed;
pub use option_bytes::Layout;
pub use options::{Options, SkipNotice, Timestamps};
pub use parse::{Parsed, Signature, parse, parse_bare, parse_in_udp};
pub use sack::{SackBlock, SackBlocks};
pub use segment::{Ecn, Flags, Segment};
pub use sequence::SeqNum;
pub use train::Train;
