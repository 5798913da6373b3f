//! Which transmission carried what is not acknowledged.

use earlybird_wire::{Flags, Segment, SeqNum};
use std::collections::BTreeMap;

/// The data of one transmission: the stream up to `end`.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    end: u64,
    number: u64,
}

/// Transmissions by the place in the stream at which their data begins; of data sent again the newest.
#[derive(Debug, Default)]
pub(super) struct Flight {
    transmissions: BTreeMap<u64, Transmission>,
    origin: Option<Origin>,
    highest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Origin {
    seq: SeqNum,
    is_syn: bool,
}

impl Flight {
    /// Gives the part of the numbered stream that a segment takes up; its first segment begins it.
    pub(super) fn range(&mut self, segment: &Segment) -> (u64, u64) {
        let is_syn = segment.flags.contains(Flags::SYN);
        let origin = *self.origin.get_or_insert(Origin { seq: segment.seq, is_syn });
        let start = segment.seq.unwrap_near(origin.seq, self.highest).unwrap_or(0);
        (start, start + segment.sequence_len())
    }

    /// Gives the offset of a segment's payload in the stream of bytes: a SYN takes a number and is no byte of it.
    pub(super) fn offset(&self, segment: &Segment, start: u64) -> u64 {
        let data = start + u64::from(segment.flags.contains(Flags::SYN));
        data.saturating_sub(u64::from(self.origin.is_some_and(|origin| origin.is_syn)))
    }

    /// Enters a transmission; gives the numbers of those whose data it repeats.
    pub(super) fn send(&mut self, start: u64, end: u64, number: u64) -> Vec<u64> {
        let is_new = start >= self.highest;
        let repeated = if is_new { Vec::new() } else { self.take_overlapping(start, end) };
        self.transmissions.insert(start, Transmission { end, number });
        self.highest = self.highest.max(end);
        repeated
    }

    /// Takes out what a segment acknowledges for the first time, by number or by SACK; gives the transmissions' numbers as ranges.
    pub(super) fn acknowledge(&mut self, segment: &Segment) -> Vec<[u64; 2]> {
        let Some(Origin { seq: origin, .. }) = self.origin else { return Vec::new() };
        let highest = self.highest;
        let place = |seq: SeqNum| seq.unwrap_near(origin, highest);
        let upto = segment.flags.contains(Flags::ACK).then(|| place(segment.ack)).flatten().map(|end| (0, end));
        let blocks = segment.options.sack.as_slice().iter();
        let blocks = blocks.filter_map(|block| Some((place(block.left)?, place(block.right)?)));
        let arrived: Vec<(u64, u64)> = upto.into_iter().chain(blocks).collect();
        let mut numbers: Vec<u64> = arrived.into_iter().flat_map(|(left, right)| self.take(left, right)).collect();
        numbers.sort_unstable();
        ranges(&numbers)
    }

    fn take_overlapping(&mut self, start: u64, end: u64) -> Vec<u64> {
        let overlapping = self.transmissions.extract_if(..end, |_, old| start < old.end);
        overlapping.map(|(_, old)| old.number).collect()
    }

    /// Takes out the transmissions whose data lies in a part of the stream.
    fn take(&mut self, left: u64, right: u64) -> Vec<u64> {
        let parts = left..right.max(left);
        let whole = self.transmissions.extract_if(parts, |_, transmission| transmission.end <= right);
        whole.map(|(_, transmission)| transmission.number).collect()
    }
}

/// Joins rising numbers that follow each other.
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == *number => *last = *number,
            _ => ranges.push([*number; 2]),
        }
    }
    ranges
}
