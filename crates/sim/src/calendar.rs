//! The events to come, in a calendar: a page for each short span of time, so that the next event is found at a cost that does
//! not depend on how many there are (Brown, "Calendar queues", CACM 31(10), 1988).
//!
//! The calendar has pages for a while to come. What lies beyond – retransmission timers, most of all – waits in a heap. How
//! long a page is, and how many there are, follows from the events themselves: one or two on a page that has any, and most of
//! them in the calendar when they come. Neither has any influence on their order.

mod pages;

use crate::events::Event;
use crate::slots::{Place, Slots};
use earlybird_units::Instant;
use pages::Pages;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in their order; equal ones in that of their entry.
#[derive(Debug)]
pub(crate) struct Calendar {
    pub(crate) slots: Slots,
    /// Slots of what concerns no packet.
    appointments: usize,
    /// What is left of the page opened last, and what was entered for those before.
    open: Place,
    /// The number of the first page that was not opened yet.
    closed: u64,
    /// Pages are 2 to this power of nanoseconds long.
    length: u32,
    pages: Pages,
    /// Events beyond the pages by their keys and the numbers of their entry, and the page of the first.
    later: BinaryHeap<Reverse<(u128, u64, Place)>>,
    beyond: u64,
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

/// 131 µs, and pages for half a second: suits a few thousand packets per second.
const LENGTH_AT_FIRST: u32 = 17;
const PAGES_AT_FIRST: usize = 1 << 12;
const FEWEST_PAGES: usize = 1 << 8;
const MOST_PAGES: usize = 1 << 18;
const LONGEST: u32 = 32;
/// Events after which the calendar may be adjusted.
const SEASON: u64 = 1 << 12;

impl Default for Calendar {
    fn default() -> Self {
        Self {
            slots: Slots::default(),
            appointments: 0,
            open: Place::NONE,
            closed: 0,
            length: LENGTH_AT_FIRST,
            pages: Pages::new(PAGES_AT_FIRST),
            later: BinaryHeap::new(),
            beyond: u64::MAX,
            entries: 0,
            season: Season::default(),
        }
    }
}

impl Calendar {
    /// Enters the event in a slot, not before the last one that was taken out.
    #[inline]
    pub(crate) fn push(&mut self, place: Place) {
        let page = self.page_of(place);
        let list = if page < self.closed {
            &mut self.open
        } else if page - self.closed < self.pages.count() {
            self.pages.fill(page)
        } else {
            return self.push_later(place);
        };
        self.slots.insert(list, place);
    }

    /// Enters an event that concerns no packet.
    pub(crate) fn appoint(&mut self, event: Event) {
        let place = self.slots.take();
        self.appointments += 1;
        self.slots.get_mut(place).event = event;
        self.push(place);
    }

    /// Sets the slot free of an event that concerned no packet.
    pub(crate) fn keep_appointment(&mut self, place: Place) {
        self.slots.set_free(place);
        self.appointments -= 1;
    }

    /// Returns how many packets there are: entered, or kept elsewhere.
    pub(crate) fn packets(&self) -> usize {
        self.slots.len() - self.appointments
    }

    #[inline]
    fn page_of(&self, place: Place) -> u64 {
        self.slots.get(place).event.at().as_nanos() >> self.length
    }

    #[inline(never)]
    fn push_later(&mut self, place: Place) {
        self.entries += 1;
        self.later.push(Reverse((self.slots.get(place).event.key(), self.entries, place)));
        self.look_beyond();
    }

    fn look_beyond(&mut self) {
        self.beyond = self.later.peek().map_or(u64::MAX, |Reverse((.., place))| self.page_of(*place));
    }

    /// Takes out the slot of the first event if that comes before `end`.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: Instant) -> Option<Place> {
        if self.open == Place::NONE {
            self.turn();
        }
        let place = self.slots.take_first_if(&mut self.open, |first| first.at() < end)?;
        self.season.events += 1;
        Some(place)
    }

    /// Returns the time of the first event.
    pub(crate) fn next_at(&mut self) -> Option<Instant> {
        if self.open == Place::NONE {
            self.turn();
        }
        (self.open != Place::NONE).then(|| self.slots.get(self.open).event.at())
    }

    /// Opens the next page that has something on it.
    #[inline]
    fn turn(&mut self) {
        match self.pages.next_nearby(self.closed) {
            Some(next) if next < self.beyond && self.season.events < SEASON => self.open_page(next),
            _ => self.turn_far(),
        }
    }

    #[inline]
    fn open_page(&mut self, page: u64) {
        self.season.pages += 1;
        self.closed = page + 1;
        self.open = self.pages.take(page);
    }

    #[inline(never)]
    fn turn_far(&mut self) {
        if self.season.events >= SEASON {
            self.adjust();
        }
        let next = self.pages.next_from(self.closed).unwrap_or(u64::MAX);
        if self.beyond.min(next) < u64::MAX {
            self.open_page(self.beyond.min(next));
        }
        if self.beyond < self.closed {
            self.open_from_beyond();
        }
    }

    /// Adds what waits for the page that is open now. It was entered before what is on the page already, and so comes first
    /// among equals.
    fn open_from_beyond(&mut self) {
        let mut entered = std::mem::replace(&mut self.open, Place::NONE);
        while self.beyond < self.closed
            && let Some(Reverse((.., place))) = self.later.pop()
        {
            self.slots.insert(&mut self.open, place);
            self.season.from_beyond += 1;
            self.look_beyond();
        }
        while let Some(place) = self.slots.take_first(&mut entered) {
            self.slots.insert(&mut self.open, place);
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
        let pages = std::mem::replace(&mut self.pages, Pages::new(count.clamp(FEWEST_PAGES, MOST_PAGES)));
        self.closed = self.closed.saturating_sub(1) << self.length >> length;
        self.length = length;
        for mut list in pages.into_lists() {
            while let Some(place) = self.slots.take_first(&mut list) {
                self.push(place);
            }
        }
        self.look_beyond();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Kind;
    use crate::ids::LinkId;
    use crate::moment::Moment;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Moment {
        Moment::fresh(Instant::from_nanos(nanos))
    }

    fn arrival(calendar: &mut Calendar, nanos: u64, link: u32) -> Place {
        let place = calendar.slots.take();
        let event = &mut calendar.slots.get_mut(place).event;
        event.moment = at(nanos);
        event.become_arrival(LinkId(link));
        calendar.push(place);
        place
    }

    fn pop_before(calendar: &mut Calendar, end: Instant) -> Option<(Place, Event)> {
        let place = calendar.pop_before(end)?;
        calendar.slots.set_free(place);
        Some((place, calendar.slots.get(place).event))
    }

    #[test]
    fn simultaneous_events_come_by_kind_then_number_whatever_the_order_of_insertion() {
        let mut calendar = Calendar::default();
        for (kind, number) in [(Kind::Probe, 0), (Kind::Wake, 1), (Kind::Arrival, 9), (Kind::Arrival, 2)] {
            calendar.appoint(Event::new(at(5), kind, number));
        }
        calendar.appoint(Event::new(at(4), Kind::Probe, 7));
        let events = std::iter::from_fn(|| pop_before(&mut calendar, Instant::NEVER));
        let order: Vec<_> = events.map(|(_, event)| (event.at().as_nanos(), event.kind(), event.number())).collect();
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
            let mut calendar = Calendar::default();
            let mut sorted = std::collections::BTreeMap::new();
            let (mut now, mut entries) = (0, 0);
            let mut enter = |calendar: &mut Calendar, now: u64, (bits, part, link): (u32, u64, u32)| {
                let span = part & ((1 << (bits + scale)) - 1);
                entries += 1;
                ((now + span, link, entries), arrival(calendar, now + span, link))
            };
            for span in &spans {
                let (key, place) = enter(&mut calendar, now, *span);
                sorted.insert(key, place);
            }
            // Each event that comes brings another one, as packets do; ties are in the order of entry.
            for round in 0..20_000 {
                let (place, event) = pop_before(&mut calendar, Instant::NEVER).expect("as many come as go");
                let (key, expected) = sorted.pop_first().expect("the same");
                prop_assert_eq!((event.at().as_nanos(), event.number(), place), (key.0, key.1, expected));
                now = key.0;
                let (key, place) = enter(&mut calendar, now, spans[round % spans.len()]);
                sorted.insert(key, place);
            }
        }
    }
}
