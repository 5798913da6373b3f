//! The receive window (RFC 9293 §3.8.6.2): free buffer space, and the part of it that was advertised.

use crate::policy::buffer::{BufferSize, LARGEST_UNSCALED};

/// The free space of the buffer, and the edge that was advertised.
#[derive(Clone, Debug)]
pub(super) struct RcvWindow {
    size: BufferSize,
    largest: BufferSize,
    segment: u64,
    /// The least step in bytes by which the advertised edge moves.
    step: u64,
    /// Bits by which the window is scaled down in a header.
    shift: u8,
    /// The right edge of the advertised window; the header field may be less, as it has 16 bits. 0 while the peer's sequence
    /// numbers are unknown.
    advertised: u64,
    /// RCV.NXT and unread bytes of that advertisement. A host that only sends advertises the same with every segment.
    advertised_for: (u64, u64),
}

/// The value of `advertised_for` before any advertisement.
const NEVER_ADVERTISED: (u64, u64) = (u64::MAX, u64::MAX);

impl RcvWindow {
    /// Returns the window of a buffer. `step` is the receiver's part of silly window syndrome avoidance (RFC 9293 §3.8.6.2.2): the
    /// edge moves by a segment or half the buffer.
    pub(super) fn new([size, largest]: [BufferSize; 2], segment: u64) -> Self {
        let step = Self::step(segment, size.capacity);
        Self { size, largest, segment, step, shift: 0, advertised: 0, advertised_for: NEVER_ADVERTISED }
    }

    /// Returns the least step; one byte for a buffer of one byte.
    fn step(segment: u64, capacity: u64) -> u64 {
        segment.min(capacity / 2).max(1)
    }

    /// Resets the advertisement: the peer's sequence numbers are known now.
    pub(super) fn reset(&mut self) {
        (self.advertised, self.advertised_for) = (0, NEVER_ADVERTISED);
    }

    /// Sets the bits by which the window is scaled down in a header.
    pub(super) fn scale(&mut self, shift: u8) {
        (self.shift, self.advertised_for) = (shift, NEVER_ADVERTISED);
    }

    /// Returns the right edge of the advertised window.
    pub(super) fn edge(&self) -> u64 {
        self.advertised
    }

    /// Grows the buffer; it never shrinks.
    pub(super) fn grow(&mut self, capacity: u64) {
        if capacity > self.size.capacity {
            self.size = BufferSize::holding(capacity, self.largest.capacity);
            self.step = Self::step(self.segment, capacity);
            self.advertised_for = NEVER_ADVERTISED;
        }
    }

    /// Returns the smallest shift that can represent the largest window (RFC 7323 §2.3).
    pub(super) fn scale_shift(&self) -> u8 {
        // 14 is the largest shift (RFC 7323 §2.3).
        (0..14).find(|shift| self.largest.offered() >> shift <= LARGEST_UNSCALED).unwrap_or(14)
    }

    /// Returns the free space in bytes.
    pub(super) fn free(&self, unread: u64) -> u64 {
        self.size.capacity.saturating_sub(unread)
    }

    /// Returns the advertised window in bytes; before the peer's numbers are known, the unscaled one of our SYN.
    pub(super) fn window(&self, nxt: u64) -> u64 {
        if self.advertised == 0 {
            self.size.offered().min(LARGEST_UNSCALED)
        } else {
            self.advertised.saturating_sub(nxt)
        }
    }

    /// Returns the edge that could be advertised. It never moves back: data in order moves the left edge and shrinks the free space
    /// equally.
    fn offer(&self, nxt: u64, unread: u64) -> u64 {
        nxt + self.size.offered().saturating_sub(unread)
    }

    /// Returns whether the edge that could be advertised is a step beyond the advertised one.
    fn is_step(&self, offer: u64) -> bool {
        offer >= self.advertised + self.step
    }

    /// Updates the edge for a segment that is sent now.
    ///
    /// A scaled window has a granularity, relative to its left edge. It is rounded up where rounding down would shrink the
    /// advertised window (RFC 7323 §2.4), as long as that fits into the buffer.
    #[inline]
    pub(super) fn advertise(&mut self, nxt: u64, unread: u64) {
        // Nothing was read or received since: the edge is the same.
        if self.advertised_for != (nxt, unread) {
            self.advertised_for = (nxt, unread);
            self.update_edge(nxt, unread);
        }
    }

    fn update_edge(&mut self, nxt: u64, unread: u64) {
        let offer = self.offer(nxt, unread);
        // Silly window syndrome avoidance: keep the old edge until a step fits.
        let edge = if self.is_step(offer) { offer } else { self.advertised.max(nxt) };
        let below = (1 << self.shift) - 1;
        let rest = (edge - nxt) & below;
        let up = edge - rest + (below + 1);
        let is_rounded_up = rest > 0 && edge - rest < self.advertised && up <= nxt + self.free(unread);
        self.advertised = if is_rounded_up { up } else { edge - rest };
    }

    /// Returns the header field of the advertised window; on a SYN it is not scaled (RFC 7323 §2.2).
    #[inline]
    pub(super) fn header_field(&self, nxt: u64, is_opening: bool) -> u16 {
        let window = self.window(nxt) >> if is_opening { 0 } else { self.shift };
        window.min(LARGEST_UNSCALED) as u16
    }

    /// Returns whether a window that was nearly closed is at least half open again, so that a window update is due.
    pub(super) fn has_reopened(&self, nxt: u64, unread: u64, smallest: u64) -> bool {
        // Only what the header can represent counts.
        let largest = self.size.offered().min(LARGEST_UNSCALED << self.shift);
        let offer = self.offer(nxt, unread);
        self.advertised < nxt + smallest.max(largest / 4).max(1) && offer - nxt >= largest / 2 && self.is_step(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SEGMENT: u64 = 1000;

    fn window_of(capacity: u64) -> RcvWindow {
        RcvWindow::new([BufferSize::holding(capacity, capacity); 2], SEGMENT)
    }

    proptest! {
        /// Whatever arrives and whoever reads: what is advertised fits, nothing is taken back but what rounding of the tiniest
        /// segments has used up, and the edge moves on by a segment or half the buffer.
        #[test]
        fn what_is_told_fits_and_is_not_taken_back(
            capacity in prop_oneof![1_u64..10_000, 60_000_u64..5_000_000],
            steps in vec((0_u64..3000, 0_u64..4000), 1..400),
        ) {
            let mut window = window_of(capacity);
            window.scale(window.scale_shift());
            let (mut nxt, mut unread) = (1, 0);
            window.advertise(nxt, unread);
            let mut rounded = 0;
            for (arrived, read) in steps {
                let (advertised, limit) = (window.advertised, nxt + window.free(unread));
                let arrived = arrived.min(window.advertised.saturating_sub(nxt));
                (nxt, unread) = (nxt + arrived, unread + arrived);
                unread -= read.min(unread);
                prop_assert!(nxt + window.free(unread) >= limit, "what once fitted fits");
                window.advertise(nxt, unread);
                prop_assert!(window.advertised <= nxt + window.free(unread) && unread <= capacity);
                rounded += arrived % (1 << window.shift);
                prop_assert!(window.advertised >= advertised || rounded > window.size.reserved, "{advertised} was advertised, then {}", window.advertised);
                let moved = window.advertised.saturating_sub(advertised);
                let granule = 1 << window.shift;
                prop_assert!(moved < granule || moved + granule > SEGMENT.min(capacity / 2), "{moved} is silly");
            }
        }
    }

    /// A quarter and a half of a few bytes are nothing.
    #[test]
    fn a_closed_window_of_a_few_bytes_is_advertised_open_once() {
        for capacity in 1..=8 {
            let mut window = window_of(capacity);
            let end = 1 + capacity;
            window.advertise(1, 0);
            window.advertise(end, capacity);
            assert!(!window.has_reopened(end, capacity, 0), "{capacity} bytes are unread");
            assert!(window.has_reopened(end, 0, 0), "{capacity} bytes were read");
            window.advertise(end, 0);
            assert!(!window.has_reopened(end, 0, 0), "{capacity} bytes were advertised");
        }
    }

    /// The scale is that of the largest buffer from the beginning.
    #[test]
    fn a_buffer_that_grows_is_offered_as_it_grows() {
        let sizes = [65_536, 4_000_000].map(|capacity| BufferSize::holding(capacity, 4_000_000));
        let mut window = RcvWindow::new(sizes, SEGMENT);
        window.scale(window.scale_shift());
        let mut windows = Vec::new();
        for capacity in [0, 100_000, 50_000, 4_000_000] {
            window.grow(capacity);
            window.advertise(1, 0);
            windows.push(u64::from(window.header_field(1, false)) << window.shift);
        }
        // A 32nd is kept back, and 64 bytes are the scale.
        assert_eq!((window.shift, &windows[..]), (6, &[63_488, 96_832, 96_832, 3_874_944][..]));
    }

    #[test]
    fn a_field_has_the_window_in_units_of_its_scale_and_a_syn_in_bytes() {
        for (capacity, shift, header_field, opening) in [
            (4000, 0, 4000, 4000),
            (65_535, 0, 65_535, 65_535),
            (132_000, 1, 63_937, 65_535),
            (1 << 40, 14, 65_535, 65_535),
        ] {
            let mut window = window_of(capacity);
            window.scale(window.scale_shift());
            window.advertise(1, 0);
            assert_eq!(
                (window.shift, window.header_field(1, false), window.header_field(1, true)),
                (shift, header_field, opening)
            );
        }
    }
}
