//! The fields of a packet that a router reads, and the one that it may write: the ECN mark.

use crate::datagram::UDP_HEADER;
use crate::{Ecn, Malformed, protocol};
use core::net::IpAddr;
use core::ops::Range;
use etherparse::{IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6HeaderSlice};

/// The fields of a packet that a router reads. A fragment or a packet with unknown extensions is as valid as any other.
///
/// ```
/// use earlybird_wire::{Ecn, PacketSummary, mark_congested};
///
/// let mut packet = [0x45, 0b10, 0, 29, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0, 80, 0, 9, 0, 0, 7];
/// let summary = PacketSummary::read(&packet).unwrap();
/// assert_eq!((summary.ports, summary.payload, summary.ecn), (Some([0x1234, 80]), Some(1), Ecn::Capable0));
/// mark_congested(&mut packet);
/// assert_eq!(PacketSummary::read(&packet).unwrap().ecn, Ecn::Congested);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSummary {
    /// Sender's address.
    pub source: IpAddr,
    /// Receiver's address, of the same family.
    pub destination: IpAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The protocol field of IPv4, or the next-header field of IPv6.
    pub protocol: u8,
    /// Source and destination port, if the payload begins with a TCP or UDP header.
    pub ports: Option<[u16; 2]>,
    /// Bytes after the header of TCP or UDP, if known.
    pub payload: Option<u16>,
    /// Bytes of encapsulation headers between IP and the segment.
    pub encapsulation: u16,
}

impl PacketSummary {
    /// Reads the fixed part of the IP header and the ports after it.
    ///
    /// # Errors
    ///
    /// If there is no whole IP header.
    pub fn read(packet: &[u8]) -> Result<Self, Malformed> {
        let (summary, body) = Self::read_outside(packet)?;
        Ok(summary.around(body))
    }

    /// Reads a packet of UDP as the segment of TCP that it carries ([`emit_bare`](crate::emit_bare)), as if it followed the IP
    /// header; every other packet as [`Self::read`] does.
    ///
    /// # Errors
    ///
    /// If there is no whole IP header.
    pub fn read_udp_encapsulated(packet: &[u8]) -> Result<Self, Malformed> {
        let (summary, body) = Self::read_outside(packet)?;
        if summary.protocol != protocol::UDP {
            return Ok(summary.around(body));
        }
        let segment = body.and_then(|body| body.get(UDP_HEADER..));
        Ok(Self { protocol: protocol::TCP, encapsulation: UDP_HEADER as u16, ..summary }.around(segment))
    }

    /// Reads the IP header. Returns the bytes after it too, unless it is a later fragment.
    fn read_outside(packet: &[u8]) -> Result<(Self, Option<&[u8]>), Malformed> {
        match packet.first().map(|byte| byte >> 4) {
            Some(4) => Self::read_v4(packet),
            Some(6) => Self::read_v6(packet),
            _ => Err(Malformed::Version),
        }
    }

    fn read_v4(packet: &[u8]) -> Result<(Self, Option<&[u8]>), Malformed> {
        let header = Ipv4HeaderSlice::from_slice(packet).map_err(|_| Malformed::IpHeader)?;
        let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
        let ecn = Ecn::from_bits(header.ecn().value());
        // Only the first fragment has the transport header.
        let is_first = header.fragments_offset().value() == 0;
        let body = is_first.then(|| &packet[header.slice().len()..]);
        Ok((Self::new(source, destination, ecn, header.protocol().0), body))
    }

    fn read_v6(packet: &[u8]) -> Result<(Self, Option<&[u8]>), Malformed> {
        let header = Ipv6HeaderSlice::from_slice(packet).map_err(|_| Malformed::IpHeader)?;
        let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
        let ecn = Ecn::from_bits(header.ecn().value());
        let body = Some(&packet[header.slice().len()..]);
        Ok((Self::new(source, destination, ecn, header.next_header().0), body))
    }

    const fn new(source: IpAddr, destination: IpAddr, ecn: Ecn, protocol: u8) -> Self {
        Self { source, destination, ecn, protocol, ports: None, payload: None, encapsulation: 0 }
    }

    /// Adds ports and length of the payload, if known.
    fn around(self, body: Option<&[u8]>) -> Self {
        let known = body.filter(|_| matches!(self.protocol, protocol::TCP | protocol::UDP));
        let ports = known.and_then(|body| Some([number(body, 0)?, number(body, 2)?]));
        let payload = known.and_then(|body| body.len().checked_sub(header_len(self.protocol, body)?));
        Self { ports, payload: payload.map(|bytes| bytes as u16), ..self }
    }
}

/// Returns the length of the TCP or UDP header at the beginning of `body`.
fn header_len(protocol: u8, body: &[u8]) -> Option<usize> {
    if protocol == protocol::UDP { Some(UDP_HEADER) } else { Some(usize::from(body.get(12)? >> 4) * 4) }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Returns the TCP packet that a UDP packet over IPv4 encapsulates ([`emit_bare`](crate::emit_bare)): its IP header with a valid
/// checksum, and the range of the segment in the packet. The checksum of the segment stays zero.
///
/// ```
/// use earlybird_wire::{PacketSummary, decapsulate_udp};
///
/// let mut packet = [0x45, 0, 0, 48, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0, 80, 0, 28, 0, 0].to_vec();
/// packet.extend([0x27, 0x10, 0x27, 0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
/// let (header, segment) = decapsulate_udp(&packet).unwrap();
/// let bare = [header.as_ref(), &packet[segment]].concat();
/// let summary = PacketSummary::read(&bare).unwrap();
/// assert_eq!((bare.len(), summary.ports, summary.payload), (40, Some([10_000, 10_001]), Some(0)));
/// ```
pub fn decapsulate_udp(packet: &[u8]) -> Option<(impl AsRef<[u8]>, Range<usize>)> {
    let (mut header, body) = Ipv4Header::from_slice(packet).ok()?;
    let segment = (header.protocol == IpNumber::UDP).then(|| body.get(UDP_HEADER..)).flatten()?;
    header.protocol = IpNumber::TCP;
    header.set_payload_len(segment.len()).ok()?;
    header.header_checksum = header.calc_header_checksum();
    Some((header.to_bytes(), packet.len() - segment.len()..packet.len()))
}

/// Sets the mark of a congested queue (RFC 3168 §5). Without a whole IP header nothing changes.
pub fn mark_congested(packet: &mut [u8]) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => mark_v4(packet),
        // The traffic class lies across the first two bytes (RFC 8200 §3).
        Some(6) if packet.len() >= 40 => packet[1] |= 0b11 << 4,
        _ => {}
    }
}

/// Marks an IPv4 header, and updates its checksum by the difference (RFC 1624 §3, equation 3).
fn mark_v4(packet: &mut [u8]) {
    let old = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= 0b11;
    let new = u16::from_be_bytes([packet[0], packet[1]]);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    // Two folds: the first may carry once more.
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}
