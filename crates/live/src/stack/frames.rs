//! The bytes of frames, by number, for as long as they may have to be sent.

use std::collections::VecDeque;

/// A frame that was written.
#[derive(Debug)]
struct Held {
    bytes: Box<[u8]>,
    /// Where it ends in the stream, once it was sent.
    end: Option<u64>,
}

/// What one side wrote, where one write is one segment.
#[derive(Debug, Default)]
pub(super) struct Frames {
    held: VecDeque<Option<Held>>,
    /// Number of the first one held.
    first: u64,
    /// Numbers of those that were given up, for an application that asks.
    discarded: VecDeque<u64>,
}

/// So many are remembered for an application that does not ask.
const DISCARDED: usize = 1024;

impl Frames {
    /// Keeps a frame; they come in the order of their numbers.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.held.push_back(Some(Held { bytes: bytes.into(), end: None }));
    }

    /// Returns a frame that is sent now and ends so far in the stream, in its own place or in that of one that was given up.
    pub(super) fn send(&mut self, number: u64, end: u64) -> &[u8] {
        match self.place(number) {
            Some(Some(held)) => {
                held.end = Some(end);
                &held.bytes
            }
            _ => &[],
        }
    }

    fn place(&mut self, number: u64) -> Option<&mut Option<Held>> {
        self.held.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Takes note that a frame was given up. One that was sent may have to be sent once more to get anything through.
    pub(super) fn discard(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            place.take_if(|held| held.end.is_none());
        }
        if self.discarded.len() == DISCARDED {
            self.discarded.pop_front();
        }
        self.discarded.push_back(number);
    }

    /// Returns the number of the next frame that was given up.
    pub(super) fn next_discarded(&mut self) -> Option<u64> {
        self.discarded.pop_front()
    }

    /// Forgets what the peer has, or has passed.
    pub(super) fn forget_below(&mut self, offset: u64) {
        let is_done = |held: &Option<Held>| held.as_ref().is_none_or(|held| held.end.is_some_and(|end| end <= offset));
        while self.held.pop_front_if(|held| is_done(held)).is_some() {
            self.first += 1;
        }
    }
}
