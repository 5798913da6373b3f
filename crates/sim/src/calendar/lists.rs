//! Lists of events in their order, as many as are asked for, in places that they share. A list is known by its first place.

use crate::events::{Event, Place};

/// The events of all lists.
#[derive(Debug)]
pub(super) struct Lists {
    events: Vec<Event>,
    /// The list of places that are not in use.
    free: Place,
}

impl Default for Lists {
    fn default() -> Self {
        Self { events: Vec::new(), free: Place::NONE }
    }
}

impl Lists {
    /// Enters an event, behind those that are equal.
    #[inline]
    pub(super) fn insert(&mut self, first: &mut Place, mut event: Event) {
        let mut before = Place::NONE;
        event.next = *first;
        while let Some(other) = self.events.get(event.next.index()).filter(|other| **other <= event) {
            before = event.next;
            event.next = other.next;
        }
        let new = self.occupy(event);
        match self.events.get_mut(before.index()) {
            Some(before) => before.next = new,
            None => *first = new,
        }
    }

    #[inline]
    fn occupy(&mut self, event: Event) -> Place {
        let new = self.free;
        let Some(place) = self.events.get_mut(new.index()) else { return self.grow(event) };
        self.free = place.next;
        *place = event;
        new
    }

    #[cold]
    fn grow(&mut self, event: Event) -> Place {
        self.events.push(event);
        Place(self.events.len() as u32 - 1)
    }

    /// Takes the first event off a list if it is one that is asked for.
    #[inline]
    pub(super) fn take_first_if(
        &mut self,
        first: &mut Place,
        is_asked_for: impl FnOnce(&Event) -> bool,
    ) -> Option<Event> {
        let place = self.events.get_mut(first.index()).filter(|event| is_asked_for(event))?;
        let event = *place;
        place.next = std::mem::replace(&mut self.free, *first);
        *first = event.next;
        Some(event)
    }

    /// Takes the first event off a list.
    pub(super) fn take_first(&mut self, first: &mut Place) -> Option<Event> {
        self.take_first_if(first, |_| true)
    }
}
