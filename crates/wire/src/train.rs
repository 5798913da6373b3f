//! Segments that are sent as one packet, which the device divides: segmentation offload (Linux: GSO).

use crate::Flags;
use crate::checksum::{self, partial_checksum};
use crate::ip::HEADERS_MAX;
use core::net::IpAddr;
use etherparse::checksum::Sum16BitWords;

/// Consecutive packets that differ only in sequence number, length and final flags, so that a device can make them of one.
///
/// All are as [`emit`](crate::emit) writes them with [`Style::partial_checksum`](crate::Style::partial_checksum).
#[derive(Clone, Debug)]
pub struct Train {
    /// The headers of the first packet.
    headers: Headers,
    segment_size: usize,
    /// Payload of all packets in bytes.
    payload: usize,
    /// Whether nothing may be appended: the last packet was shorter, or has PSH or FIN.
    is_complete: bool,
    /// The flags that only the last packet has.
    ending: u8,
}

/// The headers of a packet, and the length of the first.
#[derive(Clone, Debug)]
struct Headers {
    bytes: [u8; HEADERS_MAX],
    ip_len: usize,
    len: usize,
}

/// Offsets in the header of TCP.
const SEQUENCE: usize = 4;
const DATA_OFFSET: usize = 12;
const FLAGS: usize = 13;
/// The offset of the checksum in the TCP header.
pub(crate) const CHECKSUM: usize = 16;
const V4_LEN: usize = 20;
const V6_LEN: usize = 40;
/// Flags that only the last of a train may have.
const ENDING: u8 = Flags::PSH.union(Flags::FIN).bits() as u8;
/// Flags that a device could not assign to one of the segments.
const UNMERGED: u8 = Flags::SYN.union(Flags::RST).union(Flags::CWR).union(Flags::URG).bits() as u8;

impl Headers {
    fn read(packet: &[u8]) -> Option<Self> {
        let ip_len = match packet.first()? >> 4 {
            4 => V4_LEN,
            _ => V6_LEN,
        };
        let len = ip_len + usize::from(packet.get(ip_len + DATA_OFFSET)? >> 4) * 4;
        let mut bytes = [0; HEADERS_MAX];
        bytes.get_mut(..len)?.copy_from_slice(packet.get(..len)?);
        Some(Self { bytes, ip_len, len })
    }

    const fn flags(&self) -> u8 {
        self.bytes[self.ip_len + FLAGS]
    }

    fn sequence(&self) -> u32 {
        let at = self.ip_len + SEQUENCE;
        u32::from_be_bytes(core::array::from_fn(|index| self.bytes[at + index]))
    }

    /// Returns the headers with the fields cleared that differ within a train.
    fn common(&self) -> [u8; HEADERS_MAX] {
        let (mut bytes, tcp) = (self.bytes, self.ip_len);
        // IPv4: total length and header checksum. IPv6 has a payload length only.
        let length_and_checksum = if tcp == V4_LEN { [2..4, 10..12] } else { [4..6, 4..6] };
        let in_tcp = [tcp + SEQUENCE..tcp + SEQUENCE + 4, tcp + CHECKSUM..tcp + CHECKSUM + 2];
        for range in length_and_checksum.into_iter().chain(in_tcp) {
            bytes[range].fill(0);
        }
        // PSH and FIN may be on the last packet only; the device moves them there.
        bytes[tcp + FLAGS] &= !ENDING;
        bytes
    }

    /// Sets the lengths and checksums for `payload` bytes.
    fn set_payload(&mut self, payload: usize) {
        let len = self.len + payload;
        if self.ip_len == V4_LEN {
            self.bytes[2..4].copy_from_slice(&(len as u16).to_be_bytes());
            // The checksum is computed over the header with this field zero (RFC 791).
            self.bytes[10..12].fill(0);
            let sum = checksum::field(&Sum16BitWords::new().add_slice(&self.bytes[..V4_LEN]));
            self.bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            self.bytes[4..6].copy_from_slice(&((len - V6_LEN) as u16).to_be_bytes());
        }
        let sum = partial_checksum(self.source(), self.destination(), len - self.ip_len);
        let at = self.ip_len + CHECKSUM;
        self.bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }

    fn source(&self) -> IpAddr {
        if self.ip_len == V4_LEN { self.octets::<4>(12).into() } else { self.octets::<16>(8).into() }
    }

    fn destination(&self) -> IpAddr {
        if self.ip_len == V4_LEN { self.octets::<4>(16).into() } else { self.octets::<16>(24).into() }
    }

    fn octets<const N: usize>(&self, at: usize) -> [u8; N] {
        core::array::from_fn(|index| self.bytes[at + index])
    }
}

impl Train {
    /// Returns a train of one packet; `None` if it was not [emitted](crate::emit).
    pub fn new(packet: &[u8]) -> Option<Self> {
        let headers = Headers::read(packet)?;
        let payload = packet.len() - headers.len;
        let (flags, ending) = (headers.flags(), headers.flags() & ENDING);
        // A device divides payload: a pure ACK stays alone.
        let is_complete = payload == 0 || flags & (ENDING | UNMERGED) != 0;
        Some(Self { headers, segment_size: payload, payload, is_complete, ending })
    }

    /// Appends a packet, and returns whether it fits.
    pub fn take(&mut self, packet: &[u8]) -> bool {
        let Some(next) = Headers::read(packet).filter(|next| !self.is_complete && self.precedes(next, packet.len()))
        else {
            return false;
        };
        let payload = packet.len() - next.len;
        self.payload += payload;
        self.ending = next.flags() & ENDING;
        self.is_complete = payload < self.segment_size || self.ending != 0;
        true
    }

    fn precedes(&self, next: &Headers, packet_len: usize) -> bool {
        let payload = packet_len - next.len;
        // Only the last packet may be shorter; none may be longer than the first.
        (1..=self.segment_size).contains(&payload)
            // The length field of IP has 16 bits.
            && u16::try_from(self.headers.len + self.payload + payload).is_ok()
            && next.sequence() == self.headers.sequence().wrapping_add(self.payload as u32)
            && next.common() == self.headers.common()
    }

    /// Returns the headers of the train as one packet, and their length. For a single packet they are its own.
    pub fn headers(&self) -> ([u8; HEADERS_MAX], usize) {
        let mut headers = self.headers.clone();
        headers.set_payload(self.payload);
        headers.bytes[headers.ip_len + FLAGS] |= self.ending;
        (headers.bytes, headers.len)
    }

    /// Returns the length of the headers in bytes, after which the payload begins.
    pub const fn headers_len(&self) -> usize {
        self.headers.len
    }

    /// Returns the length of the IP header in bytes, after which the range of the TCP checksum begins.
    pub const fn ip_len(&self) -> usize {
        self.headers.ip_len
    }

    /// Returns the payload of each segment in bytes; the last may have less.
    pub const fn segment_size(&self) -> usize {
        self.segment_size
    }

    /// Returns whether there is more than one segment.
    pub const fn is_divided(&self) -> bool {
        self.payload > self.segment_size
    }
}
