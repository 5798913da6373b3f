//! The packets that wait in front of a link that knows when each will leave.

use crate::moment::Moment;

/// When the transmission of each begins, and its size. Those in front that have left stay until room is needed: that costs less
/// than a ring, which is examined at each end of each step.
#[derive(Debug, Default)]
pub(super) struct Line {
    places: Vec<(Moment, u32)>,
    /// The places of those that wait.
    first: usize,
    end: usize,
    bytes: u64,
}

impl Line {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end - self.first
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a packet that begins at a time, not before the others, if there is a place; says whether there was.
    #[inline]
    pub(super) fn push_into_place(&mut self, start: Moment, bytes: u32) -> bool {
        let Some(place) = self.places.get_mut(self.end) else { return false };
        *place = (start, bytes);
        self.end += 1;
        self.bytes += u64::from(bytes);
        true
    }

    pub(super) fn push(&mut self, start: Moment, bytes: u32) {
        if self.end == self.places.len() {
            self.make_places();
        }
        self.push_into_place(start, bytes);
    }

    /// Makes places for as many as wait, so that this is done seldom.
    fn make_places(&mut self) {
        self.places.copy_within(self.first..self.end, 0);
        (self.first, self.end) = (0, self.len());
        let wanted = (2 * self.end).max(FEWEST_PLACES);
        if wanted > self.places.len() {
            self.places.resize(wanted, (Moment::ZERO, 0));
        }
    }

    /// Lets all leave.
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.first, self.end, self.bytes) = (0, 0, 0);
    }

    /// Lets those leave that begin until now.
    #[inline]
    pub(super) fn leave_by(&mut self, now: Moment) {
        let waiting = &self.places[self.first..self.end];
        let left = waiting.iter().take_while(|(start, _)| start.is_by(now));
        let (count, bytes) = left.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + u64::from(*bytes)));
        self.first += count;
        self.bytes -= bytes;
    }
}

const FEWEST_PLACES: usize = 4;
