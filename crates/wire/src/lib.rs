//! TCP segments and datagrams as values, and their translation to and from bytes.
//!
//! The endpoints and the simulator pass [`Segment`]s and [`Datagram`]s around; only captures and real networks need the bytes.
#![no_std]
#![forbid(unsafe_code)]

mod bytes;
mod datagram;
mod options;
mod segment;
mod sequence;

pub use bytes::{Addresses, HEADERS_MAX, Malformed, emit_datagram_headers, emit_headers, parse};
pub use datagram::{Datagram, DatagramHeader, SrtAck, SrtData, SrtLosses, SrtNak, TfrcData, TfrcFeedback};
pub use options::{Options, SackBlock, SackBlocks, SkipNotice, Timestamps};
pub use segment::{Ecn, Flags, Segment};
pub use sequence::SeqNum;
