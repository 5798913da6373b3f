//! Bytes that are written and not acknowledged.

use super::{join, pieces};
use alloc::collections::VecDeque;
use core::ops::Range;

/// The send buffer: bytes from the first unacknowledged one to the last one written.
///
/// Offsets count from the first byte behind the SYN, as [`Transmit::data`] and [`Connection::acknowledged`] do.
///
/// ```
/// use earlybird_tcp::Ring;
///
/// let mut ring = Ring::new(8);
/// assert_eq!(ring.append(b"0123456789"), 8, "it is full");
/// ring.forget_below(4);
/// assert_eq!(ring.append(b"89"), 2);
/// assert_eq!(ring.slices(6..10).map(|pieces| pieces.concat()), Some(b"6789".to_vec()));
/// ```
///
/// [`Transmit::data`]: crate::Transmit::data
/// [`Connection::acknowledged`]: crate::Connection::acknowledged
#[derive(Clone, Debug)]
pub struct Ring {
    bytes: VecDeque<u8>,
    acknowledged: u64,
    capacity: usize,
}

impl Ring {
    /// Returns a ring of up to `capacity` bytes; memory is allocated as bytes are written.
    pub const fn new(capacity: usize) -> Self {
        Self { bytes: VecDeque::new(), acknowledged: 0, capacity }
    }

    /// Returns the offset of the first byte held: all before it are acknowledged.
    pub const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns the offset behind the last byte written.
    pub fn written(&self) -> u64 {
        self.acknowledged + self.bytes.len() as u64
    }

    /// Returns the free space in bytes.
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.bytes.len())
    }

    /// Sets the capacity; stored bytes stay.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// Appends the bytes that fit, and returns how many.
    #[must_use = "bytes that do not fit must be written again"]
    pub fn append(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        self.bytes.extend(&bytes[..taken]);
        taken
    }

    /// Returns a part as two slices, of which the second is mostly empty; `None` unless all of it is held. An empty part, as of a
    /// segment without payload, is always held.
    pub fn slices(&self, part: Range<u64>) -> Option<[&[u8]; 2]> {
        if part.is_empty() {
            return Some([&[], &[]]);
        }
        // Drivers may ask for a retransmission that an ACK in between made unnecessary.
        let is_held = self.acknowledged <= part.start && part.end <= self.written();
        let index = |offset: u64| (offset - self.acknowledged) as usize;
        is_held.then(|| pieces(&self.bytes, index(part.start)..index(part.end)))
    }

    /// Copies a part to the front of `into`, and returns its length; `None` unless all of it is held and fits.
    pub fn copy(&self, part: Range<u64>, into: &mut [u8]) -> Option<usize> {
        let pieces = self.slices(part)?;
        let len = pieces[0].len() + pieces[1].len();
        join(pieces, into.get_mut(..len)?);
        Some(len)
    }

    /// Drops the bytes below an offset, which are acknowledged.
    pub fn forget_below(&mut self, offset: u64) {
        // An offset beyond the last byte acknowledges the FIN, which has no byte here.
        let dropped = offset.min(self.written()).saturating_sub(self.acknowledged);
        self.bytes.drain(..dropped as usize);
        self.acknowledged += dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::collection::vec as vector;
    use proptest::prelude::*;

    proptest! {
        /// The model is a list of all bytes ever written, and two numbers.
        #[test]
        fn holds_what_a_list_of_all_bytes_holds(
            capacity in 0_usize..40,
            steps in vector((vector(any::<u8>(), 0..20), 0_u64..25, 0_u64..60, 0_u64..20), 1..60),
        ) {
            let (mut ring, mut all, mut acknowledged) = (Ring::new(capacity), Vec::new(), 0);
            for (bytes, forget, start, len) in steps {
                let room = capacity - (all.len() - acknowledged);
                prop_assert_eq!(ring.room(), room);
                let taken = ring.append(&bytes);
                prop_assert_eq!(taken, bytes.len().min(room));
                all.extend(&bytes[..taken]);
                ring.forget_below(acknowledged as u64 + forget);
                acknowledged = (acknowledged + forget as usize).min(all.len());
                prop_assert_eq!((ring.acknowledged(), ring.written()), (acknowledged as u64, all.len() as u64));
                let start = (acknowledged as u64 + start).saturating_sub(20);
                let part = start as usize..(start + len) as usize;
                let held = all.get(part.clone()).filter(|_| part.start >= acknowledged).map(<[u8]>::to_vec);
                let expected = if len == 0 { Some(vec![]) } else { held };
                let mut copied = vec![0; 20];
                let count = ring.copy(start..start + len, &mut copied);
                prop_assert_eq!(count.map(|count| copied[..count].to_vec()), expected);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_not_copied() {
        let mut ring = Ring::new(4);
        assert_eq!(ring.append(&[1, 2, 3]), 3);
        assert_eq!((ring.copy(0..3, &mut [0; 2]), ring.copy(0..3, &mut [0; 3])), (None, Some(3)));
        assert_eq!(ring.slices(u64::MAX - 1..u64::MAX), None);
    }

    /// A pure ACK carries 0..0, whatever was acknowledged.
    #[test]
    fn the_payload_of_a_segment_without_payload_is_there() {
        let mut ring = Ring::new(4);
        assert_eq!(ring.append(&[1, 2, 3]), 3);
        ring.forget_below(3);
        assert_eq!((ring.slices(0..0), ring.copy(0..0, &mut [])), (Some([&[][..], &[]]), Some(0)));
    }

    #[test]
    fn a_smaller_capacity_takes_nothing_until_there_is_room() {
        let mut ring = Ring::new(4);
        assert_eq!(ring.append(&[1, 2, 3]), 3);
        ring.set_capacity(2);
        assert_eq!((ring.room(), ring.append(&[4])), (0, 0));
        ring.forget_below(2);
        assert_eq!((ring.append(&[4, 5]), ring.slices(2..4)), (1, Some([&[3, 4][..], &[]])));
    }
}
