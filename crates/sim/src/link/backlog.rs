//! The packets that wait for a link of the analytic model, each with its start of transmission.

use crate::ids::GroupId;
use crate::packet::Packet;
use crate::timestamp::Timestamp;
use earlybird_units::Instant;
use std::mem::offset_of;
use std::ops::Range;

/// A packet that was given its start of transmission.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: Timestamp,
    came: Instant,
    bytes: u32,
    group: GroupId,
}

/// A packet that waits, or is being transmitted, at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldPacket {
    pub(super) start: Timestamp,
    pub(super) end: Instant,
    pub(super) came: Instant,
    pub(super) bytes: u32,
    pub(super) group: u32,
}

/// Start of transmission and size of each packet. Packets that have left stay until room is needed: that costs less
/// than a ring, which is examined at each end of each step.
#[derive(Debug)]
#[repr(C)]
pub(super) struct LinkBacklog {
    /// Range of the packets that wait.
    first: u32,
    end: u32,
    /// Size and group of the packet that started before all in `places`.
    before: (u32, GroupId),
    /// Total size of the packets that wait.
    bytes: u64,
    places: Vec<Entry>,
    /// Arrival of the last packet.
    came: Timestamp,
}

impl Default for LinkBacklog {
    fn default() -> Self {
        Self { first: 0, end: 0, before: (0, GroupId(0)), bytes: 0, places: Vec::new(), came: Timestamp::ZERO }
    }
}

impl LinkBacklog {
    /// Bytes of the fields that a packet touches if none has waited since the link was idle.
    pub(super) const HOT_BYTES: usize = offset_of!(Self, bytes);

    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.end - self.first) as usize
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn range(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }

    /// Adds a packet that starts transmission at `start`, if there is capacity. Returns whether
    /// there was.
    #[inline]
    pub(super) fn push_if_room(&mut self, came: Timestamp, start: Timestamp, packet: &Packet) -> bool {
        let Some(place) = self.places.get_mut(self.end as usize) else { return false };
        *place = Entry { start, came: came.at, bytes: packet.bytes, group: packet.group };
        self.end += 1;
        self.bytes += u64::from(packet.bytes);
        self.came = came;
        true
    }

    pub(super) fn push(&mut self, came: Timestamp, start: Timestamp, packet: &Packet) {
        if self.end as usize == self.places.len() {
            self.grow();
        }
        self.push_if_room(came, start, packet);
    }

    /// Doubles the capacity or reclaims removed entries.
    fn grow(&mut self) {
        // Reclaim the entries that have left before growing: in steady state the buffer never reallocates.
        let waiting = self.range();
        if let Some(last) = self.places[..waiting.start].last() {
            self.before = (last.bytes, last.group);
        }
        self.places.copy_within(waiting, 0);
        (self.first, self.end) = (0, self.end - self.first);
        // Twice the length makes moving rare, amortised to constant cost per packet.
        let wanted = (2 * self.len()).max(MIN_CAPACITY);
        if wanted > self.places.len() {
            self.places
                .resize(wanted, Entry { start: Timestamp::ZERO, came: Instant::ZERO, bytes: 0, group: GroupId(0) });
        }
    }

    /// Removes all packets, because the link is idle and transmits this one at once.
    #[inline]
    pub(super) fn restart(&mut self, bytes: u32, group: GroupId) {
        self.before = (bytes, group);
        // Spares most links a cache line: that of `bytes`.
        if self.end > 0 {
            (self.first, self.end, self.bytes) = (0, 0, 0);
        }
    }

    /// Returns the packets that wait at a time and, first, the one that is being transmitted. The last packet leaves at
    /// `free_at`; nothing may have been removed after that time.
    pub(super) fn held(&self, at: Instant, free_at: Instant) -> impl Iterator<Item = HeldPacket> {
        let packets = &self.places[..self.range().end];
        // Transmissions follow without a gap, so that each ends where the next one starts.
        let end_of = move |index: usize| packets.get(index).map_or(free_at, |next| next.start.at);
        let (bytes, group) = self.before;
        let before = HeldPacket { start: Timestamp::ZERO, end: end_of(0), came: Instant::ZERO, bytes, group: group.0 };
        let others = (1..).zip(packets).map(move |(next, packet)| HeldPacket {
            start: packet.start,
            end: end_of(next),
            came: packet.came,
            bytes: packet.bytes,
            group: packet.group.0,
        });
        [before].into_iter().chain(others).filter(move |packet| packet.end > at)
    }

    /// Removes the packets that start until a time, or until the last arrival if that is later.
    pub(super) fn remove_started_by(&mut self, at: Instant) {
        self.remove_started(self.came);
        self.remove_started(Timestamp::from_instant(at));
    }

    /// Removes the packets that start until now.
    #[inline]
    pub(super) fn remove_started(&mut self, now: Timestamp) {
        let waiting = &self.places[self.range()];
        let left = waiting.iter().take_while(|packet| packet.start.is_not_after(now));
        let (count, bytes) = left.fold((0_u32, 0), |(count, sum), packet| (count + 1, sum + u64::from(packet.bytes)));
        self.first += count;
        self.bytes -= bytes;
    }
}

const MIN_CAPACITY: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(bytes: u32) -> Packet {
        let segment = earlybird_wire::Segment::default();
        Packet::external(crate::ids::RouteId(0), bytes, crate::packet::Content::Segment(segment))
    }

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_instant(Instant::from_nanos(nanos))
    }

    /// A sample counted packets that lie in the line still although they had begun when the last one came, which may be
    /// later than the sample: packets come to some links ahead of time.
    #[test]
    fn what_has_begun_when_the_last_packet_comes_is_not_counted_as_waiting() {
        let mut line = LinkBacklog::default();
        for (came, start) in [(0, 10), (5, 20), (15, 30)] {
            line.push(at(came), at(start), &packet(100));
        }
        assert_eq!((line.len(), line.bytes()), (3, 300));
        line.remove_started_by(Instant::from_nanos(2));
        assert_eq!((line.len(), line.bytes()), (2, 200), "the first began at 10");
        line.remove_started_by(Instant::from_nanos(20));
        assert_eq!((line.len(), line.bytes()), (1, 100));
        assert!(line.push_if_room(at(40), at(50), &packet(100)), "there are places for as many again");
        line.remove_started_by(Instant::from_nanos(20));
        assert_eq!(line.len(), 1, "the third began at 30");
    }

    #[test]
    fn a_backlog_that_has_grown_keeps_its_order_when_slots_are_reused() {
        let mut line = LinkBacklog::default();
        for nanos in 0..100 {
            line.push(at(nanos), at(nanos + 10), &packet(1));
            line.remove_started(at(nanos));
            assert_eq!(line.len() as u64, 10.min(nanos + 1));
        }
        assert!(line.places.len() <= 32, "{} places for ten packets", line.places.len());
    }
}
