//! The persist timer: asks a closed window, time and again, whether it is open by now (RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17).
//!
//! It borrows the clockwork of the retransmission timer, for the two never run at once: while it runs, nothing is in flight
//! that was sent in good faith, and nothing leaves but probes. It touches no window and is no timeout: a receiver may keep its
//! window closed for as long as it likes.

use super::sender::Sender;
use earlybird_units::Instant;

/// Whether and for how long a closed window has been asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Persist {
    /// The intervals that are over, each twice as long as the one before; `None` while the window is open.
    intervals: Option<u32>,
    /// A probe is to leave now.
    is_due: bool,
    /// It is one without a byte of the stream.
    is_empty_due: bool,
}

impl Persist {
    /// Returns whether the timer runs for a closed window.
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.intervals.is_some()
    }

    /// Returns whether the window was asked for the first time.
    pub(crate) fn is_first(&self) -> bool {
        self.intervals == Some(1)
    }

    /// Returns whether an empty segment is to leave that the peer must answer.
    #[inline]
    pub(crate) fn is_empty_due(&self) -> bool {
        self.is_empty_due
    }

    /// Says, once, that an empty segment is to leave that the peer must answer.
    pub(crate) fn take_empty(&mut self) -> bool {
        core::mem::take(&mut self.is_empty_due)
    }
}

impl Sender {
    /// Returns whether the receiver has no room for what waits.
    pub(super) fn is_window_closed(&self) -> bool {
        self.queue.unsent > 0 && !self.is_held_back(self.most_of_segment()) && self.new_segment().is_none()
    }

    /// Begins to wait for a closed window: the first probe leaves after one timeout.
    pub(super) fn start_persisting(&mut self, now: Instant) {
        self.persist.intervals = Some(0);
        self.timer.persist(now, 0);
    }

    /// An interval is over: a probe leaves, and the next interval is twice as long.
    pub(super) fn on_persist(&mut self, now: Instant) {
        self.ground_all(now);
        self.persist.is_due = true;
        self.persist.intervals = self.persist.intervals.map(|intervals| intervals.saturating_add(1));
        self.timer.cancel_measurement();
        // Where frames are given up there may be none: the next one that is written is the probe.
        self.timer.stop();
    }

    /// The next interval begins.
    fn wait_on(&mut self, now: Instant) {
        if self.is_beyond_window() {
            self.timer.persist(now, self.persist.intervals.unwrap_or_default());
        } else {
            // The receiver has room for it: it is a segment as any other.
            self.persist = Persist::default();
            self.restart_timer(now);
        }
    }

    /// An ACK came while a window was closed: goes on if that is open now, or nothing is left to ask for.
    pub(super) fn look_at_window(&mut self, now: Instant) {
        let is_closed =
            if self.scoreboard.outstanding() > 0 { self.is_beyond_window() } else { self.is_window_closed() };
        if is_closed {
            return;
        }
        self.persist = Persist::default();
        self.restart_timer(now);
    }

    /// Returns whether the receiver has to open its window before anything can be acknowledged. One that took back what it had
    /// told leaves segments beyond it, which go on being repeated (RFC 9293 §3.8.6, SHLD-15 to SHLD-18).
    pub(crate) fn waits_for_window(&self) -> bool {
        let edge = self.scoreboard.acknowledged() + self.peer_window.size;
        self.persist.is_running()
            || self.scoreboard.segment(self.scoreboard.una()).is_some_and(|(_, sent)| sent.end > edge)
    }

    /// Returns whether what was sent last lies beyond the receiver's window.
    fn is_beyond_window(&self) -> bool {
        self.scoreboard.end_position() > self.scoreboard.acknowledged() + self.peer_window.size
    }

    /// Returns the number of the probe if one is due: of one byte, or what the window holds if it is open a little; a frame is
    /// never split. A probe that was not acknowledged goes again.
    #[cold]
    pub(super) fn next_probe(&mut self, now: Instant) -> Option<u64> {
        if !self.persist.is_due {
            return None;
        }
        let is_empty = self.probes_empty && (self.room() == 0 || self.queue.frames.is_some());
        let number = if is_empty { None } else { Some(self.cut_probe(now)?) };
        self.persist.is_due = false;
        self.statistics.window_probes += 1;
        let Some(number) = number else {
            self.persist.is_empty_due = true;
            self.timer.persist(now, self.persist.intervals.unwrap_or_default());
            return None;
        };
        if let Some(frames) = &mut self.queue.frames {
            frames.on_sent(number);
        }
        self.recovery.on_sent(now, number, &self.scoreboard);
        self.scoreboard.go_past(number);
        self.sample_sending(now, number);
        self.wait_on(now);
        Some(number)
    }

    /// Returns the number of what probes: the segment that has, or a new one. The last frame sent is not given up as long as
    /// none fits behind it.
    fn cut_probe(&mut self, now: Instant) -> Option<u64> {
        self.expire(now);
        if self.scoreboard.outstanding() == 0 {
            self.queue.probes_window = true;
            let is_cut = self.cut_segment(now, self.plain_segment()).is_some();
            self.queue.probes_window = false;
            self.statistics.segments_sent += u64::from(is_cut);
            return is_cut.then(|| self.scoreboard.una());
        }
        self.scoreboard.on_sent_again(now, self.scoreboard.una());
        Some(self.scoreboard.una())
    }
}
