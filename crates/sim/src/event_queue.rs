//! The event queue: a bucket for each short span of time, so that the next event is found at a cost that does
//! not depend on how many there are (Brown, "Calendar queues", CACM 31(10), 1988).
//!
//! The buckets cover a limited time. Later events – retransmission timers, most of all – wait in a heap. How
//! wide a bucket is, and how many there are, adapts to the events: one or two in a bucket that has any, and most of
//! them in buckets, not in the heap. Neither has any influence on their order.

mod buckets;

use crate::events::SimEvent;
use crate::packet_pool::{PacketPool, SlotId};
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
    open: SlotId,
    /// The number of the first bucket after the current one.
    closed: u64,
    /// Buckets are 2 to this power of nanoseconds long.
    length: u32,
    pages: Buckets,
    /// Events beyond the last bucket with their keys and order of insertion, and the bucket of the first.
    later: BinaryHeap<Reverse<(u128, u64, SlotId)>>,
    beyond: u64,
    entries: u64,
    season: Season,
}

/// Counters since the last adjustment.
#[derive(Debug, Default)]
struct Season {
    /// The bucket at the last adjustment.
    start: u64,
    /// Buckets opened, events taken out, and how many of those came from beyond.
    pages: u64,
    events: u64,
    from_beyond: u64,
}

/// 131 µs, and buckets for half a second: fits a few thousand packets per second.
const LENGTH_AT_FIRST: u32 = 17;
const PAGES_AT_FIRST: usize = 1 << 12;
const FEWEST_PAGES: usize = 1 << 8;
const MOST_PAGES: usize = 1 << 18;
const LONGEST: u32 = 32;
/// Number of events between adjustments.
const SEASON: u64 = 1 << 12;

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            pool: PacketPool::default(),
            scheduled: 0,
            open: SlotId::NONE,
            closed: 0,
            length: LENGTH_AT_FIRST,
            pages: Buckets::new(PAGES_AT_FIRST),
            later: BinaryHeap::new(),
            beyond: u64::MAX,
            entries: 0,
            season: Season::default(),
        }
    }
}

impl EventQueue {
    /// Inserts the event of a slot. It must not come before the last event that was removed.
    #[inline]
    pub(crate) fn push(&mut self, slot: SlotId) {
        // Packets arrive in the near future: the first two branches take nearly all events.
        let page = self.bucket_of(slot);
        let list = if page < self.closed {
            &mut self.open
        } else if page - self.closed < self.pages.count() {
            self.pages.fill(page)
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
        self.pool.get(slot).event.at().as_nanos() >> self.length
    }

    #[inline(never)]
    fn push_overflow(&mut self, slot: SlotId) {
        self.entries += 1;
        self.later.push(Reverse((self.pool.get(slot).event.key(), self.entries, slot)));
        self.update_overflow_bucket();
    }

    fn update_overflow_bucket(&mut self) {
        self.beyond = self.later.peek().map_or(u64::MAX, |Reverse((.., slot))| self.bucket_of(*slot));
    }

    /// Removes the first event if it comes before `end`. Returns its slot.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: Instant) -> Option<SlotId> {
        if self.open == SlotId::NONE {
            self.advance();
        }
        let slot = self.pool.take_first_if(&mut self.open, |first| first.at() < end)?;
        self.season.events += 1;
        Some(slot)
    }

    /// Returns the time of the first event.
    pub(crate) fn next_at(&mut self) -> Option<Instant> {
        if self.open == SlotId::NONE {
            self.advance();
        }
        (self.open != SlotId::NONE).then(|| self.pool.get(self.open).event.at())
    }

    /// Opens the next bucket that is not empty.
    #[inline]
    fn advance(&mut self) {
        match self.pages.next_nearby(self.closed) {
            // An event in the heap may come before the next bucket; then the slow path merges it.
            Some(next) if next < self.beyond && self.season.events < SEASON => self.open_bucket(next),
            _ => self.advance_far(),
        }
    }

    #[inline]
    fn open_bucket(&mut self, page: u64) {
        self.season.pages += 1;
        self.closed = page + 1;
        self.open = self.pages.take(page);
    }

    #[inline(never)]
    fn advance_far(&mut self) {
        // Adjust here, where the current bucket is empty and nothing is half consumed.
        if self.season.events >= SEASON {
            self.adjust();
        }
        let next = self.pages.next_from(self.closed).unwrap_or(u64::MAX);
        if self.beyond.min(next) < u64::MAX {
            self.open_bucket(self.beyond.min(next));
        }
        if self.beyond < self.closed {
            self.merge_overflow();
        }
    }

    /// Merges the heap's events of the current bucket. They were inserted before those in the bucket, and so come first
    /// among equal ones.
    fn merge_overflow(&mut self) {
        let mut entered = std::mem::replace(&mut self.open, SlotId::NONE);
        while self.beyond < self.closed
            && let Some(Reverse((.., slot))) = self.later.pop()
        {
            self.pool.insert(&mut self.open, slot);
            self.season.from_beyond += 1;
            self.update_overflow_bucket();
        }
        while let Some(slot) = self.pool.take_first(&mut entered) {
            self.pool.insert(&mut self.open, slot);
        }
    }

    /// Halves the pages if more than two events lie on each that has one, doubles them if hardly any has two: what comes at
    /// random is then at neither limit. Where most pages are empty, shorter ones would not part what comes at once. There are
    /// more pages if much lies beyond.
    #[cold]
    fn adjust(&mut self) {
        let passed = self.closed.saturating_sub(self.season.start);
        let Season { pages, events, from_beyond, .. } = self.season;
        let count = self.pages.count() as usize;
        if events > 2 * pages && passed < 4 * pages && self.length > 0 {
            self.rule(self.length - 1, 2 * count);
        } else if 5 * events < 6 * pages && self.length < LONGEST {
            self.rule(self.length + 1, count / 2);
        } else if from_beyond > events / 8 {
            self.rule(self.length, 2 * count);
        }
        self.season = Season { start: self.closed, ..Season::default() };
    }

    /// Begins a new calendar, with pages of another length, when nothing is left of the page opened last. It begins with that
    /// page again, of which a longer one may have more.
    fn rule(&mut self, length: u32, count: usize) {
        let pages = std::mem::replace(&mut self.pages, Buckets::new(count.clamp(FEWEST_PAGES, MOST_PAGES)));
        self.closed = self.closed.saturating_sub(1) << self.length >> length;
        self.length = length;
        for mut list in pages.into_lists() {
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

    fn arrival(calendar: &mut EventQueue, nanos: u64, link: u32) -> SlotId {
        let slot = calendar.pool.take();
        let event = &mut calendar.pool.get_mut(slot).event;
        event.timestamp = at(nanos);
        event.become_arrival(LinkId(link));
        calendar.push(slot);
        slot
    }

    fn pop_before(calendar: &mut EventQueue, end: Instant) -> Option<(SlotId, SimEvent)> {
        let slot = calendar.pop_before(end)?;
        calendar.pool.set_free(slot);
        Some((slot, calendar.pool.get(slot).event))
    }

    #[test]
    fn simultaneous_events_come_by_kind_then_number_whatever_the_order_of_insertion() {
        let mut calendar = EventQueue::default();
        for (kind, number) in
            [(EventKind::Probe, 0), (EventKind::Wake, 1), (EventKind::Arrival, 9), (EventKind::Arrival, 2)]
        {
            calendar.schedule(SimEvent::new(at(5), kind, number));
        }
        calendar.schedule(SimEvent::new(at(4), EventKind::Probe, 7));
        let events = std::iter::from_fn(|| pop_before(&mut calendar, Instant::NEVER));
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
        let mut calendar = EventQueue::default();
        for nanos in [3, 4, 1 << 40] {
            arrival(&mut calendar, nanos, 0);
        }
        let mut before = |end| std::iter::from_fn(|| pop_before(&mut calendar, Instant::from_nanos(end))).count();
        assert_eq!([4, 4, 5, 1 << 40, 1 << 41].map(&mut before), [1, 0, 1, 0, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// As a sorted list with a stable order: at any density, with what comes at once and what comes much later, while the
        /// calendar adjusts itself.
        #[test]
        fn events_come_in_the_order_of_a_sorted_list(
            spans in vec((0_u32..36, 0_u64..=u64::MAX, 0_u32..3), 200),
            scale in 0_u32..12,
        ) {
            let mut calendar = EventQueue::default();
            let mut sorted = std::collections::BTreeMap::new();
            let (mut now, mut entries) = (0, 0);
            let mut enter = |calendar: &mut EventQueue, now: u64, (bits, part, link): (u32, u64, u32)| {
                let span = part & ((1 << (bits + scale)) - 1);
                entries += 1;
                ((now + span, link, entries), arrival(calendar, now + span, link))
            };
            for span in &spans {
                let (key, slot) = enter(&mut calendar, now, *span);
                sorted.insert(key, slot);
            }
            // Each event that comes brings another one, as packets do; ties are in the order of entry.
            for round in 0..20_000 {
                let (slot, event) = pop_before(&mut calendar, Instant::NEVER).expect("as many come as go");
                let (key, expected) = sorted.pop_first().expect("the same");
                prop_assert_eq!((event.at().as_nanos(), event.number(), slot), (key.0, key.1, expected));
                now = key.0;
                let (key, slot) = enter(&mut calendar, now, spans[round % spans.len()]);
                sorted.insert(key, slot);
            }
        }
    }
}
