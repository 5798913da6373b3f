//! The send buffer: data that were written and are not acknowledged, and the receiver's window that bounds it.

pub(crate) mod frames;
mod nagle_cork;
mod peer_window;
mod queue;
pub(crate) mod resegmentation;
mod segment_size;

mod abandon;
mod cut;

pub(crate) use self::abandon::AbandonRule;
pub(crate) use self::peer_window::PeerWindow;
pub(crate) use self::queue::UnsentQueue;
pub(crate) use self::segment_size::SegmentSize;

use self::nagle_cork::NagleCork;
use self::resegmentation::{Piece, Remainder, Resegmentation};
use crate::config::Config;
use crate::scoreboard::{Acknowledgement, Scoreboard};
use core::ops::Range;
use earlybird_units::Instant;
use earlybird_wire::{Flags, SackBlocks, SeqNum};

/// Data that were written and are not acknowledged: first the segments on the scoreboard, then the data that were never sent.
#[derive(Debug)]
pub(crate) struct SendBuffer {
    /// Written, and not cut into segments yet.
    queue: UnsentQueue,
    /// Sent, and not acknowledged.
    scoreboard: Scoreboard,
    /// Remainders of segments that are sent in pieces.
    resegmentation: Resegmentation,
    size: SegmentSize,
    peer_window: PeerWindow,
    /// The most segments that may be outstanding, whatever the receiver advertises (ns-2's `window_`).
    largest_window: u64,
}

/// A segment that its path may drop because of its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    /// The bytes of payload that are retransmitted at once.
    len: u64,
    /// Whether it begins beyond the receiver's window.
    is_beyond_window: bool,
}

/// The reason to suspect a black hole: the timer has expired again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlackHoleSigns {
    /// The back-off factor of the retransmission timer.
    pub(crate) back_off: u64,
    /// Whether something was received from the peer since the timeout before.
    pub(crate) peer_responded: bool,
}

impl SendBuffer {
    pub(super) fn new(config: &Config, lists_delivered: bool) -> Self {
        Self {
            queue: UnsentQueue::new(config),
            scoreboard: Scoreboard::new(lists_delivered),
            resegmentation: Resegmentation::default(),
            size: SegmentSize::new(config),
            peer_window: PeerWindow::default(),
            largest_window: u64::from(config.window.max),
        }
    }

    /// Returns the segments that are outstanding.
    #[inline]
    pub(crate) fn scoreboard(&self) -> &Scoreboard {
        &self.scoreboard
    }

    /// Returns the segments that are outstanding, for loss recovery, which moves `nxt` and drops SACK information.
    #[inline]
    pub(super) fn scoreboard_mut(&mut self) -> &mut Scoreboard {
        &mut self.scoreboard
    }

    /// Returns what was never sent.
    #[inline]
    pub(crate) fn queue(&self) -> &UnsentQueue {
        &self.queue
    }

    /// Returns the limits on the size of a segment.
    #[inline]
    pub(crate) fn size(&self) -> &SegmentSize {
        &self.size
    }

    /// Returns the window that the receiver advertises.
    #[inline]
    pub(crate) fn peer_window(&self) -> &PeerWindow {
        &self.peer_window
    }

    /// Returns the most segments that may be outstanding, whatever the receiver advertises.
    #[inline]
    pub(super) fn largest_window(&self) -> u64 {
        self.largest_window
    }

    /// Returns whether nothing but lengths decides how data are cut, as in simulations of ordinary TCP.
    pub(super) fn is_plain(&self) -> bool {
        !self.size.is_real() && self.queue.is_plain()
    }

    /// Returns whether neither new data nor a FIN nor a retransmission can be sent, as on the side that only receives.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.unsent == 0 && !self.queue.fin_queued && self.scoreboard.outstanding() == 0
    }

    /// Returns whether everything written was acknowledged; a FIN may still be outstanding.
    #[inline]
    pub(super) fn is_drained(&self) -> bool {
        let is_closing = self.queue.fin_at == Some(self.scoreboard.una_position());
        self.queue.unsent == 0 && (self.scoreboard.outstanding() == 0 || is_closing)
    }

    /// Returns whether data or a FIN wait to be sent for the first time.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.queue.unsent > 0 || self.queue.fin_queued
    }

    // Writes of the application.

    /// Appends `bytes` to the data to send.
    pub(super) fn write(&mut self, bytes: u64) {
        self.queue.unsent = self.queue.unsent.saturating_add(bytes);
    }

    /// Queues a FIN after the written data.
    pub(super) fn queue_fin(&mut self) {
        self.queue.fin_queued = true;
    }

    fn nagle_cork(&mut self) -> &mut NagleCork {
        self.queue.nagle_cork.get_or_insert_default()
    }

    /// Switches Nagle's algorithm. Switched off, waiting data is sent, even behind a cork.
    pub(super) fn set_nagle(&mut self, nagle: bool) {
        if nagle || self.queue.nagle_cork.is_some() {
            self.nagle_cork().set_nagle(nagle);
        }
        if !nagle {
            self.push();
        }
    }

    /// Sets whether only full segments may be sent.
    pub(super) fn set_corked(&mut self, is_corked: bool) {
        self.nagle_cork().set_corked(is_corked);
    }

    /// Ends a record after the written data: no segment crosses it.
    pub(super) fn end_record(&mut self) {
        let end = self.written_end();
        if self.queue.unsent > 0 {
            self.nagle_cork().end_record(end);
        }
    }

    /// Lets all data that were written so far be sent.
    fn push(&mut self) {
        let written = self.written_end();
        if let Some(nagle_cork) = &mut self.queue.nagle_cork {
            nagle_cork.push(written);
        }
    }

    /// Returns the stream position after the written data.
    fn written_end(&self) -> u64 {
        self.scoreboard.end_position().max(1) + self.queue.unsent
    }

    /// Returns whether Nagle's algorithm, a cork or records may act.
    #[inline]
    pub(super) fn may_hold_back(&self) -> bool {
        self.queue.nagle_cork.is_some()
    }

    /// Returns the time at which corked data are sent; [`Instant::NEVER`] if there are none.
    #[inline]
    pub(super) fn cork_deadline(&self) -> Instant {
        self.queue.nagle_cork.as_ref().map_or(Instant::NEVER, |nagle_cork| nagle_cork.deadline())
    }

    /// Sends corked data whose deadline has come.
    pub(super) fn on_cork_deadline(&mut self, now: Instant) {
        if self.cork_deadline() <= now {
            self.push();
        }
    }

    /// Returns whether the unsent data are held back; starts the limit of a cork if so.
    pub(super) fn check_held_back(&mut self, now: Instant) -> bool {
        if self.queue.unsent == 0 || !self.is_held_back(self.next_len_unlimited()) {
            return false;
        }
        self.nagle_cork().start_limit(now);
        true
    }

    // The receiver's window.

    /// Returns the receiver's window after a segment that acknowledges up to `ack`, starts at `start` and advertises `window`.
    #[inline]
    pub(super) fn select_window(&mut self, ack: u64, start: u64, window: u64) -> u64 {
        self.peer_window.select(ack, start, window)
    }

    /// Sets the receiver's window. A window probe that it now has room for is sent again at once.
    #[inline]
    pub(super) fn update_window(&mut self, window: u64) {
        let end = self.scoreboard.end_position() - self.scoreboard.acknowledged();
        let was_beyond =
            self.scoreboard.outstanding() == 1 && end > self.peer_window.size() && !self.scoreboard.ends_with_fin();
        // The receiver probably dropped the byte that lay beyond its window; waiting for the timer would cost an RTO.
        if was_beyond && end <= window {
            self.scoreboard.rewind_nxt();
        }
        self.peer_window.set(window);
    }

    /// Sets the receiver's window where no probe can be outstanding.
    #[inline]
    pub(super) fn set_window(&mut self, window: u64) {
        self.peer_window.set(window);
    }

    /// Returns the stream position behind the receiver's window.
    #[inline]
    fn window_end(&self) -> u64 {
        self.scoreboard.acknowledged() + self.peer_window.size()
    }

    /// Returns the bytes that the receiver's window leaves for new data.
    #[inline]
    pub(super) fn window_room(&self) -> u64 {
        self.window_end().saturating_sub(self.scoreboard.end_position())
    }

    /// Returns whether a segment that ends at stream position `end` is beyond the receiver's window: a window probe.
    pub(crate) fn is_probe(&self, end: u64) -> bool {
        end > self.window_end()
    }

    /// Returns whether the last segment sent is beyond the receiver's window.
    pub(super) fn is_beyond_window(&self) -> bool {
        self.scoreboard.end_position() > self.window_end()
    }

    /// Returns whether the first outstanding segment is beyond the receiver's window.
    pub(super) fn is_first_beyond_window(&self) -> bool {
        let first = self.scoreboard.segment(self.scoreboard.una());
        first.is_some_and(|(_, sent)| sent.end > self.window_end())
    }

    /// Returns whether the receiver has no room for the unsent data.
    pub(super) fn is_window_closed(&self) -> bool {
        self.queue.unsent > 0 && !self.is_held_back(self.next_len_unlimited()) && self.new_segment().is_none()
    }

    /// Returns whether only the receiver's window can let anything be acknowledged: the last segment is beyond it, or no new
    /// one fits.
    pub(super) fn is_blocked_by_window(&self) -> bool {
        if self.scoreboard.outstanding() > 0 { self.is_beyond_window() } else { self.is_window_closed() }
    }

    // The largest segment.

    /// Sets the largest segment size that both sides take.
    pub(super) fn negotiate_size(&mut self, peer_mss: u64, has_timestamps: bool) {
        self.size.negotiate(peer_mss, has_timestamps);
        self.abandon_too_long();
    }

    /// Sets the size of the largest segment with its options.
    pub(super) fn set_size(&mut self, with_options: u64) {
        self.size.set(with_options);
    }

    /// Restores the agreed segment size when an ICMP report has expired.
    #[inline]
    pub(super) fn restore_expired_size(&mut self, now: Instant) {
        self.size.restore_expired(now);
    }

    /// Reduces the segment size after a router reported that the segment at `position` is larger than `limit`; returns whether
    /// the report is credible. Everything that is outstanding must then be sent again.
    pub(super) fn limit_to_path(&mut self, now: Instant, limit: u64, position: u64) -> bool {
        // RFC 5927 §4.1: only a segment that is outstanding can have been too large.
        let quoted = self.scoreboard.number_at(position).and_then(|number| self.scoreboard.segment(number));
        let len = quoted.map_or(0, |(start, sent)| sent.end - start);
        let is_reduced = self.size.limit_to_path(now, limit, len);
        if is_reduced {
            self.fit_path();
        }
        is_reduced
    }

    /// Reduces the segment size to what this host's route carries; returns whether it was larger.
    pub(super) fn limit_to_route(&mut self, now: Instant, limit: u64) -> bool {
        let is_reduced = self.size.limit(now, limit);
        if is_reduced {
            self.fit_path();
        }
        is_reduced
    }

    /// Returns whether the first outstanding segment is longer than a segment may be by now.
    pub(super) fn is_first_too_long(&self) -> bool {
        let first = self.scoreboard.segment(self.scoreboard.una());
        first.is_some_and(|(start, sent)| sent.payload_end() - start > self.size.mss())
    }

    fn fit_path(&mut self) {
        self.abandon_too_long();
        self.resegmentation = Resegmentation::default();
    }

    /// Returns the first outstanding segment, which may be too large for its path; `None` if black holes are not looked for.
    pub(super) fn suspect(&self) -> Option<Suspect> {
        let (start, sent) =
            self.scoreboard.segment(self.scoreboard.una()).filter(|_| self.size.detects_black_holes())?;
        let len = (sent.payload_end() - start).min(self.piece_limit(start));
        Some(Suspect { len, is_beyond_window: start >= self.window_end() })
    }

    /// Halves the segment size if the missing segment may be too large for its path, which no router reports.
    pub(super) fn check_black_hole(&mut self, suspect: Suspect, signs: BlackHoleSigns) {
        // A receiver that closed its window over the segment answers (RFC 9293 §3.10.7.4), so the path does deliver it.
        if suspect.is_beyond_window && signs.peer_responded {
            return;
        }
        if self.size.halve_in_black_hole(suspect.len, signs.back_off) {
            self.abandon_too_long();
        }
    }

    // Outstanding data.

    /// Enters an ACK into the scoreboard.
    #[inline]
    pub(super) fn apply(
        &mut self,
        ack: u64,
        origin: SeqNum,
        sack: &SackBlocks,
        is_pure: bool,
        now: Instant,
    ) -> Acknowledgement {
        self.scoreboard.apply(ack, origin, sack, is_pure, now)
    }

    /// Sets whether the window is probed by the next new segment.
    pub(super) fn set_probes_window(&mut self, probes_window: bool) {
        self.queue.probes_window = probes_window;
    }

    /// Prepares for the probe that an idle timeout sends, if there is something to send.
    pub(super) fn on_idle_timeout(&mut self) {
        // With frames the one to probe with may have been abandoned meanwhile: the next one that is written takes its place.
        self.queue.probes_window = self.queue.unsent > 0 || (self.queue.probes_window && self.queue.frames.is_some());
    }

    /// Drops the remainders of segments that are sent in pieces: after a timeout all of them are sent again.
    pub(super) fn forget_pieces(&mut self) {
        self.resegmentation = Resegmentation::default();
    }

    // Data on the SYN (RFC 7413).

    /// Records that the SYN carried `bytes` of the written data, and the peer took them.
    pub(super) fn on_syn_data_accepted(&mut self, bytes: u64) {
        self.queue.unsent -= bytes;
        self.scoreboard.extend_syn(1 + bytes);
        self.forget_records(1 + bytes);
    }

    /// Puts `bytes` of what the SYN carried, which the peer did not take, onto the scoreboard as segments of their own.
    pub(super) fn requeue_syn_data(&mut self, bytes: u64) {
        let start = self.scoreboard.end_position();
        let end = start + bytes;
        // Segments may have become so short that the largest window does not hold them all: the others stay unsent.
        while self.scoreboard.end_position() < end && self.scoreboard.outstanding() < self.largest_window {
            let position = (self.scoreboard.end_position() + self.size.mss()).min(end);
            let pushes = self.size.is_real() && position == end;
            self.scoreboard.push_syn_data(position, if pushes { Flags::ACK | Flags::PSH } else { Flags::ACK });
        }
        self.queue.unsent -= self.scoreboard.end_position() - start;
        self.forget_records(self.scoreboard.end_position());
    }

    fn forget_records(&mut self, cut: u64) {
        if let Some(nagle_cork) = &mut self.queue.nagle_cork {
            nagle_cork.forget_records(cut);
        }
    }

    // Segments that are sent in pieces.

    /// Returns the remainder of a segment whose first piece was sent, if there is one.
    #[inline]
    pub(super) fn next_remainder(&mut self) -> Option<Remainder> {
        if self.resegmentation.is_empty() { None } else { self.take_remainder() }
    }

    #[cold]
    fn take_remainder(&mut self) -> Option<Remainder> {
        let end = self.window_end();
        let remainder = self.resegmentation.next(end)?;
        let Remainder { number, from } = remainder;
        let is_over = self.scoreboard.segment(number).is_none_or(|(_, sent)| sent.end <= from);
        if is_over || self.scoreboard.sacked().contains(number) {
            self.resegmentation.set_next(None);
            return None;
        }
        if from >= end {
            self.resegmentation.block(remainder);
            return None;
        }
        Some(remainder)
    }

    /// Returns the piece to send now of a segment: all that remains of it, in most cases.
    #[inline]
    pub(super) fn piece(&mut self, remainder: &Remainder) -> Option<Piece> {
        let number = remainder.number;
        let (start, sent) = self.scoreboard.segment(number)?;
        let (part, flags) = (start.max(remainder.from)..sent.payload_end(), sent.flags);
        let is_retransmission = sent.transmissions > 1;
        if self.size.is_real()
            && is_retransmission
            && let Some(end) = self.cut_short(number, &part)
        {
            // PSH and FIN belong to the last piece.
            let flags = flags.difference(Flags::PSH | Flags::FIN);
            return Some(Piece { number, part: part.start..end, flags, is_retransmission });
        }
        Some(Piece { number, part, flags, is_retransmission })
    }

    /// Returns where a piece must end if not all of it may be sent now; the rest is sent later.
    #[inline(never)]
    fn cut_short(&mut self, number: u64, part: &Range<u64>) -> Option<u64> {
        let from = part.start + self.piece_limit(part.start);
        let is_short = from < part.end;
        self.resegmentation.set_next(is_short.then_some(Remainder { number, from }));
        is_short.then_some(from)
    }

    /// Returns how many bytes may be retransmitted from a position on: what the receiver's window holds (RFC 9293 §3.8.6,
    /// SHLD-15).
    fn piece_limit(&self, start: u64) -> u64 {
        match self.window_end().saturating_sub(start) {
            // The first missing byte is sent even into a closed window: its ACK reports when that opens.
            0 => self.size.mss(),
            room => room.min(self.size.mss()),
        }
    }

    /// Returns whether a segment that was sent before is beyond the window, which has shrunk since. The first one never does.
    pub(super) fn is_out_of_reach(&self, number: u64) -> bool {
        self.size.is_real()
            && self.queue.frames.is_none()
            && number != self.scoreboard.una()
            && self.scoreboard.segment(number).is_some_and(|(start, _)| start >= self.window_end())
    }
}
