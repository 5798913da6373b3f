//! Reads the TCP segments of a capture: pcap of either byte order and resolution, or pcapng.

use crate::encapsulation::{CUT, Other, ip_packet};
use crate::frames::{Frames, plain};
use crate::tcp_header::TcpHeader;
use etherparse::{LaxNetSlice, LaxSlicedPacket};
use pcap_file::DataLink;
use std::collections::{BTreeMap, HashMap};
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
    /// The identification of its IP packet; 0 with IPv6.
    pub ip_id: u16,
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
    /// The number of packets that are no TCP segments that can be read, by what they are.
    pub others: BTreeMap<&'static str, u64>,
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
            match segment(frame.link, frame.data, frame.original_len) {
                Ok((ends, segment)) => {
                    let (connection, backwards) = place(&mut known, &mut reading.connections, ends, &segment);
                    if places.len() < reading.connections.len() {
                        places.push(frame.interface);
                    }
                    if places[connection as usize] == frame.interface {
                        reading.segments.push(Segment { at_ns: frame.at_ns, connection, backwards, ..segment });
                    }
                }
                Err(other) => *reading.others.entry(other).or_default() += 1,
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

/// The latest connection between two ends: its number, the sequence number of its SYN in each direction, and
/// whether it has carried data.
#[derive(Clone, Copy, Debug)]
struct Known {
    number: u32,
    initial: [Option<u32>; 2],
    has_data: bool,
}

impl Known {
    const fn new(number: u32) -> Self {
        Self { number, initial: [None; 2], has_data: false }
    }

    /// Returns whether a segment opens another connection: a SYN after data, or one with another sequence number.
    fn is_reopened_by(&self, segment: &Segment, backwards: bool) -> bool {
        let initial = self.initial[usize::from(backwards)];
        let is_other = initial.is_some_and(|initial| initial != segment.seq);
        segment.is_syn && (is_other || self.has_data && !segment.is_ack)
    }
}

/// Returns the number of a connection, and assigns one to a new connection: between new ends, or opened
/// anew between the same ones.
fn place(
    known: &mut HashMap<[SocketAddr; 2], Known>,
    connections: &mut Vec<[SocketAddr; 2]>,
    [from, to]: [SocketAddr; 2],
    segment: &Segment,
) -> (u32, bool) {
    let backwards = known.contains_key(&[to, from]);
    let ends = if backwards { [to, from] } else { [from, to] };
    let number = connections.len() as u32;
    let latest = known.entry(ends).or_insert(Known::new(number));
    if latest.is_reopened_by(segment, backwards) {
        *latest = Known::new(number);
    }
    if segment.is_syn {
        latest.initial[usize::from(backwards)] = Some(segment.seq);
    }
    latest.has_data |= segment.payload > 0;
    if latest.number == number {
        connections.push(ends);
    }
    (latest.number, backwards)
}

/// Reads the TCP header of a packet; time and connection are set by the caller.
fn segment(link: DataLink, data: &[u8], original_len: u32) -> Result<([SocketAddr; 2], Segment), Other> {
    let missing = (original_len as usize).saturating_sub(data.len());
    let packet = LaxSlicedPacket::from_ip(ip_packet(link, data)?).map_err(|_| "frames of another protocol than IP")?;
    let (from, to, stated, payload, ip_id) = match packet.net.ok_or("frames of another protocol than IP")? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let stated = usize::from(header.total_len()).checked_sub(header.slice().len());
            let ends = [header.source_addr().into(), header.destination_addr().into()];
            let [from, to]: [IpAddr; 2] = ends;
            (from, to, stated, ip.payload().clone(), header.identification())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let stated = usize::from(header.payload_length()).checked_sub(ip.extensions().slice().len());
            (header.source_addr().into(), header.destination_addr().into(), stated, ip.payload().clone(), 0)
        }
        LaxNetSlice::Arp(_) => return Err("ARP"),
    };
    check_protocol(payload.ip_number.0, payload.fragmented)?;
    let tcp = TcpHeader::new(payload.payload).ok_or(CUT)?;
    // With TSO, the length field of a packet above 64 KiB is 0.
    let length = stated.filter(|&stated| stated > 0).unwrap_or(payload.payload.len() + missing);
    let ends = [SocketAddr::new(from, tcp.ports()[0]), SocketAddr::new(to, tcp.ports()[1])];
    let segment = Segment {
        at_ns: 0,
        connection: 0,
        backwards: false,
        seq: tcp.seq(),
        ack: tcp.ack(),
        payload: length.saturating_sub(tcp.header_len()) as u32,
        ip_id,
        is_syn: tcp.is_syn(),
        is_ack: tcp.is_ack(),
        timestamp: tcp.timestamp(),
    };
    Ok((ends, segment))
}

fn check_protocol(number: u8, is_fragment: bool) -> Result<(), Other> {
    match number {
        _ if is_fragment => Err("fragments of IP packets"),
        6 => Ok(()),
        17 => Err("UDP"),
        1 | 58 => Err("ICMP"),
        50 => Err("IPsec, whose contents are encrypted"),
        _ => Err("IP packets of another protocol than TCP"),
    }
}
