//! Packets in buffers that are used again.

use super::Path;
use earlybird_wire::{Checksums, Ecn};
use std::ops::Range;

/// How many packets are handled in one go: as many as a segmentation offload joins at most.
pub const BATCH: usize = 64;

/// A packet that arrived.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its place in the inbox.
    pub range: Range<usize>,
    /// Where it comes from; what stands in an IP header counts more.
    pub path: Path,
    /// The ECN field, where no IP header tells it.
    pub ecn: Ecn,
    /// Whether its checksums are to be looked at.
    pub checksums: Checksums,
    /// Bytes of payload in each of the segments of which the device made it, if it did.
    pub segment_size: Option<u16>,
}

impl Arrival {
    /// Makes a packet that is one segment, and of which no more is known.
    pub const fn new(range: Range<usize>, path: Path, ecn: Ecn) -> Self {
        Self { range, path, ecn, checksums: Checksums::Verify, segment_size: None }
    }
}

/// What arrived and was not looked at.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Where devices write, as they like.
    pub bytes: Vec<u8>,
    arrivals: Vec<Arrival>,
    taken: usize,
}

impl Inbox {
    /// Returns a place of at least so many bytes to write to.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
        &mut self.bytes
    }

    /// Enters a packet that is there.
    pub fn enter(&mut self, arrival: Arrival) {
        self.arrivals.push(arrival);
    }

    /// Returns whether everything was taken out.
    pub fn is_empty(&self) -> bool {
        self.taken == self.arrivals.len()
    }

    /// Takes out the next packet.
    pub fn take(&mut self) -> Option<Arrival> {
        let arrival = self.arrivals.get(self.taken)?.clone();
        self.taken += 1;
        Some(arrival)
    }

    /// Forgets what was taken out.
    pub fn clear(&mut self) {
        self.arrivals.clear();
        self.taken = 0;
    }
}

/// A packet that is to leave.
#[derive(Clone, Debug)]
pub struct Departure {
    /// Its place in the outbox.
    pub range: Range<usize>,
    /// Where it goes to.
    pub path: Path,
    /// The ECN field, which over IP stands in the packet too.
    pub ecn: Ecn,
}

impl Departure {
    /// Returns whether it can leave behind `first` in one call: to the same place, and not longer.
    fn may_follow(&self, first: &Self) -> bool {
        self.path == first.path && self.ecn == first.ecn && self.range.len() <= first.range.len()
    }
}

/// What is to leave: packets one behind the other, without gaps.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    end: usize,
    departures: Vec<Departure>,
    struck_out: usize,
}

impl Outbox {
    /// Returns whether everything has left.
    pub fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    /// Returns whether there is a batch of packets.
    pub fn is_full(&self) -> bool {
        self.departures.len() >= BATCH
    }

    /// Returns the packets that did not leave yet.
    pub fn waiting(&self) -> &[Departure] {
        &self.departures[self.struck_out..]
    }

    /// Returns the bytes of packets that are next to each other.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Adds a packet of up to `most` bytes, which `write` writes, and gives the length of, unless it cannot.
    ///
    /// # Errors
    ///
    /// That of `write`.
    pub fn add<E>(
        &mut self,
        path: Path,
        ecn: Ecn,
        most: usize,
        write: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let start = self.end;
        if self.bytes.len() < start + most {
            self.bytes.resize(start + most, 0);
        }
        self.end = start + write(&mut self.bytes[start..start + most])?;
        self.departures.push(Departure { range: start..self.end, path, ecn });
        Ok(())
    }

    /// Returns how many of the next packets can leave as one run of equal ones, of which only the last may be shorter: `most` at
    /// most, of `bytes` bytes in all.
    pub fn run(&self, most: usize, bytes: usize) -> usize {
        let Some((first, rest)) = self.waiting().split_first() else { return 0 };
        let size = first.range.len();
        let most = most.min(bytes / size.max(1)).max(1);
        let mut count = 1;
        for departure in rest.iter().take(most - 1).take_while(|departure| departure.may_follow(first)) {
            count += 1;
            if departure.range.len() < size {
                break;
            }
        }
        count
    }

    /// Takes note that so many packets have left, or never will.
    pub fn strike_out(&mut self, count: usize) {
        self.struck_out += count;
        if self.is_empty() {
            self.departures.clear();
            (self.struck_out, self.end) = (0, 0);
        }
    }
}
