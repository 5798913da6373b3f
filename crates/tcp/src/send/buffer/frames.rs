//! The frames of a real-time connection: one write is one frame, and one segment.
//!
//! A frame that is abandoned before it was sent occupies no sequence space. One that was sent does: it stays on the scoreboard
//! until the cumulative ACK passes it, or until a timeout shows that it is not in flight; by the rule of the MTCP paper it leaves
//! at once.

use crate::scoreboard::ranges::Ranges;
use alloc::collections::VecDeque;
use core::ops::Range;
use earlybird_units::Instant;

/// A frame that was written and is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct QueuedFrame {
    number: u64,
    unit: u64,
    bytes: u16,
    written: Instant,
    /// Whether it is never to be sent again: it is worthless, or the peer has it.
    is_abandoned: bool,
    /// Whether it was sent since the last retransmission timeout, and so counts as in flight.
    is_in_flight: bool,
}

/// Frames in order of writing: first those on the scoreboard, then those that were never sent.
#[derive(Clone, Debug)]
pub(crate) struct FrameQueue {
    queue: VecDeque<QueuedFrame>,
    /// The number of frames at the front that are on the scoreboard.
    sent: usize,
    /// The number of the segment that carries the first frame.
    first_segment: u64,
    /// The number of frames ever written.
    written: u64,
    /// The number of frames that are neither acknowledged nor abandoned.
    held: u64,
    /// The unit of the last abandoned frame at the end of the queue: later frames of that unit are abandoned when written.
    abandoned_unit: Option<u64>,
    /// Whether frames that were sent may be abandoned.
    may_abandon_sent: bool,
    /// Whether they are in flight after that: the policy.
    abandoned_stay_in_flight: bool,
    abandoned: u64,
    /// Abandoned frames that the application has not polled yet.
    unreported: VecDeque<Range<u64>>,
    /// Whether the last held frame was abandoned since the connection last asked.
    was_emptied: bool,
}

/// The limits of abandoning frames that were sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct AbandonBounds<'a> {
    /// Segments that the peer has.
    pub(super) sacked: &'a Ranges,
    /// Whether the last frame sent must stay, because no other can be sent behind it.
    ///
    /// If it were abandoned and lost, no segment could reach the peer any more, and its reader would never skip the hole.
    pub(super) keeps_last: bool,
}

/// Ranges of abandoned frames that are kept for an application that does not poll; older ones are dropped, but counted.
const UNREPORTED_RANGES: usize = 64;

// Functions that every segment calls are `#[cold]`: ordinary TCP has no frames and must not pay for them.
impl FrameQueue {
    pub(super) fn new(abandoned_stay_in_flight: bool) -> Self {
        Self {
            queue: VecDeque::new(),
            sent: 0,
            first_segment: 1,
            written: 0,
            held: 0,
            abandoned_unit: None,
            may_abandon_sent: false,
            abandoned_stay_in_flight,
            abandoned: 0,
            unreported: VecDeque::new(),
            was_emptied: false,
        }
    }

    /// Returns the number of frames ever written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the number of frames that are neither acknowledged nor abandoned.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Returns the number of frames ever abandoned.
    pub(crate) fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// Returns whether frames that were sent may be abandoned.
    pub(super) fn may_abandon_sent(&self) -> bool {
        self.may_abandon_sent
    }

    pub(super) fn set_may_abandon_sent(&mut self, may: bool) {
        self.may_abandon_sent = may;
    }

    /// Returns whether the last held frame was abandoned since the last call.
    pub(super) fn take_emptied(&mut self) -> bool {
        core::mem::take(&mut self.was_emptied)
    }

    /// Records that the last held frame was abandoned.
    pub(super) fn set_last_frame_abandoned(&mut self) {
        self.was_emptied = true;
    }

    /// Returns the number of the next abandoned frame that was not reported yet.
    pub(super) fn next_unreported(&mut self) -> Option<u64> {
        let range = self.unreported.front_mut()?;
        let number = range.next();
        if range.is_empty() {
            self.unreported.pop_front();
        }
        number
    }

    /// Appends a frame and returns its number. A frame of an abandoned unit is abandoned at once.
    pub(super) fn push(&mut self, now: Instant, bytes: u16, unit: u64) -> u64 {
        let number = self.written;
        self.written += 1;
        if self.abandoned_unit == Some(unit) {
            self.report(number);
        } else {
            self.abandoned_unit = None;
            self.held += 1;
            let frame = QueuedFrame { number, unit, bytes, written: now, is_abandoned: false, is_in_flight: false };
            self.queue.push_back(frame);
        }
        number
    }

    /// Returns whether frame `number` is the last one of the queue.
    pub(super) fn ends_with(&self, number: u64) -> bool {
        self.queue.back().is_some_and(|frame| frame.number == number)
    }

    /// Returns the bytes of the next frame to send for the first time.
    #[cold]
    pub(super) fn next_bytes(&self) -> Option<u64> {
        self.queue.get(self.sent).map(|frame| u64::from(frame.bytes))
    }

    /// Records that the next frame was put on the scoreboard.
    #[cold]
    pub(super) fn on_cut(&mut self) {
        self.sent += 1;
    }

    /// Records that a segment is sent or retransmitted.
    #[cold]
    pub(super) fn on_sent(&mut self, segment: u64) {
        if let Some(index) = self.index(segment) {
            self.queue[index].is_in_flight = true;
        }
    }

    /// Returns the index of the frame that a segment on the scoreboard carries.
    fn index(&self, segment: u64) -> Option<usize> {
        let index = segment.checked_sub(self.first_segment)? as usize;
        (index < self.sent).then_some(index)
    }

    /// Returns the number of the frame that a segment on the scoreboard carries.
    #[cold]
    pub(super) fn number(&self, segment: u64) -> Option<u64> {
        self.index(segment).map(|index| self.queue[index].number)
    }

    /// Returns whether the frame of a segment on the scoreboard was abandoned.
    pub(super) fn is_abandoned(&self, segment: u64) -> bool {
        self.index(segment).is_some_and(|index| self.queue[index].is_abandoned)
    }

    /// Removes the frames of segments below `una`.
    #[cold]
    pub(super) fn on_ack(&mut self, una: u64) {
        while self.first_segment < una
            && self.sent > 0
            && let Some(frame) = self.queue.pop_front()
        {
            self.held -= u64::from(!frame.is_abandoned);
            self.sent -= 1;
            self.first_segment += 1;
        }
    }

    /// Processes a retransmission timeout: no frame counts as in flight any more.
    pub(super) fn on_timeout(&mut self) {
        self.queue.iter_mut().take(self.sent).for_each(|frame| frame.is_in_flight = false);
    }

    /// Returns the number of segments at the front of the scoreboard that need not stay there: abandoned and not in flight, or
    /// `SACKed`.
    pub(super) fn removable(&self, sacked: &Ranges) -> u64 {
        let frames = self.queue.iter().take(self.sent).zip(self.first_segment..);
        let is_removable = |(frame, segment): &(&QueuedFrame, u64)| {
            (frame.is_abandoned && !frame.is_in_flight) || sacked.contains(*segment)
        };
        frames.take_while(is_removable).count() as u64
    }

    /// Returns the index of the oldest frame that may be abandoned, and when it was written.
    pub(super) fn oldest(&self, bounds: &AbandonBounds<'_>) -> Option<(usize, Instant)> {
        let from = if self.may_abandon_sent { 0 } else { self.sent };
        let mut frames = self.queue.iter().enumerate().skip(from);
        frames
            .find(|(index, frame)| !frame.is_abandoned && self.may_abandon(*index, bounds))
            .map(|(index, frame)| (index, frame.written))
    }

    /// Returns the index of the first frame that was never sent, and when it was written.
    pub(super) fn oldest_unsent(&self) -> Option<(usize, Instant)> {
        self.queue.get(self.sent).map(|frame| (self.sent, frame.written))
    }

    /// Returns when the frame of a segment on the scoreboard was written.
    pub(super) fn written_at(&self, segment: u64) -> Option<Instant> {
        self.index(segment).map(|index| self.queue[index].written)
    }

    fn may_abandon(&self, index: usize, bounds: &AbandonBounds<'_>) -> bool {
        let is_last_sent = index + 1 == self.sent;
        index >= self.sent || (self.may_abandon_sent && !(is_last_sent && bounds.keeps_last))
    }

    /// Abandons the frame of a segment on the scoreboard.
    pub(super) fn abandon_segment(&mut self, segment: u64, bounds: &AbandonBounds<'_>) -> u64 {
        self.index(segment).map_or(0, |index| self.abandon(index, bounds))
    }

    /// Abandons frames of more than `mss` bytes, as far as the bounds allow, and returns the unsent bytes that were removed.
    pub(super) fn abandon_longer(&mut self, mss: u64, bounds: &AbandonBounds<'_>) -> u64 {
        let mut bytes = 0;
        while let Some(index) = self.find_longer(mss, bounds) {
            bytes += self.abandon(index, bounds);
        }
        bytes
    }

    fn find_longer(&self, mss: u64, bounds: &AbandonBounds<'_>) -> Option<usize> {
        let is_longer = |frame: &QueuedFrame| u64::from(frame.bytes) > mss && !frame.is_abandoned;
        let mut frames = self.queue.iter().enumerate();
        frames.find(|(index, frame)| is_longer(frame) && self.may_abandon(*index, bounds)).map(|(index, _)| index)
    }

    /// Abandons a frame and all others of its unit, as far as the bounds allow; returns the bytes of those that were never sent.
    pub(super) fn abandon(&mut self, index: usize, bounds: &AbandonBounds<'_>) -> u64 {
        // The peer has this frame: nothing of its unit is lost by it, so the other frames stay.
        if index < self.sent && bounds.sacked.contains(self.first_segment + index as u64) {
            self.abandon_sent(index, bounds.sacked);
            return 0;
        }
        let unit = self.queue[index].unit;
        let is_other = |frame: &QueuedFrame| frame.unit != unit;
        let start = self.queue.range(..index).rposition(is_other).map_or(0, |before| before + 1);
        let end = self.queue.range(index..).position(is_other).map_or(self.queue.len(), |behind| index + behind);
        if end == self.queue.len() {
            self.abandoned_unit = Some(unit);
        }
        for index in start..end.min(self.sent) {
            if self.may_abandon(index, bounds) {
                self.abandon_sent(index, bounds.sacked);
            }
        }
        self.remove_unsent(start.max(self.sent)..end.max(self.sent))
    }

    /// Abandons a frame that was sent. One that the peer has is no longer held, but does not count as abandoned.
    fn abandon_sent(&mut self, index: usize, sacked: &Ranges) {
        let segment = self.first_segment + index as u64;
        let frame = &mut self.queue[index];
        frame.is_in_flight &= self.abandoned_stay_in_flight;
        if !core::mem::replace(&mut frame.is_abandoned, true) {
            let number = frame.number;
            self.held -= 1;
            if !sacked.contains(segment) {
                self.report(number);
            }
        }
    }

    /// Replaces the frame of a segment on the scoreboard by the oldest unsent one of the same length that was written at `limit`
    /// or later; returns the unsent bytes that were removed.
    #[cold]
    pub(super) fn replace(&mut self, segment: u64, limit: Instant) -> u64 {
        let Some(index) = self.index(segment) else { return 0 };
        let QueuedFrame { number, bytes, .. } = self.queue[index];
        // The length must not change: the peer's TCP must see an ordinary retransmission.
        let fits = |frame: &QueuedFrame| frame.bytes == bytes && frame.written >= limit;
        let unsent = self.queue.range(self.sent..).position(fits);
        let Some(newer) = unsent.and_then(|offset| self.queue.remove(self.sent + offset)) else { return 0 };
        self.queue[index] = newer;
        self.held -= 1;
        self.report(number);
        u64::from(bytes)
    }

    fn remove_unsent(&mut self, range: Range<usize>) -> u64 {
        let mut bytes = 0;
        for _ in range.clone() {
            if let Some(frame) = self.queue.remove(range.start) {
                bytes += u64::from(frame.bytes);
                self.held -= 1;
                self.report(frame.number);
            }
        }
        bytes
    }

    /// Counts an abandoned frame and keeps its number for the application.
    fn report(&mut self, number: u64) {
        self.abandoned += 1;
        match self.unreported.back_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => self.unreported.push_back(number..number + 1),
        }
        if self.unreported.len() > UNREPORTED_RANGES {
            self.unreported.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_64_ranges_of_abandoned_frames_are_kept() {
        let mut frames = FrameQueue::new(true);
        (0..65).for_each(|number| frames.report(2 * number));
        assert_eq!((frames.unreported.len(), frames.unreported.front().cloned()), (64, Some(2..3)));
        frames.report(129);
        assert_eq!((frames.unreported.len(), frames.unreported.back().cloned()), (64, Some(128..130)));
    }
}
