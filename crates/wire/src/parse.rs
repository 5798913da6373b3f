use crate::checksum::pseudo_header;
use crate::datagram::UDP_HEADER;
use crate::ip::{self, Ip};
use crate::option_bytes::ReadOptions;
use crate::{Addresses, Checksums, Ecn, Flags, Malformed, Segment, SeqNum};
use core::net::IpAddr;
use core::ops::Range;
use etherparse::TcpHeaderSlice;

/// A segment from the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// What it says.
    pub segment: Segment,
    /// Who sends to whom.
    pub addresses: Addresses,
    /// Where its payload stands in the packet.
    pub payload: Range<usize>,
    /// The option that signs it, if there is one. The signature is not verified: who expects none drops the segment.
    pub signature: Option<Signature>,
    /// How far behind the segment's number the urgent data end, if there are any (RFC 9293 §3.1).
    pub urgent: Option<u16>,
    /// An option says a length that it cannot have. Those before it were read (RFC 9293 §3.1, MUST-7).
    pub has_broken_options: bool,
}

/// How a segment is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// By MD5 (RFC 2385).
    Md5,
    /// By the authentication option (RFC 5925).
    Authentication,
}

/// Reads a segment from the bytes of an IPv4 or IPv6 packet.
///
/// Options of unknown kind are passed over. Whether the addresses are believable, [`Addresses::martian`] tells.
///
/// # Errors
///
/// [`Malformed`] says what keeps it from being a whole, unharmed segment.
pub fn parse(packet: &[u8], checksums: Checksums) -> Result<Parsed, Malformed> {
    let ip = Ip::read(packet, checksums)?;
    if ip.protocol != ip::TCP {
        return Err(Malformed::Protocol(ip.protocol));
    }
    let body = &packet[ip.body.clone()];
    let parsed = parse_bare(body, ip.source, ip.destination, ip.ecn)?;
    let sum = pseudo_header(ip.source, ip.destination, ip::TCP, body.len()).ok_or(Malformed::Version)?;
    if !checksums.allow(|| sum.add_slice(body)) {
        return Err(Malformed::TcpChecksum);
    }
    let payload = ip.body.start + parsed.payload.start..ip.body.end;
    Ok(Parsed { payload, ..parsed })
}

/// Reads the segment that a packet of UDP carries ([`emit_bare`](crate::emit_bare)) as one who looks on: no checksum is looked at.
///
/// # Errors
///
/// [`Malformed`] says what keeps it from being one.
pub fn parse_in_udp(packet: &[u8]) -> Result<Parsed, Malformed> {
    let ip = Ip::read(packet, Checksums::Ignore)?;
    if ip.protocol != ip::UDP {
        return Err(Malformed::Protocol(ip.protocol));
    }
    let start = ip.body.start + UDP_HEADER;
    let body = packet.get(start..ip.body.end).ok_or(Malformed::TcpHeader)?;
    let parsed = parse_bare(body, ip.source, ip.destination, ip.ecn)?;
    let payload = start + parsed.payload.start..ip.body.end;
    Ok(Parsed { payload, ..parsed })
}

/// Reads a segment that stands by itself: its TCP header is the first byte, and what carried it says the addresses, the ECN field,
/// and that no bit was changed. So it is in the payload of UDP; the checksum of TCP, which FreeBSD leaves zero there, is not looked
/// at.
///
/// # Errors
///
/// [`Malformed::TcpHeader`], if it is none.
pub fn parse_bare(body: &[u8], source: IpAddr, destination: IpAddr, ecn: Ecn) -> Result<Parsed, Malformed> {
    let tcp = TcpHeaderSlice::from_slice(body).map_err(|_| Malformed::TcpHeader)?;
    let flags = Flags::from_bits_truncate(u16::from_be_bytes([body[12], body[13]]));
    let read = ReadOptions::new(tcp.options(), flags);
    let payload = tcp.slice().len()..body.len();
    let segment = Segment {
        seq: SeqNum(tcp.sequence_number()),
        ack: SeqNum(tcp.acknowledgment_number()),
        window: tcp.window_size(),
        len: payload.len() as u16,
        flags,
        ecn,
        options: read.options,
    };
    Ok(Parsed {
        segment,
        addresses: Addresses {
            source,
            destination,
            source_port: tcp.source_port(),
            destination_port: tcp.destination_port(),
        },
        payload,
        signature: read.signature,
        urgent: flags.contains(Flags::URG).then(|| tcp.urgent_pointer()),
        has_broken_options: read.is_broken,
    })
}
