use crate::{Options, SeqNum};
use bitflags::bitflags;

bitflags! {
    /// TCP control bits (RFC 9293 §3.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Flags: u8 {
        /// No more data from the sender.
        const FIN = 1;
        /// Opens the connection.
        const SYN = 2;
        /// Resets the connection.
        const RST = 4;
        /// Push.
        const PSH = 8;
        /// The acknowledgement number counts.
        const ACK = 16;
    }
}

/// A TCP segment without its payload: only the payload's length travels with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Number of the first byte (or of the SYN or FIN).
    pub seq: SeqNum,
    /// Next number expected from the peer.
    pub ack: SeqNum,
    /// Receive window, scaled down.
    pub window: u16,
    /// Payload bytes.
    pub len: u16,
    /// Control bits.
    pub flags: Flags,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Gives the sequence numbers that the segment takes up: payload, SYN and FIN.
    pub const fn sequence_len(&self) -> u64 {
        self.len as u64 + self.flags.contains(Flags::SYN) as u64 + self.flags.contains(Flags::FIN) as u64
    }

    /// Says whether the segment must be acknowledged.
    pub const fn takes_sequence_space(&self) -> bool {
        self.sequence_len() > 0
    }
}
