//! Cutting written data into segments.

use super::SendBuffer;
use super::resegmentation::Piece;
use earlybird_units::Instant;
use earlybird_wire::Flags;

impl SendBuffer {
    /// Returns the length and flags of the next new segment, if there is one and the receiver has room for it.
    #[inline(never)]
    pub(in crate::send) fn new_segment(&self) -> Option<(u64, Flags)> {
        let room = self.window_room();
        let len = self.new_len(room);
        if len == 0 {
            self.queue.fin_queued.then_some((0, Flags::ACK | Flags::FIN))
        } else if (len <= room || self.queue.probes_window) && !self.is_held_back(len) {
            Some((len, self.flags_of_new(len, room)))
        } else {
            None
        }
    }

    /// Returns the length of the next new segment if nothing but its size and the window decides: no frames, records or probes.
    #[inline]
    pub(in crate::send) fn plain_segment(&self) -> Option<u64> {
        let len = self.queue.unsent.min(self.size.mss());
        let is_plain = self.queue.is_plain() && len > 0;
        (is_plain && len <= self.window_room()).then_some(len)
    }

    /// Returns whether there is a next new segment for which the receiver has room.
    #[inline]
    pub(in crate::send) fn has_new_segment(&self) -> bool {
        // Called for every ACK: the first condition is fast for ordinary TCP.
        self.plain_segment().is_some() || self.new_segment().is_some()
    }

    #[inline]
    fn flags_of_new(&self, len: u64, room: u64) -> Flags {
        let is_last = len == self.queue.unsent;
        if !self.size.is_real() || !(is_last || self.ends_record(len)) {
            Flags::ACK
        } else if is_last && self.queue.fin_queued && len < room && self.queue.frames.is_none() {
            // The FIN takes a sequence number, and so a byte of the window.
            Flags::ACK | Flags::PSH | Flags::FIN
        } else {
            Flags::ACK | Flags::PSH
        }
    }

    /// Returns whether all that is left to send is a FIN, and nothing is to be retransmitted before it.
    pub(in crate::send) fn may_send_fin(&self) -> bool {
        // A FIN does not wait for the congestion window: it is no load (Linux, `tcp_cwnd_test`).
        self.size.is_real()
            && self.queue.fin_queued
            && self.queue.unsent == 0
            && self.scoreboard.nxt() == self.scoreboard.snd_max()
            && self.scoreboard.outstanding() < self.largest_window
    }

    /// Returns the length of the next new segment if the receiver's window leaves so much room.
    #[inline]
    fn new_len(&self, room: u64) -> u64 {
        match &self.queue.frames {
            // A frame is never split: a window probe is a whole one. RFC 9293 §3.8.6.1 requires one byte at least.
            Some(frames) => frames.next_bytes().unwrap_or(0),
            None if self.queue.probes_window => self.queue.unsent.min(room.clamp(1, self.size.mss())),
            None => self.new_len_within(room),
        }
    }

    #[inline]
    fn new_len_within(&self, room: u64) -> u64 {
        let len = self.next_len_unlimited();
        if len > room && self.may_split_for(room) { room } else { len }
    }

    /// Returns whether the next segment may be shortened to `room`: nothing is outstanding whose ACK could open the window, and
    /// half the largest window is open (RFC 9293 §3.8.6.2.1, rule 3).
    fn may_split_for(&self, room: u64) -> bool {
        room > 0 && 2 * room >= self.peer_window.largest() && self.scoreboard.outstanding() == 0
    }

    /// Returns the length of the next segment where the receiver's window is not considered.
    #[inline]
    pub(super) fn next_len_unlimited(&self) -> u64 {
        let len = self.queue.unsent.min(self.size.mss());
        match &self.queue.nagle_cork {
            Some(nagle_cork) => nagle_cork.within_record(self.scoreboard.end_position(), len),
            None => len,
        }
    }

    fn ends_record(&self, len: u64) -> bool {
        let end = self.scoreboard.end_position() + len;
        self.queue.nagle_cork.as_ref().is_some_and(|nagle_cork| nagle_cork.ends_record(end))
    }

    /// Returns whether the next segment, of `len` bytes, waits for more data. Window probes and the last segment do not.
    #[inline]
    pub(super) fn is_held_back(&self, len: u64) -> bool {
        let Some(nagle_cork) = &self.queue.nagle_cork else { return false };
        let is_tail = len < self.size.mss() && len == self.queue.unsent && !self.queue.fin_queued;
        is_tail
            && self.queue.frames.is_none()
            && !self.queue.probes_window
            && nagle_cork.holds(self.scoreboard.una_position(), self.scoreboard.end_position() + len)
    }

    /// Returns whether Nagle's algorithm or a cork holds the next segment back.
    #[inline]
    pub(in crate::send) fn is_next_held_back(&self) -> bool {
        self.is_held_back(self.next_len_unlimited())
    }

    /// Cuts the next new segment, which is sent now; `plain` is its length as [`Self::plain_segment`] returned it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every new segment is cut here")]
    pub(in crate::send) fn cut_segment(&mut self, now: Instant, plain: Option<u64>) -> Option<Piece> {
        // Real segmentation sets PSH and takes a FIN along, which a length alone does not show.
        let (len, flags) = match plain.filter(|_| !self.size.is_real()) {
            Some(len) => (len, Flags::ACK),
            None => self.cut_special_segment()?,
        };
        let (number, start) = (self.scoreboard.snd_max(), self.scoreboard.end_position());
        let end = start + len;
        self.queue.probes_window = false;
        self.queue.unsent -= len;
        self.scoreboard.push(now, end + u64::from(flags.contains(Flags::FIN)), flags);
        Some(Piece { number, part: start..end, flags, is_retransmission: false })
    }

    /// Updates frames, records and FIN for the next new segment; returns its length and flags.
    #[inline(never)]
    fn cut_special_segment(&mut self) -> Option<(u64, Flags)> {
        let (len, flags) = self.new_segment()?;
        let end = self.scoreboard.end_position() + len;
        if let Some(nagle_cork) = &mut self.queue.nagle_cork {
            nagle_cork.on_cut(end, len < self.size.mss());
        }
        if flags.contains(Flags::FIN) {
            self.queue.fin_queued = false;
            self.queue.fin_at = Some(end);
        }
        if let Some(frames) = self.queue.frames.as_mut().filter(|_| len > 0) {
            frames.on_cut();
        }
        Some((len, flags))
    }
}
