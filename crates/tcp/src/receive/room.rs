//! The receiver's window (RFC 9293 §3.8.6.2): what fits, and how much of it the peer is told.

use crate::policy::buffer::{BufferSize, LARGEST_UNSCALED};

/// The room for what arrives, and the part of it that the peer was told of.
#[derive(Clone, Debug)]
pub(super) struct Room {
    size: BufferSize,
    largest: BufferSize,
    segment: u64,
    /// The told edge moves on by so much at least.
    step: u64,
    /// Bits by which the window is scaled down in a header.
    shift: u8,
    /// First position beyond the window that was told last; in a header it may be less, where that has too few bits. 0
    /// while the peer's numbers are not known.
    told: u64,
    /// Position and unread bytes for which it was told: a side that only sends tells the same with every segment.
    told_for: (u64, u64),
}

/// Stands where nothing was told.
const NEVER_TOLD: (u64, u64) = (u64::MAX, u64::MAX);

impl Room {
    /// Makes the room of a buffer. `step` is the receiver's side of avoiding silly windows (RFC 9293 §3.8.6.2.2): the
    /// window grows by a segment or half the buffer.
    pub(super) fn new([size, largest]: [BufferSize; 2], segment: u64) -> Self {
        let step = Self::step(segment, size.capacity);
        Self { size, largest, segment, step, shift: 0, told: 0, told_for: NEVER_TOLD }
    }

    /// A buffer of one byte has no half: it moves on by the byte.
    fn step(segment: u64, capacity: u64) -> u64 {
        segment.min(capacity / 2).max(1)
    }

    /// The peer's numbers are known now, and nothing was told in them.
    pub(super) fn begin(&mut self) {
        (self.told, self.told_for) = (0, NEVER_TOLD);
    }

    /// Sets the bits by which the window is scaled down in a header.
    pub(super) fn scale(&mut self, shift: u8) {
        (self.shift, self.told_for) = (shift, NEVER_TOLD);
    }

    /// Returns the first position beyond the window that was told last.
    pub(super) fn edge(&self) -> u64 {
        self.told
    }

    /// Lets the buffer hold more; it never holds less than before.
    pub(super) fn grow(&mut self, capacity: u64) {
        if capacity > self.size.capacity {
            self.size = BufferSize::holding(capacity, self.largest.capacity);
            self.step = Self::step(self.segment, capacity);
            self.told_for = NEVER_TOLD;
        }
    }

    /// Returns the smallest shift with which the whole window can be told (RFC 7323 §2.3).
    pub(super) fn wanted_shift(&self) -> u8 {
        (0..14).find(|shift| self.largest.offered() >> shift <= LARGEST_UNSCALED).unwrap_or(14)
    }

    /// Returns the bytes that still fit.
    pub(super) fn free(&self, unread: u64) -> u64 {
        self.size.capacity.saturating_sub(unread)
    }

    /// Returns the window that was told last; before the peer's numbers are known, a SYN tells it unscaled.
    pub(super) fn window(&self, nxt: u64) -> u64 {
        if self.told == 0 { self.size.offered().min(LARGEST_UNSCALED) } else { self.told.saturating_sub(nxt) }
    }

    /// Returns the edge that could be told: it never moves back, for what arrives in order makes as much room less as it
    /// moves the start of the window.
    fn offer(&self, nxt: u64, unread: u64) -> u64 {
        nxt + self.size.offered().saturating_sub(unread)
    }

    /// Returns whether the edge that could be told is far enough beyond the one that was.
    fn is_step(&self, offer: u64) -> bool {
        offer >= self.told + self.step
    }

    /// Decides what a segment that leaves now tells.
    ///
    /// A scaled window has steps, which move with the start of the window. What is told is rounded up where rounding down
    /// would take back what was told before (RFC 7323 §2.4), as long as that fits into the buffer.
    #[inline]
    pub(super) fn tell(&mut self, nxt: u64, unread: u64) {
        if self.told_for != (nxt, unread) {
            self.told_for = (nxt, unread);
            self.tell_anew(nxt, unread);
        }
    }

    fn tell_anew(&mut self, nxt: u64, unread: u64) {
        let offer = self.offer(nxt, unread);
        let edge = if self.is_step(offer) { offer } else { self.told.max(nxt) };
        let below = (1 << self.shift) - 1;
        let rest = (edge - nxt) & below;
        let up = edge - rest + (below + 1);
        let is_rounded_up = rest > 0 && edge - rest < self.told && up <= nxt + self.free(unread);
        self.told = if is_rounded_up { up } else { edge - rest };
    }

    /// Returns the window that was told last, as a header has it; in a SYN it is not scaled (RFC 7323 §2.2).
    #[inline]
    pub(super) fn field(&self, nxt: u64, is_opening: bool) -> u16 {
        let window = self.window(nxt) >> if is_opening { 0 } else { self.shift };
        window.min(LARGEST_UNSCALED) as u16
    }

    /// Returns whether a window that was nearly closed is open again, half of it at least: that is told of unasked.
    pub(super) fn has_reopened(&self, nxt: u64, unread: u64, smallest: u64) -> bool {
        let largest = self.size.offered().min(LARGEST_UNSCALED << self.shift);
        let offer = self.offer(nxt, unread);
        self.told < nxt + smallest.max(largest / 4).max(1) && offer - nxt >= largest / 2 && self.is_step(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SEGMENT: u64 = 1000;

    fn room_of(capacity: u64) -> Room {
        Room::new([BufferSize::holding(capacity, capacity); 2], SEGMENT)
    }

    proptest! {
        /// Whatever arrives and whoever reads: what is told fits, nothing is taken back but what rounding of the tiniest
        /// segments has used up, and the edge moves on by a segment or half the buffer.
        #[test]
        fn what_is_told_fits_and_is_not_taken_back(
            capacity in prop_oneof![1_u64..10_000, 60_000_u64..5_000_000],
            steps in vec((0_u64..3000, 0_u64..4000), 1..400),
        ) {
            let mut room = room_of(capacity);
            room.scale(room.wanted_shift());
            let (mut nxt, mut unread) = (1, 0);
            room.tell(nxt, unread);
            let mut rounded = 0;
            for (arrived, read) in steps {
                let (told, limit) = (room.told, nxt + room.free(unread));
                let arrived = arrived.min(room.told.saturating_sub(nxt));
                (nxt, unread) = (nxt + arrived, unread + arrived);
                unread -= read.min(unread);
                prop_assert!(nxt + room.free(unread) >= limit, "what once fitted fits");
                room.tell(nxt, unread);
                prop_assert!(room.told <= nxt + room.free(unread) && unread <= capacity);
                rounded += arrived % (1 << room.shift);
                prop_assert!(room.told >= told || rounded > room.size.kept_back, "{told} was told, then {}", room.told);
                let moved = room.told.saturating_sub(told);
                let granule = 1 << room.shift;
                prop_assert!(moved < granule || moved + granule > SEGMENT.min(capacity / 2), "{moved} is silly");
            }
        }
    }

    /// A quarter and a half of a few bytes are nothing.
    #[test]
    fn a_closed_window_of_a_few_bytes_is_told_open_again_once() {
        for capacity in 1..=8 {
            let mut room = room_of(capacity);
            let end = 1 + capacity;
            room.tell(1, 0);
            room.tell(end, capacity);
            assert!(!room.has_reopened(end, capacity, 0), "{capacity} bytes are unread");
            assert!(room.has_reopened(end, 0, 0), "{capacity} bytes were read");
            room.tell(end, 0);
            assert!(!room.has_reopened(end, 0, 0), "{capacity} bytes were told");
        }
    }

    /// The scale is that of the largest buffer from the beginning.
    #[test]
    fn a_buffer_that_grows_is_offered_as_it_grows() {
        let sizes = [65_536, 4_000_000].map(|capacity| BufferSize::holding(capacity, 4_000_000));
        let mut room = Room::new(sizes, SEGMENT);
        room.scale(room.wanted_shift());
        let mut windows = Vec::new();
        for capacity in [0, 100_000, 50_000, 4_000_000] {
            room.grow(capacity);
            room.tell(1, 0);
            windows.push(u64::from(room.field(1, false)) << room.shift);
        }
        // A 32nd is kept back, and 64 bytes are the scale.
        assert_eq!((room.shift, &windows[..]), (6, &[63_488, 96_832, 96_832, 3_874_944][..]));
    }

    #[test]
    fn a_field_has_the_window_in_units_of_its_scale_and_a_syn_in_bytes() {
        for (capacity, shift, field, opening) in [
            (4000, 0, 4000, 4000),
            (65_535, 0, 65_535, 65_535),
            (132_000, 1, 63_937, 65_535),
            (1 << 40, 14, 65_535, 65_535),
        ] {
            let mut room = room_of(capacity);
            room.scale(room.wanted_shift());
            room.tell(1, 0);
            assert_eq!((room.shift, room.field(1, false), room.field(1, true)), (shift, field, opening));
        }
    }
}
