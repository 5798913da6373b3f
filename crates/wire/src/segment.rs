use crate::{Options, SeqNum};
use bitflags::bitflags;

bitflags! {
    /// TCP control bits (RFC 9293 §3.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Flags: u16 {
        /// No more data from the sender.
        const FIN = 1;
        /// Opens the connection.
        const SYN = 2;
        /// Resets the connection.
        const RST = 4;
        /// Push.
        const PSH = 8;
        /// The acknowledgement number is valid.
        const ACK = 16;
        /// The urgent pointer is valid ([`Parsed::urgent`](crate::Parsed::urgent)). What it points to stays in the stream
        /// (RFC 9293 §3.8.5, RFC 6093).
        const URG = 32;
        /// ECN echo: the network is congested (RFC 3168 §6.1).
        const ECE = 64;
        /// The congestion window was reduced (RFC 3168 §6.1).
        const CWR = 128;
        /// Accurate ECN (RFC 9768 §3.1).
        const AE = 256;
        /// The counter of marked packets that AE, CWR and ECE make together (RFC 9768 §3.2.2).
        const ACE = Self::AE.bits() | Self::CWR.bits() | Self::ECE.bits();
    }
}

/// The ECN field of the IP header that carries a segment (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not understand marks.
    #[default]
    NotCapable = 0b00,
    /// The sender responds to marks as a scalable congestion control does: the L4S service (RFC 9331).
    Capable1 = 0b01,
    /// The sender responds to marks as to losses.
    Capable0 = 0b10,
    /// A queue on the path was congested.
    Congested = 0b11,
}

impl Ecn {
    /// Reads the two lowest bits of the IPv4 type-of-service byte.
    pub const fn from_bits(bits: u8) -> Self {
        // The upper six bits are the DSCP (RFC 2474), which TCP does not read.
        match bits & 0b11 {
            0b00 => Self::NotCapable,
            0b01 => Self::Capable1,
            0b10 => Self::Capable0,
            _ => Self::Congested,
        }
    }

    /// Returns whether a queue may mark the packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotCapable)
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
    /// The ECN field of the packet that carries it.
    pub ecn: Ecn,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// Returns the sequence numbers that the segment takes up: payload, SYN and FIN.
    pub const fn sequence_len(&self) -> u64 {
        // SYN and FIN each take one number (RFC 9293 §3.4), so that they can be acknowledged.
        self.len as u64 + self.flags.contains(Flags::SYN) as u64 + self.flags.contains(Flags::FIN) as u64
    }

    /// Returns whether the segment must be acknowledged.
    pub const fn takes_sequence_space(&self) -> bool {
        self.sequence_len() > 0
    }
}
