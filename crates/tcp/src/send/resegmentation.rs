//! Segments that leave in pieces, because the path or the receiver's window has shrunk since they were cut.
//!
//! Their numbers stay what recovery, sampler and timer count by: a segment is sent when its first piece is, and has arrived when
//! all of it has.

use super::sender::Sender;
use crate::policy::segmentation::{LEAST_MSS, TIMESTAMPS};
use core::ops::Range;
use earlybird_units::Instant;
use earlybird_wire::Flags;

/// What of segments is still to leave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resegmentation {
    /// Of the one whose first piece has left.
    next: Option<Rest>,
    /// Of one that waits for the receiver's window: others may pass it.
    waiting: Option<Rest>,
}

/// What of a segment is still to leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    number: u64,
    /// Stream position of the next piece.
    from: u64,
}

impl Rest {
    /// All of it.
    pub(super) const fn whole(number: u64) -> Self {
        Self { number, from: 0 }
    }
}

impl Resegmentation {
    /// Returns whether anything is left.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.next.is_none() && self.waiting.is_none()
    }

    /// Lets a rest wait. Of two the first one does: the timer sees to the other.
    fn park(&mut self, rest: Rest) {
        self.next = None;
        if self.waiting.is_none_or(|waiting| rest.from < waiting.from) {
            self.waiting = Some(rest);
        }
    }
}

/// A part of a segment that leaves now.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) number: u64,
    /// Its payload, by stream positions.
    pub(crate) part: Range<u64>,
    pub(crate) flags: Flags,
    /// Its segment was sent before.
    pub(crate) is_retransmission: bool,
}

/// So many timeouts in a row make a path suspect (R1 of RFC 9293 §3.8.3, MUST-20: three retransmissions).
const SUSPICIOUS_BACK_OFF: u64 = 1 << 3;

impl Sender {
    /// Returns the rest of a segment whose first piece has left, if there is one.
    #[inline]
    pub(super) fn next_rest(&mut self) -> Option<Rest> {
        if self.pieces.is_empty() { None } else { self.take_rest() }
    }

    /// Returns that; `None` if nothing is left of it by now, or it must wait for the receiver's window.
    #[cold]
    fn take_rest(&mut self) -> Option<Rest> {
        let end = self.window_end();
        let rest = self.pieces.next.or_else(|| self.pieces.waiting.take_if(|waiting| waiting.from < end))?;
        let Rest { number, from } = rest;
        let is_over = self.scoreboard.segment(number).is_none_or(|(_, sent)| sent.end <= from);
        if is_over || self.scoreboard.sacked().contains(number) {
            self.pieces.next = None;
            return None;
        }
        if from >= end {
            self.pieces.park(rest);
            return None;
        }
        Some(rest)
    }

    /// Returns what leaves now of a segment of which this is to leave: all of it, in most cases.
    #[inline]
    pub(super) fn piece(&mut self, rest: &Rest) -> Option<Piece> {
        let number = rest.number;
        let (start, sent) = self.scoreboard.segment(number)?;
        let (part, flags) = (start.max(rest.from)..sent.payload_end(), sent.flags);
        let is_retransmission = sent.transmissions > 1;
        if self.queue.is_real
            && is_retransmission
            && let Some(end) = self.cut_short(number, &part)
        {
            let flags = flags.difference(Flags::PSH | Flags::FIN);
            return Some(Piece { number, part: part.start..end, flags, is_retransmission });
        }
        Some(Piece { number, part, flags, is_retransmission })
    }

    /// Returns where a part of a segment must end if not all of it may leave now; the rest leaves later.
    #[inline(never)]
    fn cut_short(&mut self, number: u64, part: &Range<u64>) -> Option<u64> {
        let from = part.start + self.most_of_piece(part.start);
        let is_short = from < part.end;
        self.pieces.next = is_short.then_some(Rest { number, from });
        is_short.then_some(from)
    }

    /// Returns how many bytes of what was sent before may leave from a position on: what the receiver's window holds
    /// (RFC 9293 §3.8.6, SHLD-15). The first byte missing is sent even into a closed one: somebody must ask it.
    fn most_of_piece(&self, start: u64) -> u64 {
        match self.window_end().saturating_sub(start) {
            0 => self.queue.mss,
            room => room.min(self.queue.mss),
        }
    }

    fn window_end(&self) -> u64 {
        self.scoreboard.acknowledged() + self.peer_window.size
    }

    /// Returns whether a segment that was sent before lies beyond the window, which has shrunk since. The first one never does.
    pub(super) fn is_out_of_reach(&self, number: u64) -> bool {
        self.queue.is_real
            && self.queue.frames.is_none()
            && number != self.scoreboard.una()
            && self.scoreboard.segment(number).is_some_and(|(start, _)| start >= self.window_end())
    }

    /// A router says that segments can be no larger than `whole` with their options. Believes it if the one at `position`,
    /// which it speaks of, is outstanding and larger (RFC 5927 §4.1, §7.2); says whether it did.
    ///
    /// What was too large goes again at once, and no window falls: nothing was congested (RFC 1191 §6.5, RFC 8201 §5.4).
    pub(crate) fn on_path_limit(&mut self, now: Instant, whole: u64, position: u64) -> bool {
        let outstanding = self.scoreboard.number_at(position).and_then(|number| self.scoreboard.segment(number));
        let len = outstanding.map_or(0, |(start, sent)| sent.end - start);
        if !self.queue.is_real || whole >= self.queue.whole || len + self.queue.options <= whole {
            return false;
        }
        self.queue.limit_whole(now, whole);
        self.on_shorter_mss();
        self.pieces = Resegmentation::default();
        self.recovery.on_timeout(now, &mut self.scoreboard);
        self.timer.cancel_measurement();
        self.restart_timer(now);
        true
    }

    /// The timer ran out again and again: halves the segments, if the one that is missing may be too large for its path, of
    /// which no router says so. They stay so: trying would cost a silence of as many timeouts each time.
    ///
    /// `heard` is when the peer was, at last.
    pub(super) fn suspect_black_hole(&mut self, heard: Instant) {
        let Some(least) = self.queue.least_suspected.filter(|_| self.queue.is_real) else { return };
        let Some((start, sent)) = self.scoreboard.segment(self.scoreboard.una()) else { return };
        // A receiver that closed its window over it all answers (RFC 9293 §3.10.7.4): it is no path that swallows it.
        if start >= self.window_end() && heard >= self.watch.last_timeout {
            return;
        }
        let len = (sent.payload_end() - start).min(self.most_of_piece(start));
        // It may be shorter than half the largest one, and still too large.
        let whole = (self.queue.whole.min(len + self.queue.options) / 2).max(least);
        if self.timer.value().back_off >= SUSPICIOUS_BACK_OFF && len + self.queue.options > whole {
            self.queue.agreed = None;
            self.queue.set_whole(whole);
            self.on_shorter_mss();
        }
    }

    /// Learns the largest segment size that both sides take, and whether timestamps take room from it.
    pub(crate) fn on_mss(&mut self, told: u64, has_timestamps: bool) {
        if self.queue.is_real {
            self.queue.options = if has_timestamps { TIMESTAMPS } else { 0 };
            self.queue.set_whole(self.queue.whole.min(told.max(LEAST_MSS)));
        } else {
            self.queue.mss = self.queue.mss.min(told);
        }
        self.on_shorter_mss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_rests_the_first_one_waits() {
        let mut pieces = Resegmentation::default();
        for (from, first) in [(500, 500), (300, 300), (700, 300)] {
            pieces.park(Rest { number: 1, from });
            assert_eq!(pieces.waiting.map(|rest| rest.from), Some(first));
        }
    }
}
