//! Queues of packets in buffers that are reused.

use super::Path;
use earlybird_wire::{Checksums, Ecn};
use std::ops::Range;

/// The number of packets per batch: as many segments as offload joins at most (Linux: 64 KiB of about 1 KiB each).
pub const BATCH: usize = 64;

/// A received packet.
#[derive(Clone, Debug)]
pub struct RxPacket {
    /// Its position in the buffer of the queue.
    pub range: Range<usize>,
    /// The source address. Over IP, the addresses in the IP header are used instead.
    pub path: Path,
    /// The ECN field, for packets without IP header.
    pub ecn: Ecn,
    /// Whether checksums must be verified.
    pub checksums: Checksums,
    /// Payload bytes per segment if the device joined several segments (GRO); `None` for a single one.
    pub segment_size: Option<u16>,
}

impl RxPacket {
    /// Creates a packet that holds one segment, whose checksums are verified.
    pub const fn new(range: Range<usize>, path: Path, ecn: Ecn) -> Self {
        Self { range, path, ecn, checksums: Checksums::Verify, segment_size: None }
    }
}

/// Received packets that the stack has not processed.
#[derive(Debug, Default)]
pub struct RxQueue {
    /// The buffer into which devices write.
    pub bytes: Vec<u8>,
    packets: Vec<RxPacket>,
    taken: usize,
}

impl RxQueue {
    /// Returns the buffer, grown to at least `bytes` bytes.
    pub fn buffer(&mut self, bytes: usize) -> &mut [u8] {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
        &mut self.bytes
    }

    /// Appends a packet whose bytes are in the buffer.
    pub fn push(&mut self, packet: RxPacket) {
        self.packets.push(packet);
    }

    /// Returns whether all packets were taken.
    pub fn is_empty(&self) -> bool {
        self.taken == self.packets.len()
    }

    /// Keeps the packets for which `keep` returns true, among those that were not taken. It may change a packet and the buffer.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut [u8], &mut RxPacket) -> bool) {
        let Self { bytes, packets, taken } = self;
        packets.drain(..*taken);
        *taken = 0;
        packets.retain_mut(|packet| keep(bytes, packet));
    }

    /// Removes and returns the next packet.
    pub fn take(&mut self) -> Option<RxPacket> {
        let packet = self.packets.get(self.taken)?.clone();
        self.taken += 1;
        Some(packet)
    }

    /// Clears the queue; the buffer keeps its size.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.taken = 0;
    }
}

/// A packet to transmit.
#[derive(Clone, Debug)]
pub struct TxPacket {
    /// Its position in the buffer of the queue.
    pub range: Range<usize>,
    /// The destination address.
    pub path: Path,
    /// The ECN field. Over IP, the packet contains it too.
    pub ecn: Ecn,
}

impl TxPacket {
    /// Returns whether it can follow `first` in one GSO call: the same path, and no longer than the first.
    fn may_follow(&self, first: &Self) -> bool {
        self.path == first.path && self.ecn == first.ecn && self.range.len() <= first.range.len()
    }
}

/// Packets to transmit, contiguous in one buffer.
#[derive(Debug, Default)]
pub struct TxQueue {
    bytes: Vec<u8>,
    end: usize,
    packets: Vec<TxPacket>,
    sent: usize,
}

impl TxQueue {
    /// Returns whether all packets were sent.
    pub fn is_empty(&self) -> bool {
        self.pending().is_empty()
    }

    /// Returns whether the queue holds a full batch.
    pub fn is_full(&self) -> bool {
        self.packets.len() >= BATCH
    }

    /// Returns the packets that were not sent yet.
    pub fn pending(&self) -> &[TxPacket] {
        &self.packets[self.sent..]
    }

    /// Returns the bytes of one packet, or of several adjacent ones.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Appends a packet of up to `most` bytes. `write` writes it and returns its length.
    ///
    /// # Errors
    ///
    /// Returns the error of `write`; nothing is appended then.
    pub fn add<E>(
        &mut self,
        path: Path,
        ecn: Ecn,
        most: usize,
        write: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let start = self.end;
        // Grown once, then reused: no allocation per packet in steady state.
        if self.bytes.len() < start + most {
            self.bytes.resize(start + most, 0);
        }
        self.end = start + write(&mut self.bytes[start..start + most])?;
        self.packets.push(TxPacket { range: start..self.end, path, ecn });
        Ok(())
    }

    /// Returns how many of the next packets can be sent in one GSO call: at most `most` packets and `bytes` bytes in total, all
    /// of equal length except a shorter last one.
    pub fn gso_run(&self, most: usize, bytes: usize) -> usize {
        let Some((first, rest)) = self.pending().split_first() else { return 0 };
        let size = first.range.len();
        let most = most.min(bytes / size.max(1)).max(1);
        let mut count = 1;
        for packet in rest.iter().take(most - 1).take_while(|packet| packet.may_follow(first)) {
            count += 1;
            // Only the last segment of a GSO call may be shorter.
            if packet.range.len() < size {
                break;
            }
        }
        count
    }

    /// Removes the first `count` packets: they were sent or dropped.
    pub fn advance(&mut self, count: usize) {
        self.sent += count;
        if self.is_empty() {
            self.packets.clear();
            (self.sent, self.end) = (0, 0);
        }
    }
}
