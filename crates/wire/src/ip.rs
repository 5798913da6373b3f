//! The IP headers around a segment, validated.

use crate::{Checksums, Ecn, Malformed};
use core::net::IpAddr;
use core::ops::Range;
use etherparse::checksum::Sum16BitWords;
use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice};

/// The largest size of the headers that are written, in bytes: IPv6, and TCP with all options.
pub const HEADERS_MAX: usize = 40 + 60;
/// The largest size of the headers that are written between IPv4 addresses, in bytes.
pub const IPV4_HEADERS_MAX: usize = 20 + 60;

/// IPv6 extension headers (RFC 8200 §4).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
/// Mobility, HIP, Shim6 and experimental headers (RFC 7045 §4).
const OTHERS: [u8; 5] = [135, 139, 140, 253, 254];

/// The fields of the IP headers of a packet.
pub(crate) struct Ip {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) ecn: Ecn,
    pub(crate) protocol: u8,
    /// The range of its payload.
    pub(crate) body: Range<usize>,
}

impl Ip {
    /// Reads the headers of a whole packet. Bytes after its end, such as the padding of an Ethernet frame, are ignored.
    pub(crate) fn read(packet: &[u8], checksums: Checksums) -> Result<Self, Malformed> {
        let ip = Self::read_quoted(packet, checksums)?;
        if ip.body.end <= packet.len() { Ok(ip) } else { Err(Malformed::IpLength) }
    }

    /// Reads the headers of a packet of which only the beginning is known.
    pub(crate) fn read_quoted(packet: &[u8], checksums: Checksums) -> Result<Self, Malformed> {
        match packet.first().map(|byte| byte >> 4) {
            Some(4) => Self::read_v4(packet, checksums),
            Some(6) => Self::read_v6(packet),
            _ => Err(Malformed::Version),
        }
    }

    fn read_v4(packet: &[u8], checksums: Checksums) -> Result<Self, Malformed> {
        let header = Ipv4HeaderSlice::from_slice(packet).map_err(|_| Malformed::IpHeader)?;
        if !checksums.allow(|| Sum16BitWords::new().add_slice(header.slice())) {
            return Err(Malformed::IpChecksum);
        }
        // Fragments are not reassembled: TCP sends with "don't fragment", and a fragment has no whole TCP header to
        // match.
        if header.more_fragments() || header.fragments_offset().value() > 0 {
            return Err(Malformed::Fragment);
        }
        let body = header.slice().len()..usize::from(header.total_len());
        if body.end < body.start {
            return Err(Malformed::IpLength);
        }
        Ok(Self {
            source: header.source_addr().into(),
            destination: header.destination_addr().into(),
            ecn: Ecn::from_bits(header.ecn().value()),
            protocol: header.protocol().0,
            body,
        })
    }

    fn read_v6(packet: &[u8]) -> Result<Self, Malformed> {
        let header = Ipv6HeaderSlice::from_slice(packet).map_err(|_| Malformed::IpHeader)?;
        let start = header.slice().len();
        let end = start + usize::from(header.payload_length());
        // A quoted packet ends early: read only as much as is there.
        let there = &packet[..end.min(packet.len())];
        let (protocol, start) = pass_extensions(there, header.next_header().0, start)?;
        Ok(Self {
            source: header.source_addr().into(),
            destination: header.destination_addr().into(),
            ecn: Ecn::from_bits(header.ecn().value()),
            protocol,
            body: start..end,
        })
    }
}

/// Skips the extension headers that a host may ignore. Returns the protocol behind them and its offset.
fn pass_extensions(packet: &[u8], mut next: u8, mut start: usize) -> Result<(u8, usize), Malformed> {
    let first = start;
    loop {
        match next {
            // RFC 8200 §4.1: hop-by-hop options stand first or not at all.
            HOP_BY_HOP if start > first => return Err(Malformed::Extension(next)),
            HOP_BY_HOP | DESTINATION_OPTIONS => {
                let header = extension(packet, start).ok_or(Malformed::IpHeader)?;
                if !may_be_passed(&header[2..]) {
                    return Err(Malformed::Extension(next));
                }
                next = header[0];
                start += header.len();
            }
            FRAGMENT => return Err(Malformed::Fragment),
            // A host must not forward by a routing header nor accept unauthenticated what claims to be signed.
            ROUTING | AUTHENTICATION => return Err(Malformed::Extension(next)),
            other if OTHERS.contains(&other) => return Err(Malformed::Extension(other)),
            protocol => return Ok((protocol, start)),
        }
    }
}

fn extension(packet: &[u8], start: usize) -> Option<&[u8]> {
    // In units of 8 bytes, not counting the first 8 (RFC 8200 §4.3).
    let length = usize::from(*packet.get(start + 1)?) * 8 + 8;
    packet.get(start..start + length)
}

/// Returns whether a host that supports none of these options may process the packet (RFC 8200 §4.2): the two highest bits of
/// each are zero.
fn may_be_passed(mut options: &[u8]) -> bool {
    while let Some((&kind, rest)) = options.split_first() {
        options = match (kind, rest) {
            // Pad1 has no length byte (RFC 8200 §4.2).
            (0, _) => rest,
            (1..0x40, &[length, ref body @ ..]) if body.len() >= usize::from(length) => &body[usize::from(length)..],
            _ => return false,
        };
    }
    true
}
