//! Frames that leave the send buffer without being acknowledged.

use super::SendBuffer;
use super::frames::{AbandonBounds, FrameQueue};
use earlybird_units::Instant;

/// Frames that are too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbandonRule {
    /// Those that were written before a time.
    WrittenBefore(Instant),
    /// Those that were written before a time and were never sent.
    UnsentWrittenBefore(Instant),
}

impl SendBuffer {
    /// Returns whether one write is one segment.
    #[inline]
    pub(in crate::send) fn has_frames(&self) -> bool {
        self.queue.frames.is_some()
    }

    pub(in crate::send) fn frames(&self) -> Option<&FrameQueue> {
        self.queue.frames.as_deref()
    }

    /// Returns the number of frames that are neither acknowledged nor abandoned.
    pub(crate) fn frames_held(&self) -> u64 {
        self.queue.frames.as_ref().map_or(0, |frames| frames.held())
    }

    /// Returns the number of the frame that a segment on the scoreboard carries.
    #[inline]
    pub(crate) fn frame(&self, segment: u64) -> Option<u64> {
        self.queue.frames.as_ref()?.number(segment)
    }

    /// Returns when the frame of a segment on the scoreboard was written.
    pub(in crate::send) fn frame_written_at(&self, segment: u64) -> Option<Instant> {
        self.queue.frames.as_ref()?.written_at(segment)
    }

    /// Returns the number of the next abandoned frame that was not reported yet.
    pub(in crate::send) fn poll_abandoned(&mut self) -> Option<u64> {
        self.queue.frames.as_mut()?.next_unreported()
    }

    /// Appends a frame and returns its number, and whether it was queued: one of an abandoned unit is not.
    pub(in crate::send) fn write_frame(&mut self, now: Instant, bytes: u16, unit: u64) -> Option<(u64, bool)> {
        let frames = self.queue.frames.as_mut()?;
        let number = frames.push(now, bytes, unit);
        let is_queued = frames.ends_with(number);
        if is_queued {
            self.queue.unsent += u64::from(bytes);
        }
        Some((number, is_queued))
    }

    /// Records that a segment was sent or retransmitted.
    pub(in crate::send) fn on_frame_sent(&mut self, segment: u64) {
        if let Some(frames) = &mut self.queue.frames {
            frames.on_sent(segment);
        }
    }

    /// Returns whether frames that were sent may be abandoned.
    pub(in crate::send) fn may_abandon_sent(&self) -> bool {
        self.queue.frames.as_ref().is_some_and(|frames| frames.may_abandon_sent())
    }

    /// Sets whether frames that were sent may be abandoned.
    pub(in crate::send) fn set_may_abandon_sent(&mut self, may: bool) {
        if let Some(frames) = &mut self.queue.frames {
            frames.set_may_abandon_sent(may);
        }
    }

    /// Returns whether the frame of a segment was abandoned, or its segment removed.
    pub(in crate::send) fn is_abandoned(&self, segment: u64) -> bool {
        segment < self.scoreboard.una() || self.queue.frames.as_ref().is_some_and(|frames| frames.is_abandoned(segment))
    }

    /// Abandons the frames that a rule names.
    pub(in crate::send) fn abandon_by(&mut self, rule: AbandonRule) {
        match rule {
            AbandonRule::WrittenBefore(limit) => while self.abandon_oldest(limit) {},
            AbandonRule::UnsentWrittenBefore(limit) => while self.abandon_oldest_unsent(limit) {},
        }
    }

    /// Abandons the oldest frame if it was written before `limit`; returns whether it did.
    pub(in crate::send) fn abandon_oldest(&mut self, limit: Instant) -> bool {
        self.abandon(|frames, bounds| {
            let (index, _) = frames.oldest(bounds).filter(|(_, written)| *written < limit)?;
            Some(frames.abandon(index, bounds))
        })
    }

    fn abandon_oldest_unsent(&mut self, limit: Instant) -> bool {
        self.abandon(|frames, bounds| {
            let index = frames.oldest_unsent().filter(|(_, written)| *written < limit)?.0;
            Some(frames.abandon(index, bounds))
        })
    }

    /// Abandons the frame of a segment on the scoreboard.
    pub(in crate::send) fn abandon_segment(&mut self, segment: u64) {
        self.abandon(|frames, bounds| Some(frames.abandon_segment(segment, bounds)));
    }

    /// Abandons frames that are longer than a segment may be by now: one frame is one segment, and cannot be sent in pieces.
    pub(super) fn abandon_too_long(&mut self) {
        let mss = self.size.mss();
        if self.abandon(|frames, bounds| Some(frames.abandon_longer(mss, bounds))) && self.may_abandon_sent() {
            // The path has dropped those that were sent, so that they are not in flight.
            self.remove_abandoned_on_timeout();
        }
    }

    /// Lets `act` abandon frames and return the unsent bytes that it removed; returns whether it did.
    fn abandon(&mut self, act: impl FnOnce(&mut FrameQueue, &AbandonBounds<'_>) -> Option<u64>) -> bool {
        let keeps_last = self.window_room() < self.size.mss();
        let Some(frames) = &mut self.queue.frames else { return false };
        let was_held = frames.held() > 0;
        let bounds = AbandonBounds { sacked: self.scoreboard.sacked(), keeps_last };
        let Some(bytes) = act(frames, &bounds) else { return false };
        self.queue.unsent -= bytes;
        if was_held && frames.held() == 0 {
            frames.set_last_frame_abandoned();
        }
        true
    }

    /// Replaces the frame of a segment if it was written before `limit`, by an unsent one that was not.
    pub(in crate::send) fn replace_expired(&mut self, segment: u64, limit: Instant) {
        let Some(frames) = &mut self.queue.frames else { return };
        if frames.written_at(segment).is_some_and(|written| written < limit) {
            self.queue.unsent -= frames.replace(segment, limit);
        }
    }

    /// Removes the frames that were acknowledged.
    #[inline]
    pub(in crate::send) fn remove_acked_frames(&mut self) {
        if let Some(frames) = &mut self.queue.frames {
            frames.on_ack(self.scoreboard.una());
            self.remove_abandoned();
        }
    }

    /// Removes abandoned segments from the front of the scoreboard if they are not in flight.
    #[cold]
    pub(in crate::send) fn remove_abandoned(&mut self) {
        let Some(frames) = &mut self.queue.frames else { return };
        let removable = frames.removable(self.scoreboard.sacked());
        if removable > 0 {
            frames.set_last_frame_abandoned();
            self.scoreboard.remove_front(removable);
            frames.on_ack(self.scoreboard.una());
        }
    }

    /// Processes a retransmission timeout: abandoned segments are no longer in flight, and leave the scoreboard.
    pub(in crate::send) fn remove_abandoned_on_timeout(&mut self) {
        if let Some(frames) = &mut self.queue.frames {
            frames.on_timeout();
            self.remove_abandoned();
        }
    }

    /// Returns, once, that the last frame held was abandoned and nothing is left to be acknowledged.
    #[inline]
    pub(in crate::send) fn take_emptied(&mut self) -> bool {
        let was_emptied = self.queue.frames.as_mut().is_some_and(|frames| frames.take_emptied());
        was_emptied && self.is_drained()
    }
}
