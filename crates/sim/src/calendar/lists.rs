//! Lists of events in their order, as many as are asked for, in slots that they share.

use crate::events::Event;

/// The first slot of a list, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List(u32);

impl List {
    pub(super) const EMPTY: Self = Self(u32::MAX);

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }
}

/// The slots of all lists.
#[derive(Debug)]
pub(super) struct Lists {
    slots: Vec<Slot>,
    /// Those that are not in use.
    free: List,
}

#[derive(Debug)]
struct Slot {
    event: Event,
    rest: List,
}

impl Default for Lists {
    fn default() -> Self {
        Self { slots: Vec::new(), free: List::EMPTY }
    }
}

impl Lists {
    #[inline]
    fn slot(&mut self, list: List) -> &mut Slot {
        &mut self.slots[list.0 as usize]
    }

    /// Gives the first event of a list.
    #[inline]
    pub(super) fn first(&self, list: List) -> Option<&Event> {
        self.slots.get(list.0 as usize).map(|slot| &slot.event)
    }

    /// Enters an event, behind those that are equal.
    #[inline]
    pub(super) fn insert(&mut self, list: &mut List, event: Event) {
        let new = self.occupy(event);
        if self.first(*list).is_none_or(|first| event < *first) {
            self.slot(new).rest = *list;
            *list = new;
        } else {
            self.insert_behind(*list, new);
        }
    }

    fn insert_behind(&mut self, first: List, new: List) {
        let event = self.slot(new).event;
        let mut before = first;
        let mut rest = self.slot(first).rest;
        while self.first(rest).is_some_and(|next| *next <= event) {
            before = rest;
            rest = self.slot(rest).rest;
        }
        self.slot(before).rest = new;
        self.slot(new).rest = rest;
    }

    #[inline]
    fn occupy(&mut self, event: Event) -> List {
        let new = self.free;
        if new.is_empty() {
            return self.grow(event);
        }
        let slot = self.slot(new);
        slot.event = event;
        self.free = slot.rest;
        new
    }

    #[cold]
    fn grow(&mut self, event: Event) -> List {
        self.slots.push(Slot { event, rest: List::EMPTY });
        List(self.slots.len() as u32 - 1)
    }

    /// Takes the first event off a list, which is not empty.
    #[inline]
    pub(super) fn remove_first(&mut self, list: &mut List) {
        let (first, free) = (*list, self.free);
        *list = std::mem::replace(&mut self.slot(first).rest, free);
        self.free = first;
    }
}
