use crate::checksum::pseudo_header;
use crate::datagram::UDP_HEADER;
use crate::ip::Ip;
use crate::option_codec::ReadOptions;
use crate::protocol;
use crate::{Addresses, Checksums, Ecn, Flags, Malformed, Segment, SeqNum, Signature};
use core::net::IpAddr;
use core::ops::Range;
use etherparse::TcpHeaderSlice;

/// A segment from the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The segment without its payload.
    pub segment: Segment,
    /// Its addresses and ports.
    pub addresses: Addresses,
    /// The range of its payload in the packet.
    pub payload: Range<usize>,
    /// The option that signs it, if there is one. The signature is not verified; a host that expects none drops the segment.
    pub signature: Option<Signature>,
    /// The offset of the end of urgent data from the sequence number, if there are any (RFC 9293 §3.1).
    pub urgent: Option<u16>,
    /// Whether an option has an impossible length. Those before it were read (RFC 9293 §3.1, MUST-7).
    pub has_broken_options: bool,
}

/// Reads a segment from the bytes of an IPv4 or IPv6 packet.
///
/// Options of unknown kind are ignored. The addresses are not checked: see [`Addresses::martian`].
///
/// # Errors
///
/// [`Malformed`], if the packet is not a whole segment with valid checksums.
pub fn parse(packet: &[u8], checksums: Checksums) -> Result<Parsed, Malformed> {
    let ip = Ip::read(packet, checksums)?;
    if ip.protocol != protocol::TCP {
        return Err(Malformed::Protocol(ip.protocol));
    }
    let body = &packet[ip.body.clone()];
    let parsed = parse_bare(body, ip.source, ip.destination, ip.ecn)?;
    // After the header was read: a packet with a broken header is reported as that, not as a wrong checksum.
    let sum = pseudo_header(ip.source, ip.destination, protocol::TCP, body.len()).ok_or(Malformed::Version)?;
    if !checksums.allow(|| sum.add_slice(body)) {
        return Err(Malformed::TcpChecksum);
    }
    let payload = ip.body.start + parsed.payload.start..ip.body.end;
    Ok(Parsed { payload, ..parsed })
}

/// Reads the segment that a packet of UDP carries ([`emit_bare`](crate::emit_bare)) as an observer: no checksum is verified.
///
/// # Errors
///
/// [`Malformed`], if it is none.
pub fn parse_udp_encapsulated(packet: &[u8]) -> Result<Parsed, Malformed> {
    let ip = Ip::read(packet, Checksums::Ignore)?;
    if ip.protocol != protocol::UDP {
        return Err(Malformed::Protocol(ip.protocol));
    }
    let start = ip.body.start + UDP_HEADER;
    let body = packet.get(start..ip.body.end).ok_or(Malformed::TcpHeader)?;
    let parsed = parse_bare(body, ip.source, ip.destination, ip.ecn)?;
    let payload = start + parsed.payload.start..ip.body.end;
    Ok(Parsed { payload, ..parsed })
}

/// Reads a segment without an IP header, as in the payload of UDP. The carrier determines addresses and ECN field and has verified
/// the bytes: the checksum of TCP, which FreeBSD leaves zero there, is not verified.
///
/// # Errors
///
/// [`Malformed::TcpHeader`], if it is none.
pub fn parse_bare(body: &[u8], source: IpAddr, destination: IpAddr, ecn: Ecn) -> Result<Parsed, Malformed> {
    let tcp = TcpHeaderSlice::from_slice(body).map_err(|_| Malformed::TcpHeader)?;
    // The nine control bits and the three reserved ones share two bytes with the data offset.
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
        // RFC 9293 §3.1: the pointer is to be read only with URG.
        urgent: flags.contains(Flags::URG).then(|| tcp.urgent_pointer()),
        has_broken_options: read.is_broken,
    })
}
