//! Segments that leave as one packet, which a device divides again: segmentation offload.

use crate::checksum::{self, pseudo_header};
use crate::emit::HEADERS_MAX;
use crate::{Flags, ip};
use core::net::IpAddr;
use etherparse::checksum::Sum16BitWords;

/// A packet and those behind it that a device can make from it: the same but for number, length and end.
///
/// All are as [`emit`](crate::emit) writes them with [`Style::leaves_checksum`](crate::Style::leaves_checksum).
#[derive(Clone, Debug)]
pub struct Train {
    /// The first one's headers.
    headers: Headers,
    segment_size: usize,
    /// Bytes of payload in all.
    payload: usize,
    /// Nothing may come behind: the last one was shorter, or said so.
    is_complete: bool,
    /// What the last one says and the others do not.
    ending: u8,
}

/// The headers of a packet, and where they are divided.
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
/// Where the checksum stands in the header of TCP.
pub(crate) const CHECKSUM: usize = 16;
const V4_LEN: usize = 20;
const V6_LEN: usize = 40;
/// Flags that only the last of a train may have.
const ENDING: u8 = Flags::PSH.union(Flags::FIN).bits() as u8;
/// Flags of which a device does not know on which segment they belong.
const ALONE: u8 = Flags::SYN.union(Flags::RST).union(Flags::CWR).union(Flags::URG).bits() as u8;

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

    /// Leaves out what differs within a train.
    fn common(&self) -> [u8; HEADERS_MAX] {
        let (mut bytes, tcp) = (self.bytes, self.ip_len);
        let length_and_checksum = if tcp == V4_LEN { [2..4, 10..12] } else { [4..6, 4..6] };
        let in_tcp = [tcp + SEQUENCE..tcp + SEQUENCE + 4, tcp + CHECKSUM..tcp + CHECKSUM + 2];
        for range in length_and_checksum.into_iter().chain(in_tcp) {
            bytes[range].fill(0);
        }
        bytes[tcp + FLAGS] &= !ENDING;
        bytes
    }

    /// Rewrites what tells the length, for so much payload.
    fn set_payload(&mut self, payload: usize) {
        let len = self.len + payload;
        if self.ip_len == V4_LEN {
            self.bytes[2..4].copy_from_slice(&(len as u16).to_be_bytes());
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

/// Returns what a device that computes the checksum of TCP finds in its field: the sum of the pseudo header.
pub(crate) fn partial_checksum(source: IpAddr, destination: IpAddr, len: usize) -> u16 {
    pseudo_header(source, destination, ip::TCP, len).map_or(0, |sum| !checksum::field(&sum))
}

impl Train {
    /// Begins with a packet; `None` if it is none that was [emitted](crate::emit).
    pub fn new(packet: &[u8]) -> Option<Self> {
        let headers = Headers::read(packet)?;
        let payload = packet.len() - headers.len;
        let (flags, ending) = (headers.flags(), headers.flags() & ENDING);
        let is_complete = payload == 0 || flags & (ENDING | ALONE) != 0;
        Some(Self { headers, segment_size: payload, payload, is_complete, ending })
    }

    /// Takes a packet behind those that are there; says whether it could.
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
        (1..=self.segment_size).contains(&payload)
            && u16::try_from(self.headers.len + self.payload + payload).is_ok()
            && next.sequence() == self.headers.sequence().wrapping_add(self.payload as u32)
            && next.common() == self.headers.common()
    }

    /// Returns the headers of all of it as one packet, and their length. Where one packet is the whole train they are its own.
    pub fn headers(&self) -> ([u8; HEADERS_MAX], usize) {
        let mut headers = self.headers.clone();
        headers.set_payload(self.payload);
        headers.bytes[headers.ip_len + FLAGS] |= self.ending;
        (headers.bytes, headers.len)
    }

    /// Returns the length of the headers of each packet, behind which its payload stands.
    pub const fn headers_len(&self) -> usize {
        self.headers.len
    }

    /// Returns the length of the IP header, behind which the bytes begin that a checksum covers.
    pub const fn ip_len(&self) -> usize {
        self.headers.ip_len
    }

    /// Returns the payload of each segment but the last, which may have less.
    pub const fn segment_size(&self) -> usize {
        self.segment_size
    }

    /// Returns whether there is more than one segment.
    pub const fn is_divided(&self) -> bool {
        self.payload > self.segment_size
    }
}
