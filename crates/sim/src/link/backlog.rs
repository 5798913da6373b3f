//! The packets that wait for a link of the analytic model, each with its start of transmission.

use crate::timestamp::Timestamp;
use earlybird_units::Instant;

/// Start of transmission and size of each packet. Packets that have left stay until room is needed: that costs less
/// than a ring, which is examined at each end of each step.
#[derive(Debug)]
pub(super) struct LinkBacklog {
    places: Vec<(Timestamp, u32)>,
    /// Range of the packets that wait.
    first: usize,
    end: usize,
    bytes: u64,
    /// Arrival of the last packet.
    came: Timestamp,
}

impl Default for LinkBacklog {
    fn default() -> Self {
        Self { places: Vec::new(), first: 0, end: 0, bytes: 0, came: Timestamp::ZERO }
    }
}

impl LinkBacklog {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end - self.first
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a packet that starts transmission at `start`, if there is capacity. Returns whether
    /// there was.
    #[inline]
    pub(super) fn push_if_room(&mut self, came: Timestamp, start: Timestamp, bytes: u32) -> bool {
        let Some(place) = self.places.get_mut(self.end) else { return false };
        *place = (start, bytes);
        self.end += 1;
        self.bytes += u64::from(bytes);
        self.came = came;
        true
    }

    pub(super) fn push(&mut self, came: Timestamp, start: Timestamp, bytes: u32) {
        if self.end == self.places.len() {
            self.grow();
        }
        self.push_if_room(came, start, bytes);
    }

    /// Doubles the capacity or reclaims removed entries.
    fn grow(&mut self) {
        // Reclaim the entries that have left before growing: in steady state the buffer never reallocates.
        self.places.copy_within(self.first..self.end, 0);
        (self.first, self.end) = (0, self.len());
        // Twice the length makes moving rare, amortised to constant cost per packet.
        let wanted = (2 * self.end).max(MIN_CAPACITY);
        if wanted > self.places.len() {
            self.places.resize(wanted, (Timestamp::ZERO, 0));
        }
    }

    /// Removes all packets.
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.first, self.end, self.bytes) = (0, 0, 0);
    }

    /// Removes the packets that start until a time, or until the last arrival if that is later.
    pub(super) fn remove_started_by(&mut self, at: Instant) {
        self.remove_started(self.came);
        self.remove_started(Timestamp::from_instant(at));
    }

    /// Removes the packets that start until now.
    #[inline]
    pub(super) fn remove_started(&mut self, now: Timestamp) {
        let waiting = &self.places[self.first..self.end];
        let left = waiting.iter().take_while(|(start, _)| start.is_not_after(now));
        let (count, bytes) = left.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + u64::from(*bytes)));
        self.first += count;
        self.bytes -= bytes;
    }
}

const MIN_CAPACITY: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_instant(Instant::from_nanos(nanos))
    }

    /// A sample counted packets that lie in the line still although they had begun when the last one came, which may be
    /// later than the sample: packets come to some links ahead of time.
    #[test]
    fn what_has_begun_when_the_last_packet_comes_is_not_counted_as_waiting() {
        let mut line = LinkBacklog::default();
        for (came, start) in [(0, 10), (5, 20), (15, 30)] {
            line.push(at(came), at(start), 100);
        }
        assert_eq!((line.len(), line.bytes()), (3, 300));
        line.remove_started_by(Instant::from_nanos(2));
        assert_eq!((line.len(), line.bytes()), (2, 200), "the first began at 10");
        line.remove_started_by(Instant::from_nanos(20));
        assert_eq!((line.len(), line.bytes()), (1, 100));
        assert!(line.push_if_room(at(40), at(50), 100), "there are places for as many again");
        line.remove_started_by(Instant::from_nanos(20));
        assert_eq!(line.len(), 1, "the third began at 30");
    }

    #[test]
    fn a_backlog_that_has_grown_keeps_its_order_when_slots_are_reused() {
        let mut line = LinkBacklog::default();
        for nanos in 0..100 {
            line.push(at(nanos), at(nanos + 10), 1);
            line.remove_started(at(nanos));
            assert_eq!(line.len() as u64, 10.min(nanos + 1));
        }
        assert!(line.places.len() <= 32, "{} places for ten packets", line.places.len());
    }
}
