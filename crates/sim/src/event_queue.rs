//! The event queue: a bucket for each short span of time, so that the next event is found at a cost that does
//! not depend on how many there are (Brown, "Calendar queues", CACM 31(10), 1988).
//!
//! The buckets cover a limited time. Later events – retransmission timers, most of all – wait in a heap. How
//! wide a bucket is, and how many there are, adapts to the events: one or two in a bucket that has any, and most of
//! them in buckets, not in the heap. Neither has any influence on their order.

mod buckets;

use crate::events::SimEvent;
use crate::ids::SlotId;
use crate::packet_pool::PacketPool;
use buckets::Buckets;
use earlybird_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pending events in order; equal ones in order of insertion.
#[derive(Debug)]
pub(crate) struct EventQueue {
    pub(crate) pool: PacketPool,
    /// Number of events without a packet.
    scheduled: usize,
    /// The rest of the current bucket, and events that were added for earlier ones.
    current: SlotId,
    /// The number of the first bucket after the current one.
    next_bucket: u64,
    /// Base-2 logarithm of the bucket width in nanoseconds.
    width_log2: u32,
    buckets: Buckets,
    /// Events beyond the last bucket with their keys and order of insertion, and the bucket of the first.
    overflow: BinaryHeap<Reverse<(u128, u64, SlotId)>>,
    overflow_bucket: u64,
    entries: u64,
    adjustment: AdjustmentPeriod,
}

/// Counters since the last adjustment.
#[derive(Debug, Default)]
struct AdjustmentPeriod {
    /// The bucket at the last adjustment.
    start: u64,
    /// Buckets opened, events removed, and how many of those came from the heap.
    buckets: u64,
    events: u64,
    from_overflow: u64,
}

/// 131 µs, and buckets for half a second: fits a few thousand packets per second.
const INITIAL_WIDTH_LOG2: u32 = 17;
const INITIAL_BUCKETS: usize = 1 << 12;
const MIN_BUCKETS: usize = 1 << 8;
const MAX_BUCKETS: usize = 1 << 18;
const MAX_WIDTH_LOG2: u32 = 32;
/// Number of events between adjustments.
const ADJUSTMENT_EVENTS: u64 = 1 << 12;

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            pool: PacketPool::default(),
            scheduled: 0,
            current: SlotId::NONE,
            next_bucket: 0,
            width_log2: INITIAL_WIDTH_LOG2,
            buckets: Buckets::new(INITIAL_BUCKETS),
            overflow: BinaryHeap::new(),
            overflow_bucket: u64::MAX,
            entries: 0,
            adjustment: AdjustmentPeriod::default(),
        }
    }
}

impl EventQueue {
    /// Inserts the event of a slot. It must not come before the last event that was removed.
    #[inline]
    pub(crate) fn push(&mut self, slot: SlotId) {
        // Packets arrive in the near future: the first two branches take nearly all events.
        let bucket = self.bucket_of(slot);
        let list = if bucket < self.next_bucket {
            &mut self.current
        } else if bucket - self.next_bucket < self.buckets.count() {
            self.buckets.fill(bucket)
        } else {
            return self.push_overflow(slot);
        };
        self.pool.insert(list, slot);
    }

    /// Schedules an event without a packet.
    pub(crate) fn schedule(&mut self, event: SimEvent) {
        let slot = self.pool.take();
        self.scheduled += 1;
        self.pool.get_mut(slot).event = event;
        self.push(slot);
    }

    /// Frees the slot of an event without a packet.
    pub(crate) fn free_event(&mut self, slot: SlotId) {
        self.pool.set_free(slot);
        self.scheduled -= 1;
    }

    /// Returns the number of packets in the network, with or without a pending event.
    pub(crate) fn packets(&self) -> usize {
        self.pool.len() - self.scheduled
    }

    #[inline]
    fn bucket_of(&self, slot: SlotId) -> u64 {
        self.pool.get(slot).event.at().as_nanos() >> self.width_log2
    }

    #[inline(never)]
    fn push_overflow(&mut self, slot: SlotId) {
        self.entries += 1;
        self.overflow.push(Reverse((self.pool.get(slot).event.key(), self.entries, slot)));
        self.update_overflow_bucket();
    }

    fn update_overflow_bucket(&mut self) {
        self.overflow_bucket = self.overflow.peek().map_or(u64::MAX, |Reverse((.., slot))| self.bucket_of(*slot));
    }

    /// Removes the first event if it comes before `end`. Returns its slot.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: Instant) -> Option<SlotId> {
        if self.current == SlotId::NONE {
            self.advance();
        }
        let slot = self.pool.take_first_if(&mut self.current, |first| first.at() < end)?;
        self.adjustment.events += 1;
        Some(slot)
    }

    /// Returns the time of the first event.
    pub(crate) fn next_at(&mut self) -> Option<Instant> {
        if self.current == SlotId::NONE {
            self.advance();
        }
        (self.current != SlotId::NONE).then(|| self.pool.get(self.current).event.at())
    }

    /// Opens the next bucket that is not empty.
    #[inline]
    fn advance(&mut self) {
        match self.buckets.next_nearby(self.next_bucket) {
            // An event in the heap may come before the next bucket; then the slow path merges it.
            Some(next) if next < self.overflow_bucket && self.adjustment.events < ADJUSTMENT_EVENTS => {
                self.open_bucket(next);
            }
            _ => self.advance_far(),
        }
    }

    #[inline]
    fn open_bucket(&mut self, bucket: u64) {
        self.adjustment.buckets += 1;
        self.next_bucket = bucket + 1;
        self.current = self.buckets.take(bucket);
    }

    #[inline(never)]
    fn advance_far(&mut self) {
        // Adjust here, where the current bucket is empty and nothing is half consumed.
        if self.adjustment.events >= ADJUSTMENT_EVENTS {
            self.adjust();
        }
        let next = self.buckets.next_from(self.next_bucket).unwrap_or(u64::MAX);
        if self.overflow_bucket.min(next) < u64::MAX {
            self.open_bucket(self.overflow_bucket.min(next));
        }
        if self.overflow_bucket < self.next_bucket {
            self.merge_overflow();
        }
    }

    /// Merges the heap's events of the current bucket. They were inserted before those in the bucket, and so come first
    /// among equal ones.
    fn merge_overflow(&mut self) {
        let mut entered = std::mem::replace(&mut self.current, SlotId::NONE);
        while self.overflow_bucket < self.next_bucket
            && let Some(Reverse((.., slot))) = self.overflow.pop()
        {
            self.pool.insert(&mut self.current, slot);
            self.adjustment.from_overflow += 1;
            self.update_overflow_bucket();
        }
        while let Some(slot) = self.pool.take_first(&mut entered) {
            self.pool.insert(&mut self.current, slot);
        }
    }

    /// Halves the bucket width if busy buckets hold more than two events on average, doubles it if hardly any holds two:
    /// random arrivals reach neither limit. Where most buckets are empty, narrower ones would not separate simultaneous events.
    /// There are more buckets if many events wait in the heap.
    #[cold]
    fn adjust(&mut self) {
        let passed = self.next_bucket.saturating_sub(self.adjustment.start);
        let AdjustmentPeriod { buckets, events, from_overflow, .. } = self.adjustment;
        let count = self.buckets.count() as usize;
        if events > 2 * buckets && passed < 4 * buckets && self.width_log2 > 0 {
            self.resize(self.width_log2 - 1, 2 * count);
        } else if 5 * events < 6 * buckets && self.width_log2 < MAX_WIDTH_LOG2 {
            self.resize(self.width_log2 + 1, count / 2);
        } else if from_overflow > events / 8 {
            self.resize(self.width_log2, 2 * count);
        }
        self.adjustment = AdjustmentPeriod { start: self.next_bucket, ..AdjustmentPeriod::default() };
    }

    /// Rebuilds the buckets with another width when the current one is empty. Starts with that
    /// bucket again, since a wider one may contain more events.
    fn resize(&mut self, width_log2: u32, count: usize) {
        let buckets = std::mem::replace(&mut self.buckets, Buckets::new(count.clamp(MIN_BUCKETS, MAX_BUCKETS)));
        self.next_bucket = self.next_bucket.saturating_sub(1) << self.width_log2 >> width_log2;
        self.width_log2 = width_log2;
        for mut list in buckets.into_lists() {
            while let Some(slot) = self.pool.take_first(&mut list) {
                self.push(slot);
            }
        }
        self.update_overflow_bucket();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventKind;
    use crate::ids::LinkId;
    use crate::timestamp::Timestamp;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_instant(Instant::from_nanos(nanos))
    }

    fn arrival(queue: &mut EventQueue, nanos: u64, link: u32) -> SlotId {
        let slot = queue.pool.take();
        let event = &mut queue.pool.get_mut(slot).event;
        event.timestamp = at(nanos);
        event.become_arrival(LinkId(link));
        queue.push(slot);
        slot
    }

    fn pop_before(queue: &mut EventQueue, end: Instant) -> Option<(SlotId, SimEvent)> {
        let slot = queue.pop_before(end)?;
        queue.pool.set_free(slot);
        Some((slot, queue.pool.get(slot).event))
    }

    #[test]
    fn simultaneous_events_come_by_kind_then_number_whatever_the_order_of_insertion() {
        let mut queue = EventQueue::default();
        for (kind, number) in
            [(EventKind::Probe, 0), (EventKind::Wake, 1), (EventKind::Arrival, 9), (EventKind::Arrival, 2)]
        {
            queue.schedule(SimEvent::new(at(5), kind, number));
        }
        queue.schedule(SimEvent::new(at(4), EventKind::Probe, 7));
        let events = std::iter::from_fn(|| pop_before(&mut queue, Instant::NEVER));
        let order: Vec<_> = events.map(|(_, event)| (event.at().as_nanos(), event.kind(), event.number())).collect();
        let expected = [
            (4, EventKind::Probe, 7),
            (5, EventKind::Arrival, 2),
            (5, EventKind::Arrival, 9),
            (5, EventKind::Wake, 1),
            (5, EventKind::Probe, 0),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn what_comes_at_the_end_or_later_stays() {
        let mut queue = EventQueue::default();
        for nanos in [3, 4, 1 << 40] {
            arrival(&mut queue, nanos, 0);
        }
        let mut before = |end| std::iter::from_fn(|| pop_before(&mut queue, Instant::from_nanos(end))).count();
        assert_eq!([4, 4, 5, 1 << 40, 1 << 41].map(&mut before), [1, 0, 1, 0, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// As a sorted list with a stable order: at any density, with what comes at once and what comes much later, while the
        /// queue adjusts itself.
        #[test]
        fn events_come_in_the_order_of_a_sorted_list(
            spans in vec((0_u32..36, 0_u64..=u64::MAX, 0_u32..3), 200),
            scale in 0_u32..12,
        ) {
            let mut queue = EventQueue::default();
            let mut sorted = std::collections::BTreeMap::new();
            let (mut now, mut entries) = (0, 0);
            let mut enter = |queue: &mut EventQueue, now: u64, (bits, part, link): (u32, u64, u32)| {
                let span = part & ((1 << (bits + scale)) - 1);
                entries += 1;
                ((now + span, link, entries), arrival(queue, now + span, link))
            };
            for span in &spans {
                let (key, slot) = enter(&mut queue, now, *span);
                sorted.insert(key, slot);
            }
            // Each event that comes brings another one, as packets do; ties are in the order of entry.
            for round in 0..20_000 {
                let (slot, event) = pop_before(&mut queue, Instant::NEVER).expect("as many come as go");
                let (key, expected) = sorted.pop_first().expect("the same");
                prop_assert_eq!((event.at().as_nanos(), event.number(), slot), (key.0, key.1, expected));
                now = key.0;
                let (key, slot) = enter(&mut queue, now, spans[round % spans.len()]);
                sorted.insert(key, slot);
            }
        }
    }
}
