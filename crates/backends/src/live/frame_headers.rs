//! Frame numbers in the first bytes of frames. They identify the part of a unit that a frame carries.

use earlybird_traffic::Part;
use std::collections::VecDeque;

/// Numbers of frames in their first bytes. One of fewer than eight bytes has room for the number's lowest ones only; the others
/// follow from the frame before it, as those of RTP's sequence numbers do (RFC 3550 appendix A.1).
#[derive(Debug, Default)]
pub(super) struct FrameHeaders {
    /// Parts of the frames that were written and may still arrive. `None` for one that arrived before an earlier one.
    parts: VecDeque<Option<Part>>,
    /// The number of the first of them.
    first: u64,
    /// Whether frames may arrive in any order.
    is_unordered: bool,
}

/// Half the range of a one-byte number.
const REMEMBERED: usize = 128;

impl FrameHeaders {
    /// Bytes of a number.
    pub(super) const LEN: usize = size_of::<u64>();

    pub(super) fn new(is_unordered: bool) -> Self {
        Self { is_unordered, ..Self::default() }
    }

    /// Writes the number of the next frame into it.
    pub(super) fn write(&self, frame: &mut [u8]) {
        let number = self.first + self.parts.len() as u64;
        frame.iter_mut().zip(number.to_le_bytes()).for_each(|(place, byte)| *place = byte);
    }

    /// Records that the frame just written was accepted, and its part.
    pub(super) fn push(&mut self, part: Part) {
        self.parts.push_back(Some(part));
    }

    /// Returns the part of a frame that begins with these bytes.
    pub(super) fn find(&self, frame: &[u8]) -> Option<Part> {
        *self.parts.get(self.index(frame))?
    }

    /// Returns the part of a frame that arrived. Earlier frames cannot arrive any more, unless delivery is unordered: then the last ones are
    /// remembered.
    pub(super) fn take(&mut self, frame: &[u8]) -> Option<Part> {
        let index = self.index(frame);
        let part = self.parts.get_mut(index)?.take();
        let gone = if self.is_unordered { (index + 1).saturating_sub(REMEMBERED) } else { index + 1 };
        self.forget(gone);
        while self.parts.front().is_some_and(Option::is_none) {
            self.forget(1);
        }
        part
    }

    fn forget(&mut self, count: usize) {
        self.parts.drain(..count);
        self.first += count as u64;
    }

    /// Returns the number of frames between the last one taken and this one.
    fn index(&self, frame: &[u8]) -> usize {
        let known = frame.len().min(Self::LEN);
        let mut bytes = [0; Self::LEN];
        bytes[..known].copy_from_slice(&frame[..known]);
        // Only the low bytes are known for short frames: the distance is unique within the window.
        let ahead = u64::from_le_bytes(bytes).wrapping_sub(self.first);
        // 128 bits, because 8 known bytes make 2^64.
        let modulus = 1_u128 << (8 * known);
        (u128::from(ahead) % modulus) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_any_length_are_recognised_where_others_are_missing() {
        let mut frame_headers = FrameHeaders::default();
        let mut frames = Vec::new();
        for unit in 0..700 {
            let mut frame = vec![0; 1 + unit as usize % 12];
            frame_headers.write(&mut frame);
            frame_headers.push(Part::whole(unit));
            frames.push(frame);
        }
        for unit in [0, 1, 5, 6, 250, 480, 481, 699] {
            assert_eq!(frame_headers.find(&frames[unit]), Some(Part::whole(unit as u64)));
            assert_eq!(frame_headers.take(&frames[unit]), Some(Part::whole(unit as u64)));
        }
        assert_eq!((frame_headers.parts.len(), frame_headers.first), (0, 700));
    }

    #[test]
    fn frames_that_come_in_any_order_are_known_once_each() {
        let mut frame_headers = FrameHeaders::new(true);
        let frames: Vec<_> = (0..300)
            .map(|unit| {
                let mut frame = vec![0; 1];
                frame_headers.write(&mut frame);
                frame_headers.push(Part::whole(unit));
                frame
            })
            .collect();
        let expected = [2, 0, 1, 3, 100].map(|unit| Some(Part::whole(unit)));
        assert_eq!([2, 0, 1, 3, 100].map(|unit: usize| frame_headers.take(&frames[unit])), expected);
        assert_eq!((frame_headers.take(&frames[4]), frame_headers.first), (Some(Part::whole(4)), 5));
        frame_headers.take(&frames[250]);
        assert_eq!(frame_headers.first, 123, "of those long before none will come");
    }
}
