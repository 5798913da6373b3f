//! What a sender does that would rather give up a frame than make its writer wait.
//!
//! Frames that were given up before they were sent leave no hole in the stream. Those that were sent stay on the scoreboard as
//! flight until the peer's cumulative ACK passes them or the retransmission timer runs out, for giving up must not open the window; and recovery passes them
//! over: a retransmission of theirs counts as sent, and nothing leaves. The peer's reader steps over the hole.

use super::frames::{Bounds, Frames};
use super::sender::Sender;
use crate::policy::backlog::Backlog;
use crate::real_time::{RealTimeStatistics, WriteError};
use earlybird_units::{Duration, Instant};
use earlybird_wire::SackBlocks;

impl Sender {
    /// Takes a frame, if there is room for it or can be made.
    pub(crate) fn write_frame(&mut self, now: Instant, bytes: u64, unit: u64) -> Result<u64, WriteError> {
        match bytes {
            0 => return Err(WriteError::Empty),
            bytes if bytes > self.queue.mss => return Err(WriteError::TooLong { mss: self.queue.mss as u16 }),
            _ => self.make_room(now)?,
        }
        self.note_gap();
        let Some(frames) = &mut self.queue.frames else { return Err(WriteError::Unframed) };
        let number = frames.push(now, bytes as u16, unit);
        if frames.ends_with(number) {
            self.queue.unsent += bytes;
            self.recovery.on_write();
        }
        Ok(number)
    }

    /// Applies the policy for a full send buffer, before a write.
    fn make_room(&mut self, now: Instant) -> Result<(), WriteError> {
        let cwnd = self.cwnd();
        match self.real_time.backlog {
            Backlog::Block(limit) if self.frames_held() >= limit.segments(cwnd) => return Err(WriteError::Full),
            Backlog::Block(_) => {}
            Backlog::DiscardOldest(limit) => {
                let limit = limit.segments(cwnd);
                while self.frames_held() >= limit && self.give_up_oldest(Instant::NEVER) {}
            }
            Backlog::DiscardPastDeadline(_) | Backlog::DiscardHopeless(_) => self.expire(now),
        }
        Ok(())
    }

    /// Abandons what was written too long ago, where the policy says so.
    pub(super) fn expire(&mut self, now: Instant) {
        match self.real_time.backlog {
            Backlog::DiscardPastDeadline(deadline) => while self.give_up_oldest(before(now, deadline)) {},
            // What was sent may still be in time: it is given up only when it would be sent again.
            Backlog::DiscardHopeless(deadline) => while self.give_up_waiting(before(now, self.lifetime(deadline))) {},
            Backlog::Block(_) | Backlog::DiscardOldest(_) => {}
        }
    }

    /// Returns how long after its writing a frame can leave and be there by its deadline.
    fn lifetime(&self, deadline: Duration) -> Duration {
        let way = self.timer.smoothed().unwrap_or(Duration::ZERO) / 2;
        deadline.saturating_sub(way)
    }

    /// Abandons the oldest frame that was never sent if it was written before `limit`; says whether it did.
    fn give_up_waiting(&mut self, limit: Instant) -> bool {
        self.giving_up(|frames, bounds| {
            let index = frames.oldest_waiting().filter(|(_, written)| *written < limit)?.0;
            Some(frames.give_up(index, bounds))
        })
    }

    /// Returns whether it is too late to send a segment again.
    fn is_hopeless(&self, now: Instant, number: u64) -> bool {
        let Backlog::DiscardHopeless(deadline) = self.real_time.backlog else { return false };
        let written = self.queue.frames.as_ref().and_then(|frames| frames.written_at(number));
        written.is_some_and(|written| written < before(now, self.lifetime(deadline)))
    }

    /// Abandons the oldest frame if it was written before `limit`; says whether it did.
    fn give_up_oldest(&mut self, limit: Instant) -> bool {
        self.giving_up(|frames, bounds| {
            let (index, _) = frames.oldest(bounds).filter(|(_, written)| *written < limit)?;
            Some(frames.give_up(index, bounds))
        })
    }

    /// The peer takes shorter segments than was hoped for: frames that do not fit are given up.
    pub(crate) fn on_shorter_mss(&mut self) {
        let mss = self.queue.mss;
        self.giving_up(|frames, bounds| Some(frames.give_up_longer(mss, bounds)));
    }

    /// Lets `act` give up frames and say how many unsent bytes went; says whether it did.
    ///
    /// The last frame sent stays if no other can be sent behind it: if that was lost too, nothing could ever reach the peer
    /// and tell it to go on.
    fn giving_up(&mut self, act: impl FnOnce(&mut Frames, &Bounds<'_>) -> Option<u64>) -> bool {
        let keeps_last = self.room() < self.queue.mss;
        let Some(frames) = &mut self.queue.frames else { return false };
        let was_held = frames.held() > 0;
        let Some(bytes) = act(frames, &Bounds { sacked: self.scoreboard.sacked(), keeps_last }) else { return false };
        self.queue.unsent -= bytes;
        self.was_emptied |= was_held && frames.held() == 0;
        true
    }

    /// Decides which segment goes next. One that was given up is passed over.
    pub(super) fn next_held(&mut self, now: Instant) -> Option<u64> {
        self.expire(now);
        loop {
            let limits = self.limits();
            let number = self.next_number(&limits)?;
            if !self.is_given_up(now, number) {
                return Some(number);
            }
            self.recovery.pass_over(now, number, &self.scoreboard);
            self.scoreboard.go_past(number);
            self.ground();
        }
    }

    /// Returns whether a segment must not be sent, or not again.
    fn is_given_up(&mut self, now: Instant, number: u64) -> bool {
        let may_give_up = self.queue.frames.as_ref().is_some_and(|frames| frames.gives_up_sent);
        let is_worthless = self.real_time.never_retransmits || (may_give_up && self.is_hopeless(now, number));
        if is_worthless && number < self.scoreboard.smax() {
            self.giving_up(|frames, bounds| Some(frames.give_up_segment(number, bounds)));
        }
        number < self.scoreboard.una() || self.queue.frames.as_ref().is_some_and(|frames| frames.is_given_up(number))
    }

    /// Takes note of what was acknowledged.
    pub(crate) fn settle(&mut self) {
        if let Some(frames) = &mut self.queue.frames {
            frames.settle(self.scoreboard.una());
            self.ground();
        }
    }

    /// What was given up and does not fly leaves the scoreboard: nobody waits for it but the peer, who will step over it.
    #[cold]
    fn ground(&mut self) {
        let Some(frames) = &mut self.queue.frames else { return };
        let grounded = frames.grounded(self.scoreboard.sacked());
        if grounded > 0 {
            self.was_emptied = true;
            self.scoreboard.give_up(grounded);
            frames.settle(self.scoreboard.una());
        }
    }

    /// The retransmission timer ran out: what was given up is in flight no more.
    pub(super) fn ground_all(&mut self, now: Instant) {
        self.expire(now);
        if let Some(frames) = &mut self.queue.frames {
            frames.on_timeout();
            self.ground();
        }
    }

    /// Says, once, that the last frame held was given up.
    pub(crate) fn take_emptied(&mut self) -> bool {
        core::mem::take(&mut self.was_emptied) && self.is_drained()
    }

    /// A segment is sent again: if its frame could not be there in time, one that can takes its place (TCP Hollywood,
    /// `check_message_liveness`: a message lives if now and half the smoothed round trip are not past its deadline).
    #[cold]
    pub(super) fn replace_expired(&mut self, now: Instant, number: u64, deadline: Duration) {
        let limit = before(now, self.lifetime(deadline));
        let Some(frames) = &mut self.queue.frames else { return };
        if frames.written_at(number).is_some_and(|written| written < limit) {
            self.queue.unsent -= frames.replace(number, limit);
        }
    }

    /// Learns whether frames that were sent may be given up.
    pub(crate) fn give_up_sent(&mut self, may: bool) {
        self.real_time.never_retransmits &= may;
        if let Some(frames) = &mut self.queue.frames {
            frames.gives_up_sent = may;
        }
    }

    /// Returns whether an ACK may count as a duplicate although it tells another window: a reader that plays frames by the clock
    /// changes its window all the time, and the SACK blocks tell what arrived (RFC 6675 §2 asks for no more).
    pub(super) fn looks_past_window(&self, blocks: &SackBlocks) -> bool {
        self.queue.frames.is_some() && !blocks.is_empty()
    }

    /// Returns the number of the frame that a segment on the scoreboard carries.
    pub(crate) fn frame(&self, segment: u64) -> Option<u64> {
        self.queue.frames.as_ref()?.number(segment)
    }

    pub(crate) fn poll_abandoned(&mut self) -> Option<u64> {
        self.queue.frames.as_mut()?.next_note()
    }

    /// Adds what the sender counts.
    pub(crate) fn add_to(&self, statistics: &mut RealTimeStatistics) {
        self.notices.add_to(statistics);
        if let Some(frames) = &self.queue.frames {
            statistics.frames_written = frames.written();
            statistics.frames_discarded = frames.discarded();
        }
    }

    pub(crate) fn frames_held(&self) -> u64 {
        self.queue.frames.as_ref().map_or(0, |frames| frames.held())
    }
}

/// Returns the moment `span` ago.
fn before(now: Instant, span: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()))
}
