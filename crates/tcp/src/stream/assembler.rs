//! Reassembly of bytes that arrive in any order.

use super::{join, overwrite, pieces};
use crate::scoreboard::ranges::Ranges;
use alloc::collections::VecDeque;
use core::ops::Range;

/// The receive buffer: bytes that are unread, and bytes behind holes.
///
/// Offsets count from the first byte behind the peer's SYN, as [`AcceptedRange::stream`] does. It stores
/// nothing beyond its capacity after the first unread byte. With the capacity of the connection's buffer it stores all that the
/// connection accepts.
///
/// ```
/// use earlybird_tcp::{Assembler, AcceptedRange};
///
/// let mut assembler = Assembler::new(4000);
/// let (payload, taken) = (b"..early bird", AcceptedRange { stream: 0..10, skip: 2 });
/// assert_eq!(assembler.put(taken.stream, &payload[taken.skip.into()..]), 10);
/// let mut word = [0; 5];
/// assert_eq!((assembler.read(&mut word), &word), (5, b"early"));
/// ```
///
/// [`AcceptedRange::stream`]: crate::AcceptedRange::stream
#[derive(Clone, Debug)]
pub struct Assembler {
    /// Bytes from the first unread one on; holes have undefined values.
    bytes: VecDeque<u8>,
    /// Offset of the first unread byte.
    read: u64,
    /// Offset of the first missing byte.
    missing: u64,
    /// Ranges of bytes behind that.
    out_of_order: Ranges,
    capacity: usize,
}

impl Assembler {
    /// Returns an assembler for up to `capacity` unread bytes; memory is allocated as bytes arrive.
    pub fn new(capacity: usize) -> Self {
        Self { bytes: VecDeque::new(), read: 0, missing: 0, out_of_order: Ranges::default(), capacity }
    }

    /// Sets the capacity; stored bytes stay.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// Returns the offset of the first unread byte.
    pub const fn position(&self) -> u64 {
        self.read
    }

    /// Returns the number of bytes that can be read.
    pub const fn readable(&self) -> usize {
        (self.missing - self.read) as usize
    }

    /// Stores bytes that begin at `stream.start`. Returns the number of those that were not yet in order and lie within the
    /// capacity. Bytes behind a hole overwrite older ones.
    pub fn put(&mut self, stream: Range<u64>, payload: &[u8]) -> usize {
        let reach = self.read.saturating_add(self.capacity as u64);
        let end = stream.end.min(stream.start.saturating_add(payload.len() as u64)).min(reach);
        // Bytes in order may have been read already and must not be overwritten.
        let start = stream.start.max(self.missing);
        if start >= end {
            return 0;
        }
        self.store(start, &payload[(start - stream.start) as usize..(end - stream.start) as usize]);
        self.record(start..end);
        (end - start) as usize
    }

    fn store(&mut self, start: u64, new: &[u8]) {
        let at = (start - self.read) as usize;
        // Fill a hole before the new bytes with zeros until its bytes arrive.
        if at > self.bytes.len() {
            self.bytes.resize(at, 0);
        }
        let (old, behind) = new.split_at((self.bytes.len() - at).min(new.len()));
        overwrite(&mut self.bytes, at, old);
        self.bytes.extend(behind);
    }

    fn record(&mut self, new: Range<u64>) {
        if new.start > self.missing {
            self.out_of_order.insert(new);
        } else {
            self.missing = new.end;
            self.close_hole();
        }
    }

    fn close_hole(&mut self) {
        self.missing = self.out_of_order.take_from(self.missing);
    }

    /// Reads bytes in order into `into`, and returns how many.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.readable());
        join(pieces(&self.bytes, 0..count), &mut into[..count]);
        self.bytes.drain(..count);
        self.read += count as u64;
        count
    }

    /// Copies a part of the stream, in order or not, without reading it. Returns the number of bytes: zero if any is missing or
    /// was read.
    pub fn peek(&self, part: Range<u64>, into: &mut [u8]) -> usize {
        let is_here = part.start >= self.read && (part.end <= self.missing || self.out_of_order.holds(&part));
        let count = (part.end.saturating_sub(part.start) as usize).min(into.len());
        if !is_here || count == 0 {
            return 0;
        }
        let start = (part.start - self.read) as usize;
        join(pieces(&self.bytes, start..start + count), &mut into[..count]);
        count
    }

    /// Continues reading at `offset`; the bytes before it are skipped. It never decreases.
    pub fn skip_to(&mut self, offset: u64) {
        let offset = offset.max(self.read);
        let dropped = (offset - self.read).min(self.bytes.len() as u64);
        self.bytes.drain(..dropped as usize);
        self.read = offset;
        self.missing = self.missing.max(offset);
        self.out_of_order.remove_below(offset);
        self.close_hole();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::collection::vec as vector;
    use proptest::prelude::*;

    const CAPACITY: usize = 40;

    /// Every byte that arrived, by its offset.
    #[derive(Default)]
    struct Model {
        held: Vec<Option<u8>>,
        read: usize,
    }

    impl Model {
        fn missing(&self) -> usize {
            self.read + self.held.iter().skip(self.read).take_while(|byte| byte.is_some()).count()
        }

        fn put(&mut self, start: usize, payload: &[u8]) -> usize {
            let (missing, reach) = (self.missing(), self.read + CAPACITY);
            self.held.resize(self.held.len().max(start + payload.len()), None);
            let new = (start..).zip(payload).filter(|(offset, _)| (missing..reach).contains(offset));
            new.map(|(offset, byte)| self.held[offset] = Some(*byte)).count()
        }

        /// Returns a part if all of it is there and was not read.
        fn peek(&self, start: usize, len: usize) -> Vec<u8> {
            let part = self.held.get(start..start + len).filter(|_| start >= self.read).unwrap_or_default();
            part.iter().copied().collect::<Option<_>>().unwrap_or_default()
        }

        fn read(&mut self, most: usize) -> Vec<u8> {
            let end = self.missing().min(self.read + most);
            let bytes = self.held.get(self.read..end).unwrap_or_default().iter().map(|byte| byte.unwrap());
            self.read = end;
            bytes.collect()
        }
    }

    proptest! {
        #[test]
        fn gives_what_a_list_of_all_bytes_gives(
            steps in vector((0_usize..60, vector(any::<u8>(), 0..20), 0_usize..20, 0_usize..30), 1..60),
        ) {
            let (mut assembler, mut model) = (Assembler::new(CAPACITY), Model::default());
            for (ahead, payload, reads, skip) in steps {
                let start = (model.read + ahead).saturating_sub(10);
                let stream = start as u64..(start + payload.len()) as u64;
                prop_assert_eq!(assembler.put(stream.clone(), &payload), model.put(start, &payload));
                prop_assert_eq!(assembler.readable(), model.missing() - model.read);
                let mut peeked_bytes = vec![0; payload.len()];
                let peeked = assembler.peek(stream.clone(), &mut peeked_bytes);
                prop_assert_eq!(&peeked_bytes[..peeked], model.peek(start, payload.len()));
                let mut into = vec![0; reads];
                let count = assembler.read(&mut into);
                prop_assert_eq!(&into[..count], model.read(reads));
                // Some steps skip.
                if skip > 20 {
                    model.read += skip - 20;
                    assembler.skip_to(model.read as u64);
                }
                prop_assert_eq!(assembler.position(), model.read as u64);
                prop_assert!(assembler.bytes.len() <= CAPACITY);
            }
        }
    }

    #[test]
    fn takes_no_more_than_the_range_nor_than_there_is() {
        let mut assembler = Assembler::new(CAPACITY);
        assert_eq!((assembler.put(0..2, b"abcd"), assembler.put(2..9, b"cd")), (2, 2));
        assert_eq!((assembler.put(u64::MAX - 1..u64::MAX, b"z"), assembler.readable()), (0, 4));
    }
}
