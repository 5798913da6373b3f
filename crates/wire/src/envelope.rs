//! What a router reads of a packet, and the one thing that it may write.

use crate::datagram::UDP_HEADER;
use crate::{Ecn, Malformed, ip};
use core::net::IpAddr;
use core::ops::Range;
use etherparse::{IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6HeaderSlice};

/// A packet as whoever only carries it sees it: a fragment or one with unknown extensions is as good as any other.
///
/// ```
/// use earlybird_wire::{Ecn, Envelope, mark_congested};
///
/// let mut packet = [0x45, 0b10, 0, 29, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0, 80, 0, 9, 0, 0, 7];
/// let envelope = Envelope::read(&packet).unwrap();
/// assert_eq!((envelope.ports, envelope.payload, envelope.ecn), (Some([0x1234, 80]), Some(1), Ecn::Capable0));
/// mark_congested(&mut packet);
/// assert_eq!(Envelope::read(&packet).unwrap().ecn, Ecn::Congested);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Sender's address.
    pub source: IpAddr,
    /// Receiver's address, of the same family.
    pub destination: IpAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// What the packet carries, as in the IP header; of IPv6 the first header behind the fixed one.
    pub protocol: u8,
    /// Sender's and receiver's ports, if TCP or UDP begins there.
    pub ports: Option<[u16; 2]>,
    /// Bytes behind the header of TCP or UDP, if that is known.
    pub payload: Option<u16>,
    /// Bytes of a carrier between IP and what it carries.
    pub carrier: u16,
}

impl Envelope {
    /// Reads the fixed part of the IP header, and what stands first behind it.
    ///
    /// # Errors
    ///
    /// If there is no whole IP header.
    pub fn read(packet: &[u8]) -> Result<Self, Malformed> {
        let (envelope, body) = Self::read_outside(packet)?;
        Ok(envelope.around(body))
    }

    /// Reads a packet of UDP as the segment of TCP that it carries ([`emit_bare`](crate::emit_bare)), as if that stood behind the IP
    /// header; every other packet as [`Self::read`] does.
    ///
    /// # Errors
    ///
    /// If there is no whole IP header.
    pub fn read_in_udp(packet: &[u8]) -> Result<Self, Malformed> {
        let (envelope, body) = Self::read_outside(packet)?;
        if envelope.protocol != ip::UDP {
            return Ok(envelope.around(body));
        }
        let segment = body.and_then(|body| body.get(UDP_HEADER..));
        Ok(Self { protocol: ip::TCP, carrier: UDP_HEADER as u16, ..envelope }.around(segment))
    }

    /// Reads the IP header; gives what stands behind it too, unless that is a later fragment.
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
        Self { source, destination, ecn, protocol, ports: None, payload: None, carrier: 0 }
    }

    /// Adds what is known of the content.
    fn around(self, body: Option<&[u8]>) -> Self {
        let known = body.filter(|_| matches!(self.protocol, ip::TCP | ip::UDP));
        let ports = known.and_then(|body| Some([number(body, 0)?, number(body, 2)?]));
        let payload = known.and_then(|body| body.len().checked_sub(header_len(self.protocol, body)?));
        Self { ports, payload: payload.map(|bytes| bytes as u16), ..self }
    }
}

/// Returns the length of the TCP or UDP header that stands first.
fn header_len(protocol: u8, body: &[u8]) -> Option<usize> {
    if protocol == ip::UDP { Some(UDP_HEADER) } else { Some(usize::from(body.get(12)? >> 4) * 4) }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Returns the packet of TCP that a packet of UDP over IPv4 stands for, if it carries a segment ([`emit_bare`](crate::emit_bare)): the IP
/// header, whose checksum is that of what it says now, and where the segment stands in the packet. The segment's checksum is none.
///
/// ```
/// use earlybird_wire::{Envelope, without_udp};
///
/// let mut packet = [0x45, 0, 0, 48, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0, 80, 0, 28, 0, 0].to_vec();
/// packet.extend([0x27, 0x10, 0x27, 0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
/// let (header, segment) = without_udp(&packet).unwrap();
/// let bare = [header.as_ref(), &packet[segment]].concat();
/// let envelope = Envelope::read(&bare).unwrap();
/// assert_eq!((bare.len(), envelope.ports, envelope.payload), (40, Some([10_000, 10_001]), Some(0)));
/// ```
pub fn without_udp(packet: &[u8]) -> Option<(impl AsRef<[u8]>, Range<usize>)> {
    let (mut header, body) = Ipv4Header::from_slice(packet).ok()?;
    let segment = (header.protocol == IpNumber::UDP).then(|| body.get(UDP_HEADER..)).flatten()?;
    header.protocol = IpNumber::TCP;
    header.set_payload_len(segment.len()).ok()?;
    header.header_checksum = header.calc_header_checksum();
    Some((header.to_bytes(), packet.len() - segment.len()..packet.len()))
}

/// Marks a packet: a queue on its way is congested (RFC 3168 §5). What is no whole IP header stays as it is.
pub fn mark_congested(packet: &mut [u8]) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => mark_v4(packet),
        // The traffic class lies across the first two bytes (RFC 8200 §3).
        Some(6) if packet.len() >= 40 => packet[1] |= 0b11 << 4,
        _ => {}
    }
}

/// The header's checksum follows by the difference (RFC 1624 §3, equation 3).
fn mark_v4(packet: &mut [u8]) {
    let old = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= 0b11;
    let new = u16::from_be_bytes([packet[0], packet[1]]);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}
