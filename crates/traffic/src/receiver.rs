//! Receiver applications.

use crate::Request;
use alloc::collections::VecDeque;
use core::fmt::Debug;
use core::iter;
use earlybird_units::{Duration, Instant};

/// The content of a frame, datagram or range of a stream: a unit of media, or one of its parts.
///
/// On a real network the first bytes of the payload say so, as the 32-bit sequence number of RTP-like headers does; they
/// count among the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of the unit, counted from 0 in order of writing.
    pub unit: u64,
    /// Number of the part in its unit, counted from 0.
    pub part: u32,
    /// Parts of the unit.
    pub parts: u32,
}

impl Part {
    /// A unit in one piece.
    pub const fn whole(unit: u64) -> Self {
        Self { unit, part: 0, parts: 1 }
    }

    /// Returns whether it is the last one of its unit.
    pub const fn is_last(self) -> bool {
        self.part + 1 == self.parts
    }
}

/// Finds complete units from parts that are read once each, in any order.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// Incomplete units with the number of parts that were read, the newest last.
    begun: VecDeque<(u64, u32)>,
}

/// Number of incomplete units that are kept. Missing parts of older ones will not arrive.
const BEGUN: usize = 256;

impl Completion {
    /// Records that a part was read. Returns its unit if that is complete now.
    pub fn take(&mut self, part: Part) -> Option<u64> {
        // From the back: parts of the newest unit are the most frequent.
        let place = self.begun.iter().rposition(|(unit, _)| *unit == part.unit);
        let before = place.and_then(|place| self.begun.remove(place)).map_or(0, |(_, parts)| parts);
        if before + 1 == part.parts {
            return Some(part.unit);
        }
        // Bounded memory: units whose parts were lost would stay for ever.
        if self.begun.len() == BEGUN {
            self.begun.pop_front();
        }
        self.begun.push_back((part.unit, before + 1));
        None
    }
}

/// Cuts a unit of `bytes` bytes into parts that fit into segments of `mss` bytes. Returns each with its size. All are full but
/// the last.
pub fn cut(unit: u64, bytes: u64, mss: u64) -> impl Iterator<Item = (Part, u64)> {
    let mss = mss.max(1);
    // All parts but the last are full: fewest segments.
    let parts = bytes.div_ceil(mss) as u32;
    let mut left = bytes;
    (0..parts)
        .zip(iter::from_fn(move || {
            let size = left.min(mss);
            left -= size;
            Some(size)
        }))
        .map(move |(part, size)| (Part { unit, part, parts }, size))
}

/// The state of a viewer that it reports to its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// Number of the highest unit of which anything was read.
    pub highest: Option<u64>,
    /// Units that were not complete at their deadline.
    pub lost: u64,
}

/// An event of a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Playout {
    /// The unit was complete at its deadline and played.
    Played(u64),
    /// The unit was not complete at its deadline.
    Lost(u64),
    /// A lost unit is complete now.
    Late(u64),
    /// Playback started; the startup delay.
    Started(Duration),
    /// Playback stalls because the next unit is missing.
    Stalled,
    /// Playback resumes after a stall of this length.
    Resumed(Duration),
    /// The playback delay from now on.
    Delayed(Duration),
    /// A heartbeat was sent.
    Heartbeat(Reception),
    /// A receiver report was sent.
    Report(Reception),
    /// A segment was requested.
    Requested(Request),
}

/// The calls of a receiver application.
pub trait ReceiverIo {
    /// Returns the time.
    fn now(&self) -> Instant;
    /// Reads the next part that is in order; never skips or waits.
    fn read_in_order(&mut self) -> Option<Part>;
    /// Reads the next part. If none is in order, a transport that skips reads behind the hole. `None` if no data has
    /// arrived; such a transport then treats the reader as waiting, and skips holes as soon as it can.
    fn read(&mut self) -> Option<Part>;
    /// Returns the part that [`Self::read`] would return, if known: with frames.
    fn peek(&self) -> Option<Part> {
        None
    }
    /// Sends a small message back to the opener.
    fn write(&mut self, bytes: u64);
    /// Returns the received bytes of the stream, of all units.
    fn received(&self) -> u64 {
        0
    }
    /// Returns the position in the stream up to which units were read.
    fn position(&self) -> u64 {
        self.received()
    }
    /// Sends a request with a number of bytes to the opener; if openers read nothing, it is an ordinary message.
    fn request(&mut self, bytes: u64, _request: Request) {
        self.write(bytes);
    }
    /// Sets the wake-up time. It replaces an earlier one.
    fn wake_at(&mut self, at: Instant);
    /// Reports an event to the observer.
    fn report(&mut self, event: Playout);
}

/// An application at the end that did not open the connection.
pub trait ReceiverApp: Debug + Send {
    /// Called when the opener opens the connection, and then at the times set by [`ReceiverIo::wake_at`].
    fn on_wake(&mut self, io: &mut dyn ReceiverIo);
    /// Called when there is new data to read.
    fn on_readable(&mut self, io: &mut dyn ReceiverIo);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn units_are_whole_with_their_last_part_in_whichever_order_they_come() {
        let mut completion = Completion::default();
        let whole = [(0, 0), (1, 1), (0, 1), (2, 0), (1, 0), (2, 1)]
            .map(|(unit, part)| completion.take(Part { unit, part, parts: 2 }));
        assert_eq!(whole, [None, None, Some(0), None, Some(1), Some(2)]);
        (0..1000).for_each(|unit| _ = completion.take(Part { unit, part: 0, parts: 2 }));
        assert_eq!(completion.begun.len(), BEGUN);
    }

    #[test]
    fn a_unit_is_cut_into_full_parts_and_a_rest() {
        let sizes = |bytes| cut(7, bytes, 1000).map(|(part, size)| (part.part, part.parts, size)).collect::<Vec<_>>();
        assert_eq!(sizes(100), [(0, 1, 100)]);
        assert_eq!(sizes(2000), [(0, 2, 1000), (1, 2, 1000)]);
        assert_eq!(sizes(2500), [(0, 3, 1000), (1, 3, 1000), (2, 3, 500)]);
        assert_eq!(sizes(0), []);
        assert!(cut(7, 2500, 1000).all(|(part, size)| part.unit == 7 && part.is_last() == (size == 500)));
    }
}
