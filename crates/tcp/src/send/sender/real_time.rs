//! Frames and partial reliability: the policy decides, the send buffer abandons.
//!
//! Abandoned frames that were sent stay on the scoreboard as flight until the peer's cumulative ACK passes them or the
//! retransmission timer expires, because abandoning must not open the congestion window; by the rule of the MTCP paper they leave
//! at once. Recovery passes them over: their retransmission counts as sent, and nothing is sent. The peer's reader skips the hole.

use super::Sender;
use crate::policy::control::Flight;
use crate::real_time::{RealTimeStatistics, WriteError};
use crate::send::partial::snack::Skip;
use crate::send::partial::{Admission, SnackReport};
use crate::trace::Cx;
use earlybird_units::{Duration, Instant};

impl Sender {
    /// Queues a frame and returns its number, if there is room or room can be made.
    pub(crate) fn write_frame(&mut self, now: Instant, bytes: u64, unit: u64) -> Result<u64, WriteError> {
        let mss = self.buffer.size().mss();
        if bytes == 0 {
            return Err(WriteError::Empty);
        }
        if bytes > mss {
            return Err(WriteError::TooLong { mss: mss as u16 });
        }
        self.make_room(now)?;
        self.check_app_limited();
        let (number, is_queued) = self.buffer.write_frame(now, bytes as u16, unit).ok_or(WriteError::Unframed)?;
        if is_queued {
            self.loss.recovery_mut().on_write();
        }
        Ok(number)
    }

    fn make_room(&mut self, now: Instant) -> Result<(), WriteError> {
        match self.partial.admit(self.buffer.frames_held(), self.rate.cwnd())? {
            Admission::Accept => {}
            // Frames that must stay may keep the buffer above the limit.
            Admission::AbandonOldest { limit } => {
                while self.buffer.frames_held() >= limit && self.buffer.abandon_oldest(Instant::NEVER) {}
                self.remove_abandoned();
            }
            Admission::AbandonExpired => self.expire(now),
        }
        Ok(())
    }

    /// Abandons frames that are too old, where the policy does so.
    pub(super) fn expire(&mut self, now: Instant) {
        if let Some(rule) = self.partial.expiry(now, self.loss.timer().srtt()) {
            self.buffer.abandon_by(rule);
        }
    }

    /// Returns the next segment to send whose frame was not abandoned.
    pub(super) fn next_unabandoned_segment(&mut self, now: Instant) -> Option<u64> {
        self.expire(now);
        loop {
            // Each one that is passed over changes the flight, and so what may be sent.
            let allowance = self.allowance();
            let number = self.loss.next(&allowance, self.buffer.scoreboard())?;
            if !self.is_abandoned(now, number) {
                return Some(number);
            }
            self.loss.recovery_mut().skip_abandoned(now, number, self.buffer.scoreboard());
            self.buffer.scoreboard_mut().advance_nxt(number);
            self.remove_abandoned();
        }
    }

    /// Removes abandoned segments that are not in flight. No ACK measures their round trips: the window has passed them.
    fn remove_abandoned(&mut self) {
        self.buffer.remove_abandoned();
        let una = self.buffer.scoreboard().una();
        self.loss.timer_mut().cancel_measurement_below(una);
    }

    /// Returns whether a segment must not be sent; abandons it if it is worthless.
    fn is_abandoned(&mut self, now: Instant, number: u64) -> bool {
        let may_abandon = self.buffer.may_abandon_sent();
        let written_at = if may_abandon { self.buffer.frame_written_at(number) } else { None };
        let must_not_retransmit = self.partial.must_not_retransmit(now, self.loss.timer().srtt(), written_at);
        if must_not_retransmit && number < self.buffer.scoreboard().snd_max() {
            self.buffer.abandon_segment(number);
        }
        self.buffer.is_abandoned(number)
    }

    /// Records that no abandoned segment is in flight any more, because the timer has expired.
    pub(super) fn remove_abandoned_on_timeout(&mut self, now: Instant) {
        self.expire(now);
        self.buffer.remove_abandoned_on_timeout();
    }

    /// Changes the deadline of frames, if the backlog has one.
    pub(crate) fn set_frame_deadline(&mut self, deadline: Duration) {
        self.partial.set_deadline(deadline);
    }

    /// Sets whether frames that were sent may be abandoned.
    pub(crate) fn set_may_abandon_sent(&mut self, may: bool) {
        self.partial.set_may_abandon_sent(may);
        self.buffer.set_may_abandon_sent(may);
    }

    /// Returns, once, that the last frame held was abandoned and nothing is left to be acknowledged.
    #[inline]
    pub(crate) fn take_emptied(&mut self) -> bool {
        self.buffer.take_emptied()
    }

    /// Returns the number of the next abandoned frame that was not reported yet.
    pub(crate) fn poll_abandoned(&mut self) -> Option<u64> {
        self.buffer.poll_abandoned()
    }

    // Skips of the peer.

    /// Reads a SNACK before its ACK is entered into the scoreboard; returns the skip if it is new.
    pub(crate) fn read_snack(&mut self, report: SnackReport) -> Option<Skip> {
        self.partial.snack_mut().read(report, self.buffer.scoreboard())
    }

    /// Reduces the window for a loss that the peer skipped before the window was reduced for it, as for a fast retransmit.
    #[cold]
    pub(super) fn respond_to_skip(&mut self, cx: &mut Cx<'_>, skip: Skip, flight: u64) {
        // Once per window: else a reader that is always late would hide every loss from the sender.
        if !self.partial.reduces_on_skip() || !skip.is_new_loss(|lost| self.rate.was_reduced_after(lost)) {
            return;
        }
        let flight: Flight = self.flight(flight);
        let snd_max = self.buffer.scoreboard().snd_max();
        if self.rate.on_skip(cx, &flight, snd_max) {
            self.partial.on_reduced(snd_max);
        }
        self.partial.snack_mut().count_reduction();
    }

    /// Adds the counters of the sending half.
    pub(crate) fn add_to(&self, statistics: &mut RealTimeStatistics) {
        self.partial.snack().add_to(statistics);
        if let Some(frames) = self.buffer.frames() {
            statistics.frames_written = frames.written();
            statistics.frames_abandoned = frames.abandoned();
        }
    }
}
