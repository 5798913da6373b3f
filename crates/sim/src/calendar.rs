//! The events to come, in a calendar: a page for each short span of time, so that the next event is found at a cost that does
//! not depend on how many there are (Brown, "Calendar queues", CACM 31(10), 1988).
//!
//! The calendar has pages for a while to come. What lies beyond – retransmission timers, most of all – waits in a heap. How
//! long a page is, and how many there are, follows from the events themselves: a few on a page, and most of them in the
//! calendar when they come. Neither has any influence on their order.

mod lists;
mod pages;

use crate::events::{Event, Place};
use earlybird_units::Instant;
use lists::Lists;
use pages::Pages;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in their order; equal ones in that of their entry.
#[derive(Debug)]
pub(crate) struct Calendar {
    lists: Lists,
    /// What is left of the page opened last, and what was entered for those before.
    open: Place,
    /// The number of the first page that was not opened yet.
    closed: u64,
    /// Pages are 2 to this power of nanoseconds long.
    length: u32,
    pages: Pages,
    /// Events beyond the pages, with the number of their entry.
    later: BinaryHeap<Reverse<(Event, u64)>>,
    entries: u64,
    season: Season,
}

/// What happened since the calendar was last adjusted.
#[derive(Debug, Default)]
struct Season {
    /// The page with which it began.
    start: u64,
    /// Pages opened, events taken out, and how many of those came from beyond.
    pages: u64,
    events: u64,
    from_beyond: u64,
}

/// 262 µs, and pages for a second: suits a few thousand packets per second.
const LENGTH_AT_FIRST: u32 = 18;
const PAGES_AT_FIRST: usize = 1 << 12;
const FEWEST_PAGES: usize = 1 << 8;
const MOST_PAGES: usize = 1 << 18;
const LONGEST: u32 = 32;
/// Events after which the calendar may be adjusted.
const SEASON: u64 = 1 << 12;

impl Default for Calendar {
    fn default() -> Self {
        Self {
            lists: Lists::default(),
            open: Place::NONE,
            closed: 0,
            length: LENGTH_AT_FIRST,
            pages: Pages::new(PAGES_AT_FIRST),
            later: BinaryHeap::new(),
            entries: 0,
            season: Season::default(),
        }
    }
}

impl Calendar {
    /// Enters an event, not before the last one that was taken out.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet comes by several times, and an event is large to hand over")]
    pub(crate) fn push(&mut self, event: Event) {
        let page = self.page_of(&event);
        let list = if page < self.closed {
            &mut self.open
        } else if page - self.closed < self.pages.count() {
            self.pages.fill(page)
        } else {
            return self.push_later(event);
        };
        self.lists.insert(list, event);
    }

    #[inline]
    fn page_of(&self, event: &Event) -> u64 {
        event.at().as_nanos() >> self.length
    }

    #[inline(never)]
    fn push_later(&mut self, event: Event) {
        self.entries += 1;
        self.later.push(Reverse((event, self.entries)));
    }

    /// Takes out the first event if it comes before `end`.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: Instant) -> Option<Event> {
        if self.open == Place::NONE {
            self.turn();
        }
        let event = self.lists.take_first_if(&mut self.open, |first| first.at() < end)?;
        self.season.events += 1;
        Some(event)
    }

    /// Opens the next page that has something on it.
    #[inline(never)]
    fn turn(&mut self) {
        if self.season.events >= SEASON {
            self.adjust();
        }
        let next = self.pages.next_from(self.closed).unwrap_or(u64::MAX);
        let beyond = self.later.peek().map_or(u64::MAX, |Reverse((event, _))| self.page_of(event));
        if beyond.min(next) == u64::MAX {
            return;
        }
        self.season.pages += 1;
        self.closed = beyond.min(next) + 1;
        if next <= beyond {
            self.open = self.pages.take(next);
        }
        if beyond <= next {
            self.open_from_beyond();
        }
    }

    /// Adds what waits for the page that is open now. It was entered before what is on the page already, and so comes first
    /// among equals.
    fn open_from_beyond(&mut self) {
        let mut entered = std::mem::replace(&mut self.open, Place::NONE);
        while let Some(Reverse((event, _))) =
            self.later.peek().filter(|Reverse((event, _))| self.page_of(event) < self.closed)
        {
            self.lists.insert(&mut self.open, *event);
            self.later.pop();
            self.season.from_beyond += 1;
        }
        while let Some(event) = self.lists.take_first(&mut entered) {
            self.lists.insert(&mut self.open, event);
        }
    }

    /// Halves the pages if more than eight events lie on each, doubles them at less than three: what comes at random is then
    /// at neither limit. Where most pages are empty, shorter ones would not part what comes at once. There are more
    /// pages if much lies beyond.
    #[cold]
    fn adjust(&mut self) {
        let passed = self.closed.saturating_sub(self.season.start);
        let Season { pages, events, from_beyond, .. } = self.season;
        let count = self.pages.count() as usize;
        if events > 8 * pages && passed < 4 * pages && self.length > 0 {
            self.rule(self.length - 1, 2 * count);
        } else if events < 3 * pages && self.length < LONGEST {
            self.rule(self.length + 1, count / 2);
        } else if from_beyond > events / 8 {
            self.rule(self.length, 2 * count);
        }
        self.season = Season { start: self.closed, ..Season::default() };
    }

    /// Begins a new calendar, with pages of another length, when nothing is left of the page opened last. It begins with that
    /// page again, of which a longer one may have more.
    fn rule(&mut self, length: u32, count: usize) {
        let pages = std::mem::replace(&mut self.pages, Pages::new(count.clamp(FEWEST_PAGES, MOST_PAGES)));
        self.closed = self.closed.saturating_sub(1) << self.length >> length;
        self.length = length;
        for mut list in pages.into_lists() {
            while let Some(event) = self.lists.take_first(&mut list) {
                self.push(event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Kind;
    use crate::ids::LinkId;
    use crate::moment::Moment;
    use crate::packet::PacketId;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Moment {
        Moment::fresh(Instant::from_nanos(nanos))
    }

    fn arrival(nanos: u64, link: u32, packet: u32) -> Event {
        Event::arrival(at(nanos), LinkId(link), PacketId::numbered(packet))
    }

    #[test]
    fn simultaneous_events_come_by_kind_then_number_whatever_the_order_of_insertion() {
        let mut calendar = Calendar::default();
        for (kind, number) in [(Kind::Probe, 0), (Kind::Wake, 1), (Kind::Arrival, 9), (Kind::Arrival, 2)] {
            calendar.push(Event::new(at(5), kind, number));
        }
        calendar.push(Event::new(at(4), Kind::Probe, 7));
        let events = std::iter::from_fn(|| calendar.pop_before(Instant::NEVER));
        let order: Vec<_> = events.map(|event| (event.at().as_nanos(), event.kind(), event.number())).collect();
        let expected = [
            (4, Kind::Probe, 7),
            (5, Kind::Arrival, 2),
            (5, Kind::Arrival, 9),
            (5, Kind::Wake, 1),
            (5, Kind::Probe, 0),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn what_comes_at_the_end_or_later_stays() {
        let mut calendar = Calendar::default();
        for nanos in [3, 4, 1 << 40] {
            calendar.push(arrival(nanos, 0, 0));
        }
        let mut before = |end| std::iter::from_fn(|| calendar.pop_before(Instant::from_nanos(end))).count();
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
            let mut calendar = Calendar::default();
            let mut sorted = std::collections::BTreeMap::new();
            let (mut now, mut packet) = (0, 0);
            let mut enter = |calendar: &mut Calendar, now: u64, (bits, part, link): (u32, u64, u32)| {
                let span = part & ((1 << (bits + scale)) - 1);
                let event = arrival(now + span, link, packet);
                calendar.push(event);
                packet += 1;
                ((now + span, link, packet - 1), event)
            };
            for span in &spans {
                let (key, event) = enter(&mut calendar, now, *span);
                sorted.insert(key, event);
            }
            // Each event that comes brings another one, as packets do; ties are in the order of entry.
            for round in 0..20_000 {
                let event = calendar.pop_before(Instant::NEVER).expect("as many come as go");
                let (key, expected) = sorted.pop_first().expect("the same");
                prop_assert_eq!((event.at().as_nanos(), event.number(), event.packet()), (key.0, key.1, expected.packet()));
                now = key.0;
                let (key, event) = enter(&mut calendar, now, spans[round % spans.len()]);
                sorted.insert(key, event);
            }
        }
    }
}
