//! The packets that wait in front of a link that knows when each will leave.

use crate::moment::Moment;

/// When the transmission of each begins, and its size. Those in front that have left stay until room is needed: that costs less
/// than a ring, which is examined at each end of each step.
#[derive(Debug, Default)]
pub(super) struct Line {
    packets: Vec<(Moment, u32)>,
    /// So many have left.
    left: usize,
    bytes: u64,
}

impl Line {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len() - self.left
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a packet that begins at a time, not before the others.
    #[inline]
    pub(super) fn push(&mut self, start: Moment, bytes: u32) {
        if self.packets.len() == self.packets.capacity() {
            self.make_room();
        }
        self.packets.push((start, bytes));
        self.bytes += u64::from(bytes);
    }

    #[cold]
    fn make_room(&mut self) {
        self.packets.drain(..self.left);
        self.left = 0;
        // Half of it, so that this is done seldom.
        self.packets.reserve(self.packets.len());
    }

    /// Lets all leave.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.packets.clear();
        (self.left, self.bytes) = (0, 0);
    }

    /// Lets those leave that begin until now.
    #[inline]
    pub(super) fn leave_by(&mut self, now: Moment) {
        while let Some((_, bytes)) = self.packets.get(self.left).filter(|(start, _)| start.is_by(now)) {
            self.bytes -= u64::from(*bytes);
            self.left += 1;
        }
    }
}
