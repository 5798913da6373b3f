use crate::Ecn;

/// A datagram without its payload: only the payload's length travels with it.
///
/// An application's unit – a frame, a packet of sound – goes in one datagram, or in several if it is larger than one may be.
/// Which part of which unit a datagram carries is the application's framing and counts as payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Datagram {
    /// Number of the unit, from 0.
    pub unit: u32,
    /// Number of the part of the unit, from 0.
    pub part: u32,
    /// Number of parts of the unit; 0 if the datagram carries none.
    pub parts: u32,
    /// Payload bytes.
    pub len: u16,
    /// The ECN field of the packet that carries it.
    pub ecn: Ecn,
}

impl Datagram {
    /// Gives the bytes of headers between IP and the payload: UDP's (RFC 768).
    pub const fn header_len(&self) -> usize {
        UDP_HEADER
    }
}

const UDP_HEADER: usize = 8;
