//! Segments and datagrams as bytes of packets.

use crate::checksum::{self, partial_checksum, pseudo_header};
use crate::ip::HEADERS_MAX;
use crate::option_codec::OptionWriter;
use crate::protocol;
use crate::{Addresses, CannotEmit, Datagram, Ecn, Flags, Layout, Segment};
use core::net::IpAddr;
use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader, UdpHeader};

/// Header fields of a packet that its segment does not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The arrangement of the options.
    pub layout: Layout,
    /// The number of routers that may forward the packet (TTL).
    pub hop_limit: u8,
    /// The identification field of IPv4, which has a meaning only for packets that may be fragmented (RFC 6864).
    pub identification: u16,
    /// Whether routers must report a packet that is too big instead of fragmenting it: path MTU discovery (RFC 1191). IPv6
    /// routers never fragment.
    pub dont_fragment: bool,
    /// Whether the device computes the checksum of TCP, from the sum of the pseudo header in its field (Linux:
    /// `CHECKSUM_PARTIAL`).
    pub partial_checksum: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { layout: Layout::Linux, hop_limit: 64, identification: 0, dont_fragment: true, partial_checksum: false }
    }
}

/// Writes a packet: the headers of `segment`, then the payload in two slices, as a ring buffer returns it. Returns its length.
///
/// The length of the payload is that of the slices; [`Segment::len`] is not read.
///
/// # Errors
///
/// [`CannotEmit`], if it does not fit.
pub fn emit(
    segment: &Segment,
    addresses: &Addresses,
    style: Style,
    payload: [&[u8]; 2],
    into: &mut [u8],
) -> Result<usize, CannotEmit> {
    let [first, second] = payload;
    let tcp = tcp_header(segment, addresses, style.layout)?;
    let start = ip_len(addresses) + tcp.header_len();
    let end = start + first.len() + second.len();
    let (headers, rest) = into.get_mut(..end).ok_or(CannotEmit::Length)?.split_at_mut(start);
    // The payload is copied first: the checksum is computed over it in place.
    rest[..first.len()].copy_from_slice(first);
    rest[first.len()..].copy_from_slice(second);
    headers.copy_from_slice(seal_tcp(tcp, segment.ecn, addresses, style, rest)?.as_slice());
    Ok(end)
}

/// Writes a segment that stands by itself, as in the payload of UDP: no IP header, and a checksum of zero, as FreeBSD writes it, for
/// that of UDP covers it. Returns its length.
///
/// # Errors
///
/// [`CannotEmit`], if it does not fit.
pub fn emit_bare(
    segment: &Segment,
    addresses: &Addresses,
    layout: Layout,
    payload: [&[u8]; 2],
    into: &mut [u8],
) -> Result<usize, CannotEmit> {
    // The checksum field stays zero: the UDP checksum covers the segment.
    let tcp = tcp_header(segment, addresses, layout)?.to_bytes();
    let mut end = 0;
    for part in [&tcp, payload[0], payload[1]] {
        let start = end;
        end += part.len();
        into.get_mut(start..end).ok_or(CannotEmit::Length)?.copy_from_slice(part);
    }
    Ok(end)
}

/// Writes the IP and TCP headers of `segment`, with checksums over `payload`, and returns their length.
///
/// # Errors
///
/// [`CannotEmit`], if it does not fit.
pub fn emit_headers(
    segment: &Segment,
    addresses: &Addresses,
    style: Style,
    payload: &[u8],
    into: &mut [u8; HEADERS_MAX],
) -> Result<usize, CannotEmit> {
    let tcp = tcp_header(segment, addresses, style.layout)?;
    let headers = seal_tcp(tcp, segment.ecn, addresses, style, payload)?;
    Ok(headers.copy_into(into))
}

/// Writes the IP and UDP headers of `datagram`, with checksums over what follows UDP's header: `payload`.
///
/// # Errors
///
/// [`CannotEmit`], if it does not fit.
pub fn emit_datagram_headers(
    datagram: &Datagram,
    addresses: &Addresses,
    style: Style,
    payload: &[u8],
    into: &mut [u8; HEADERS_MAX],
) -> Result<usize, CannotEmit> {
    let len = u16::try_from(UdpHeader::LEN + payload.len()).map_err(|_| CannotEmit::Length)?;
    let mut udp = UdpHeader {
        source_port: addresses.source_port,
        destination_port: addresses.destination_port,
        length: len,
        checksum: 0,
    };
    let sum = pseudo_header(addresses.source, addresses.destination, protocol::UDP, len.into())
        .ok_or(CannotEmit::Families)?;
    // The sum is over the header with a checksum of zero.
    udp.checksum = match checksum::field(&sum.add_slice(&udp.to_bytes()).add_slice(payload)) {
        // RFC 768: zero says that there is none.
        0 => u16::MAX,
        some => some,
    };
    let mut headers = ip_header(protocol::UDP, addresses, style, datagram.ecn, len.into())?;
    headers.put(&udp.to_bytes());
    Ok(headers.copy_into(into))
}

/// IP and transport headers.
pub(crate) struct Headers {
    bytes: [u8; HEADERS_MAX],
    len: usize,
}

impl Headers {
    fn new(bytes: &[u8]) -> Self {
        let mut headers = Self { bytes: [0; HEADERS_MAX], len: 0 };
        headers.put(bytes);
        headers
    }

    fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn copy_into(&self, into: &mut [u8; HEADERS_MAX]) -> usize {
        into[..self.len].copy_from_slice(self.as_slice());
        self.len
    }
}

/// Puts the IP header before the TCP header, whose checksum it computes.
fn seal_tcp(
    mut tcp: TcpHeader,
    ecn: Ecn,
    addresses: &Addresses,
    style: Style,
    payload: &[u8],
) -> Result<Headers, CannotEmit> {
    let len = tcp.header_len() + payload.len();
    let mut headers = ip_header(protocol::TCP, addresses, style, ecn, len)?;
    // Last, because it covers everything else in the header.
    tcp.checksum = if style.partial_checksum {
        partial_checksum(addresses.source, addresses.destination, len)
    } else {
        let sum =
            pseudo_header(addresses.source, addresses.destination, protocol::TCP, len).ok_or(CannotEmit::Families)?;
        checksum::field(&sum.add_slice(&tcp.to_bytes()).add_slice(payload))
    };
    headers.put(&tcp.to_bytes());
    Ok(headers)
}

fn tcp_header(segment: &Segment, addresses: &Addresses, layout: Layout) -> Result<TcpHeader, CannotEmit> {
    let mut tcp = TcpHeader::new(addresses.source_port, addresses.destination_port, segment.seq.0, segment.window);
    tcp.acknowledgment_number = segment.ack.0;
    tcp.fin = segment.flags.contains(Flags::FIN);
    tcp.syn = segment.flags.contains(Flags::SYN);
    tcp.rst = segment.flags.contains(Flags::RST);
    tcp.psh = segment.flags.contains(Flags::PSH);
    tcp.ack = segment.flags.contains(Flags::ACK);
    tcp.urg = segment.flags.contains(Flags::URG);
    // RFC 9768 renamed the NS bit of RFC 3540 to AE.
    tcp.ns = segment.flags.contains(Flags::AE);
    tcp.ece = segment.flags.contains(Flags::ECE);
    tcp.cwr = segment.flags.contains(Flags::CWR);
    let options = OptionWriter::new(&segment.options, layout)?;
    tcp.set_options_raw(options.as_slice()).map_err(|_| CannotEmit::Options)?;
    Ok(tcp)
}

pub(crate) const fn ip_len(addresses: &Addresses) -> usize {
    match addresses.source {
        IpAddr::V4(_) => Ipv4Header::MIN_LEN,
        IpAddr::V6(_) => Ipv6Header::LEN,
    }
}

pub(crate) fn ip_header(
    protocol: u8,
    addresses: &Addresses,
    style: Style,
    ecn: Ecn,
    body: usize,
) -> Result<Headers, CannotEmit> {
    let body = u16::try_from(body).map_err(|_| CannotEmit::Length)?;
    match (addresses.source, addresses.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let (source, destination) = (source.octets(), destination.octets());
            let mut ip = Ipv4Header::new(body, style.hop_limit, IpNumber(protocol), source, destination)
                .map_err(|_| CannotEmit::Length)?;
            ip.identification = style.identification;
            ip.dont_fragment = style.dont_fragment;
            ip.ecn = ip_ecn(ecn);
            ip.header_checksum = ip.calc_header_checksum();
            Ok(Headers::new(&ip.to_bytes()))
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let ip = Ipv6Header {
                // DSCP 0: best effort.
                traffic_class: ecn as u8,
                // RFC 6437 §3 permits zero: routers then hash addresses and ports.
                flow_label: Ipv6FlowLabel::ZERO,
                payload_length: body,
                next_header: IpNumber(protocol),
                hop_limit: style.hop_limit,
                source: source.octets(),
                destination: destination.octets(),
            };
            Ok(Headers::new(&ip.to_bytes()))
        }
        _ => Err(CannotEmit::Families),
    }
}

const fn ip_ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotCapable => IpEcn::ZERO,
        Ecn::Capable1 => IpEcn::ONE,
        Ecn::Capable0 => IpEcn::TWO,
        Ecn::Congested => IpEcn::THREE,
    }
}
