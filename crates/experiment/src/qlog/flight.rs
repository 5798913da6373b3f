//! The transmissions that carried unacknowledged data.

use crate::sequence::Sequence;
use earlybird_wire::{Flags, Segment, SeqNum};
use std::collections::BTreeMap;

/// The data of one transmission: the stream up to `end`.
#[derive(Clone, Copy, Debug)]
struct RepairTime {
    end: u64,
    number: u64,
}

/// Transmissions by the place in the stream at which their data begins; of data sent again the newest.
#[derive(Debug, Default)]
pub(super) struct Flight {
    transmissions: BTreeMap<u64, RepairTime>,
    pub(super) sequence: Sequence,
}

impl Flight {
    /// Records a transmission. Returns the numbers of the packets whose data it retransmits.
    pub(super) fn send(&mut self, start: u64, end: u64, number: u64) -> Vec<u64> {
        // New data, by far the most, needs no search.
        let is_new = start >= self.sequence.highest;
        let repeated = if is_new { Vec::new() } else { self.take_overlapping(start, end) };
        self.transmissions.insert(start, RepairTime { end, number });
        self.sequence.reach(end);
        repeated
    }

    /// Removes the packets that a segment acknowledges for the first time. Returns their numbers as ranges.
    pub(super) fn acknowledge(&mut self, segment: &Segment) -> Vec<[u64; 2]> {
        let sequence = self.sequence;
        let place = |seq: SeqNum| sequence.place(seq);
        let upto = segment.flags.contains(Flags::ACK).then(|| place(segment.ack)).flatten().map(|end| (0, end));
        let blocks = segment.options.sack.as_slice().iter();
        let blocks = blocks.filter_map(|block| Some((place(block.left)?, place(block.right)?)));
        let arrived: Vec<(u64, u64)> = upto.into_iter().chain(blocks).collect();
        let mut numbers: Vec<u64> = arrived.into_iter().flat_map(|(left, right)| self.take(left, right)).collect();
        // ACK and blocks come in no order, and `ranges` joins rising numbers only.
        numbers.sort_unstable();
        ranges(&numbers)
    }

    fn take_overlapping(&mut self, start: u64, end: u64) -> Vec<u64> {
        let overlapping = self.transmissions.extract_if(..end, |_, old| start < old.end);
        overlapping.map(|(_, old)| old.number).collect()
    }

    /// Removes the transmissions whose data is in a part of the stream.
    fn take(&mut self, left: u64, right: u64) -> Vec<u64> {
        // A block from the wire may end before it begins, and a range that does panics.
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
