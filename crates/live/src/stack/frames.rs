//! The bytes of frames, by number, until they are acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

/// A frame that is not acknowledged.
#[derive(Debug)]
struct StoredFrame {
    bytes: Box<[u8]>,
    unit: u64,
    is_abandoned: bool,
    /// Offset of its end in the stream; `None` until it is sent.
    end: Option<u64>,
}

/// A frame that the sender has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbandonedFrame {
    /// Its number, as returned by the write.
    pub number: u64,
    /// The unit that it belongs to; `None` if its bytes were freed already.
    pub unit: Option<u64>,
}

/// The send buffer of real-time mode.
#[derive(Debug, Default)]
pub(super) struct FrameStore {
    frames: VecDeque<Option<StoredFrame>>,
    /// Number of the first stored frame.
    first: u64,
    /// Numbers and units of abandoned frames that the application has not polled.
    abandoned: VecDeque<AbandonedFrame>,
}

/// The largest number of abandoned frames that are kept for an application that does not poll them.
const ABANDONED_LIMIT: usize = 1024;

impl FrameStore {
    /// Stores the next frame.
    pub(super) fn push(&mut self, bytes: &[u8], unit: u64) {
        self.frames.push_back(Some(StoredFrame { bytes: bytes.into(), unit, is_abandoned: false, end: None }));
    }

    /// Returns the bytes of a frame that is sent now at `range` in the stream: all at first, later perhaps a piece.
    pub(super) fn send(&mut self, number: u64, range: Range<u64>) -> &[u8] {
        let Some(Some(frame)) = self.slot(number) else { return &[] };
        let end = *frame.end.get_or_insert(range.end);
        let start = end - frame.bytes.len() as u64;
        frame.bytes.get((range.start - start) as usize..(range.end - start) as usize).unwrap_or_default()
    }

    fn slot(&mut self, number: u64) -> Option<&mut Option<StoredFrame>> {
        self.frames.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Records that a frame was abandoned. The bytes of a frame that was sent stay: it may be retransmitted to advance the
    /// receiver.
    pub(super) fn abandon(&mut self, number: u64) {
        let unit = self.slot(number).and_then(|slot| {
            let frame = slot.as_mut()?;
            frame.is_abandoned = true;
            let unit = frame.unit;
            slot.take_if(|frame| frame.end.is_none());
            Some(unit)
        });
        if self.abandoned.len() == ABANDONED_LIMIT {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(AbandonedFrame { number, unit });
    }

    /// Returns the next abandoned frame.
    pub(super) fn next_abandoned(&mut self) -> Option<AbandonedFrame> {
        self.abandoned.pop_front()
    }

    /// Returns the units of the frames that are neither acknowledged nor abandoned, in order.
    pub(super) fn units(&self) -> impl Iterator<Item = u64> {
        self.frames.iter().flatten().filter(|frame| !frame.is_abandoned).map(|frame| frame.unit)
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
