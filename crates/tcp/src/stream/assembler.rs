//! What arrived, in whatever order.

use super::{join, overwrite, pieces};
use crate::scoreboard::ranges::Ranges;
use alloc::collections::VecDeque;
use core::ops::Range;

/// The receiving side's bytes: those that were not read, and those behind holes.
///
/// Offsets count from the first byte behind the peer's SYN, as [`AcceptedRange::stream`] does. It holds nothing that lies further than
/// its capacity behind the first byte not read; with the capacity of the connection's buffer that is nothing that the
/// connection takes.
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
    /// From the first byte not read on; what is in the holes means nothing.
    bytes: VecDeque<u8>,
    /// Offset of the first byte not read.
    read: u64,
    /// Offset of the first byte missing.
    missing: u64,
    /// What is there behind that.
    above: Ranges,
    capacity: usize,
}

impl Assembler {
    /// Makes one that reaches up to `capacity` bytes behind what was read; room is taken as bytes come.
    pub fn new(capacity: usize) -> Self {
        Self { bytes: VecDeque::new(), read: 0, missing: 0, above: Ranges::default(), capacity }
    }

    /// Changes how far it reaches; what it holds already stays.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// Returns the offset of the first byte that was not read.
    pub const fn position(&self) -> u64 {
        self.read
    }

    /// Returns how many bytes can be read.
    pub const fn readable(&self) -> usize {
        (self.missing - self.read) as usize
    }

    /// Takes bytes that begin at `stream.start`, and gives how many of them were not there in order already and lie within
    /// reach. Of bytes behind a hole that come twice, the later ones count.
    pub fn put(&mut self, stream: Range<u64>, payload: &[u8]) -> usize {
        let reach = self.read.saturating_add(self.capacity as u64);
        let end = stream.end.min(stream.start.saturating_add(payload.len() as u64)).min(reach);
        let start = stream.start.max(self.missing);
        if start >= end {
            return 0;
        }
        self.store(start, &payload[(start - stream.start) as usize..(end - stream.start) as usize]);
        self.enter(start..end);
        (end - start) as usize
    }

    fn store(&mut self, start: u64, new: &[u8]) {
        let at = (start - self.read) as usize;
        if at > self.bytes.len() {
            self.bytes.resize(at, 0);
        }
        let (old, behind) = new.split_at((self.bytes.len() - at).min(new.len()));
        overwrite(&mut self.bytes, at, old);
        self.bytes.extend(behind);
    }

    fn enter(&mut self, new: Range<u64>) {
        if new.start > self.missing {
            self.above.insert(new);
        } else {
            self.missing = new.end;
            self.close_hole();
        }
    }

    fn close_hole(&mut self) {
        self.missing = self.above.take_from(self.missing);
    }

    /// Reads in order, as much as there is and fits; gives how many bytes that were.
    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.readable());
        join(pieces(&self.bytes, 0..count), &mut into[..count]);
        self.bytes.drain(..count);
        self.read += count as u64;
        count
    }

    /// Copies what arrived in a part of the stream, in order or not, and leaves it there; gives how many bytes that were: none if
    /// something is missing, or was read.
    pub fn peek(&self, part: Range<u64>, into: &mut [u8]) -> usize {
        let is_here = part.start >= self.read && (part.end <= self.missing || self.above.holds(&part));
        let count = (part.end.saturating_sub(part.start) as usize).min(into.len());
        if !is_here || count == 0 {
            return 0;
        }
        let start = (part.start - self.read) as usize;
        join(pieces(&self.bytes, start..start + count), &mut into[..count]);
        count
    }

    /// Goes on reading at an offset: what lies before it was stepped over. It never goes back.
    pub fn skip_to(&mut self, offset: u64) {
        let offset = offset.max(self.read);
        let gone = (offset - self.read).min(self.bytes.len() as u64);
        self.bytes.drain(..gone as usize);
        self.read = offset;
        self.missing = self.missing.max(offset);
        self.above.remove_below(offset);
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
                let mut seen = vec![0; payload.len()];
                let peeked = assembler.peek(stream.clone(), &mut seen);
                prop_assert_eq!(&seen[..peeked], model.peek(start, payload.len()));
                let mut into = vec![0; reads];
                let count = assembler.read(&mut into);
                prop_assert_eq!(&into[..count], model.read(reads));
                // Now and then the reader steps over something.
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
    fn takes_no_more_than_the_range_says_nor_than_there_is() {
        let mut assembler = Assembler::new(CAPACITY);
        assert_eq!((assembler.put(0..2, b"abcd"), assembler.put(2..9, b"cd")), (2, 2));
        assert_eq!((assembler.put(u64::MAX - 1..u64::MAX, b"z"), assembler.readable()), (0, 4));
    }
}
