//! The bytes of frames, by number, until they are acknowledged.

use std::collections::VecDeque;

/// A frame that is not acknowledged.
#[derive(Debug)]
struct StoredFrame {
    bytes: Box<[u8]>,
    /// Offset of its end in the stream; `None` until it is sent.
    end: Option<u64>,
}

/// The send buffer of real-time mode.
#[derive(Debug, Default)]
pub(super) struct FrameStore {
    frames: VecDeque<Option<StoredFrame>>,
    /// Number of the first stored frame.
    first: u64,
    /// Numbers of abandoned frames that the application has not polled.
    abandoned: VecDeque<u64>,
}

/// The largest number of abandoned frames that are kept for an application that does not poll them.
const ABANDONED_LIMIT: usize = 1024;

impl FrameStore {
    /// Stores the next frame.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.frames.push_back(Some(StoredFrame { bytes: bytes.into(), end: None }));
    }

    /// Returns the bytes of a frame that is sent now and ends at `end` in the stream.
    pub(super) fn send(&mut self, number: u64, end: u64) -> &[u8] {
        match self.slot(number) {
            Some(Some(frame)) => {
                frame.end = Some(end);
                &frame.bytes
            }
            _ => &[],
        }
    }

    fn slot(&mut self, number: u64) -> Option<&mut Option<StoredFrame>> {
        self.frames.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Records that a frame was abandoned. The bytes of a frame that was sent stay: it may be retransmitted to advance the
    /// receiver.
    pub(super) fn abandon(&mut self, number: u64) {
        if let Some(slot) = self.slot(number) {
            slot.take_if(|frame| frame.end.is_none());
        }
        if self.abandoned.len() == ABANDONED_LIMIT {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(number);
    }

    /// Returns the number of the next abandoned frame.
    pub(super) fn next_abandoned(&mut self) -> Option<u64> {
        self.abandoned.pop_front()
    }

    /// Removes frames that end at or below `offset`: the peer has received or skipped them.
    pub(super) fn forget_below(&mut self, offset: u64) {
        let is_done =
            |frame: &Option<StoredFrame>| frame.as_ref().is_none_or(|frame| frame.end.is_some_and(|end| end <= offset));
        while self.frames.pop_front_if(|frame| is_done(frame)).is_some() {
            self.first += 1;
        }
    }
}
