//! Reads the TCP segments of a capture: pcap of either byte order and resolution, or pcapng.

use crate::frames::{Frames, plain};
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};
use pcap_file::DataLink;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// A captured segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Nanoseconds since 1970.
    pub at_ns: u64,
    /// The index of its connection in [`Reading::connections`].
    pub connection: u32,
    /// Whether the second end of the connection sent it.
    pub backwards: bool,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Acknowledgement number, if [`Self::is_ack`].
    pub ack: u32,
    /// Payload bytes as sent, even if fewer were captured.
    pub payload: u32,
    /// Whether it is a SYN.
    pub is_syn: bool,
    /// Whether it has the ACK flag.
    pub is_ack: bool,
    /// Value and echo of the timestamp option (RFC 7323); zeros without it.
    pub timestamp: (u32, u32),
}

/// The contents of a capture.
#[derive(Debug, Default)]
pub struct Reading {
    /// The two ends of each connection; the first one sent the first segment.
    pub connections: Vec<[SocketAddr; 2]>,
    /// The segments in file order.
    pub segments: Vec<Segment>,
    /// The number of packets of any protocol.
    pub packets: u64,
    /// The reason why the file counts as truncated, if it does.
    pub breaks_off: Option<String>,
}

/// Reads a capture as far as it goes; of a connection that was caught at several interfaces, what passed the first of them.
///
/// # Errors
///
/// If the file cannot be opened, or is no capture.
pub fn read(path: &Path) -> io::Result<Reading> {
    let mut frames = Frames::open(path)?;
    let (mut reading, mut known, mut places) = (Reading::default(), HashMap::new(), Vec::new());
    loop {
        let taken = frames.next(|frame| {
            reading.packets += 1;
            if let Some((ends, segment)) = segment(frame.link, frame.data, frame.original_len) {
                let (connection, backwards) = place(&mut known, &mut reading.connections, ends);
                if places.len() < reading.connections.len() {
                    places.push(frame.interface);
                }
                if places[connection as usize] == frame.interface {
                    reading.segments.push(Segment { at_ns: frame.at_ns, connection, backwards, ..segment });
                }
            }
        });
        match taken {
            Ok(true) => {}
            Ok(false) => return Ok(reading),
            Err(error) => {
                reading.breaks_off = Some(plain(error).to_string());
                return Ok(reading);
            }
        }
    }
}

/// Returns the number of a connection, and assigns one to a new connection.
fn place(
    known: &mut HashMap<[SocketAddr; 2], u32>,
    connections: &mut Vec<[SocketAddr; 2]>,
    [from, to]: [SocketAddr; 2],
) -> (u32, bool) {
    if let Some(&number) = known.get(&[to, from]) {
        return (number, true);
    }
    let number = *known.entry([from, to]).or_insert_with(|| {
        connections.push([from, to]);
        connections.len() as u32 - 1
    });
    (number, false)
}

/// Parses the TCP header of a packet; time and connection are set by the caller.
fn segment(link: DataLink, data: &[u8], original_len: u32) -> Option<([SocketAddr; 2], Segment)> {
    let packet = sliced(link, data)?;
    let Some(TransportSlice::Tcp(tcp)) = packet.transport else { return None };
    let missing = (original_len as usize).saturating_sub(data.len());
    let (from, to, stated) = match packet.net? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let stated = usize::from(header.total_len()).checked_sub(header.slice().len());
            (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()), stated)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let extensions = ip.extensions().slice().len();
            let stated = usize::from(header.payload_length()).checked_sub(extensions);
            (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()), stated)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    // With TSO, the length field of a packet above 64 KiB is 0.
    let there = tcp.slice().len() + missing;
    let length = stated.filter(|&stated| stated > 0).unwrap_or(there);
    let ends = [SocketAddr::new(from, tcp.source_port()), SocketAddr::new(to, tcp.destination_port())];
    let segment = Segment {
        at_ns: 0,
        connection: 0,
        backwards: false,
        seq: tcp.sequence_number(),
        ack: tcp.acknowledgment_number(),
        payload: length.saturating_sub(tcp.header_slice().len()) as u32,
        is_syn: tcp.syn(),
        is_ack: tcp.ack(),
        timestamp: timestamp(&tcp),
    };
    Some((ends, segment))
}

fn timestamp(tcp: &etherparse::TcpSlice<'_>) -> (u32, u32) {
    let found = tcp.options_iterator().find_map(|option| match option {
        Ok(TcpOptionElement::Timestamp(value, echo)) => Some((value, echo)),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Returns the IP packet of a frame.
fn sliced(link: DataLink, data: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    match link {
        DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok(),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => LaxSlicedPacket::from_ip(data).ok(),
        DataLink::NULL | DataLink::LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok(),
        // Linux cooked captures: 16 bytes with the protocol at the end, or 20 with it at the start (pcap-linktype(7)).
        DataLink::LINUX_SLL => cooked(data.get(14..16)?, data.get(16..)?),
        DataLink::LINUX_SLL2 => cooked(data.get(..2)?, data.get(20..)?),
        _ => None,
    }
}

fn cooked<'a>(protocol: &[u8], data: &'a [u8]) -> Option<LaxSlicedPacket<'a>> {
    let protocol = EtherType(u16::from_be_bytes(protocol.try_into().ok()?));
    Some(LaxSlicedPacket::from_ether_type(protocol, data))
}
