#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod addresses;
mod checksum;
mod datagram;
mod emit;
mod error;
mod fast_open;
mod icmp;
mod ip;
mod malformed;
mod option_codec;
mod options;
mod packet_summary;
mod parse;
mod protocol;
mod sack;
mod segment;
mod sequence;
mod train;

pub use addresses::{Addresses, Martian};
pub use checksum::Checksums;
pub use datagram::{Datagram, DatagramHeader, SrtAck, SrtData, SrtLosses, SrtNak, TfrcData, TfrcFeedback};
pub use emit::{Style, emit, emit_bare, emit_datagram_headers, emit_headers};
pub use error::CannotEmit;
pub use fast_open::FastOpen;
pub use icmp::{Icmp, IcmpError, Unreachable, emit_icmp, parse_icmp};
pub use ip::{HEADERS_MAX, IPV4_HEADERS_MAX};
pub use malformed::Malformed;
pub use option_codec::Layout;
pub use options::{Options, Signature, SkipNotice, Timestamps};
pub use packet_summary::{PacketSummary, decapsulate_udp, mark_congested};
pub use parse::{Parsed, parse, parse_bare, parse_udp_encapsulated};
pub use sack::{SackBlock, SackBlocks};
pub use segment::{Ecn, Flags, Segment};
pub use sequence::SeqNum;
pub use train::Train;
