//! The ring of buckets.

use crate::ids::SlotId;

/// A ring of lists, each given by its first slot. The index is the bucket number modulo the length.
#[derive(Debug)]
pub(super) struct Buckets {
    lists: Vec<SlotId>,
    /// A bit for each bucket that is not empty, and the number of bits that are set.
    busy: Vec<u64>,
    count_busy: usize,
}

impl Buckets {
    /// Makes `count` buckets, a power of two and at least 64.
    pub(super) fn new(count: usize) -> Self {
        Self { lists: vec![SlotId::NONE; count], busy: vec![0; count / 64], count_busy: 0 }
    }

    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.lists.len() as u64
    }

    #[inline]
    fn slot(&self, bucket: u64) -> usize {
        bucket as usize & (self.lists.len() - 1)
    }

    /// Returns the list of a bucket to add an event.
    #[inline]
    pub(super) fn fill(&mut self, bucket: u64) -> &mut SlotId {
        let slot = self.slot(bucket);
        if self.lists[slot] == SlotId::NONE {
            self.busy[slot / 64] |= 1 << (slot % 64);
            self.count_busy += 1;
        }
        &mut self.lists[slot]
    }

    /// Returns the first bucket from `from` on that is not empty, if it is in the same word of bits.
    #[inline]
    pub(super) fn next_nearby(&self, from: u64) -> Option<u64> {
        // One word of bits covers 64 buckets: one shift and one count of zeros find the next busy one.
        let ahead = self.busy[self.slot(from) / 64] >> (from % 64);
        (ahead != 0).then(|| from + u64::from(ahead.trailing_zeros()))
    }

    /// Returns the first bucket from `from` on that is not empty.
    pub(super) fn next_from(&self, from: u64) -> Option<u64> {
        if self.count_busy == 0 {
            return None;
        }
        let mut from = from;
        loop {
            let next = self.next_nearby(from);
            if next.is_some() {
                return next;
            }
            // Continue at the next word.
            from = (from | 63) + 1;
        }
    }

    /// Empties a bucket and returns its list.
    #[inline]
    pub(super) fn take(&mut self, bucket: u64) -> SlotId {
        let slot = self.slot(bucket);
        let list = std::mem::replace(&mut self.lists[slot], SlotId::NONE);
        if list != SlotId::NONE {
            self.busy[slot / 64] &= !(1 << (slot % 64));
            self.count_busy -= 1;
        }
        list
    }

    /// Returns all lists.
    pub(super) fn into_lists(self) -> impl Iterator<Item = SlotId> {
        self.lists.into_iter()
    }
}
