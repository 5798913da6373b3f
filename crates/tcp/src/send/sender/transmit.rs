//! The choice of the next segment, and the state update on transmission.

use super::{SendPath, Sender};
use crate::policy::recovery::SendAllowance;
use crate::send::buffer::resegmentation::{Piece, Remainder};
use crate::send::counters::LimitedBy;
use earlybird_units::Instant;

impl Sender {
    /// Decides which segment to send now and records it; returns the part of it that is sent, all in most cases.
    #[inline]
    pub(crate) fn next(&mut self, now: Instant) -> Option<Piece> {
        // Plain simulations never send in pieces: their path does not shrink.
        let is_plain = self.send_path == SendPath::Plain;
        let remainder = if is_plain { None } else { self.buffer.next_remainder() };
        let remainder = match remainder {
            Some(remainder) => remainder,
            None if self.loss.persist().is_running() => Remainder::whole(self.next_probe(now)?),
            None => {
                if self.rate.slow_start_after_idle() && self.buffer.scoreboard().outstanding() == 0 {
                    self.restart_after_idle(now);
                }
                if !is_plain && self.is_blocked_by_pacer(now) {
                    return None;
                }
                let plain = self.buffer.plain_segment();
                let Some(number) = self.choose(now, plain) else {
                    self.watch_closed_window(now);
                    return None;
                };
                if number == self.buffer.scoreboard().snd_max() {
                    let piece = self.buffer.cut_segment(now, plain)?;
                    self.on_departure(now, piece.number, false);
                    return Some(piece);
                }
                self.retransmit(now, number)?;
                Remainder::whole(number)
            }
        };
        // One call for all that is not new: it is inlined, and would be so three times.
        self.buffer.piece(&remainder)
    }

    /// Returns the number of the segment to send now: one that was sent before, or `snd_max` for a new one, whose length is `plain`
    /// if it is a plain one.
    #[inline]
    fn choose(&mut self, now: Instant, plain: Option<u64>) -> Option<u64> {
        let allowance = self.allowance_with(plain);
        if self.send_path == SendPath::Full {
            self.choose_slow_path(now, &allowance)
        } else {
            self.loss.recovery_mut().next(self.buffer.scoreboard(), &allowance)
        }
    }

    #[inline(never)]
    fn choose_slow_path(&mut self, now: Instant, allowance: &SendAllowance) -> Option<u64> {
        let next = if self.buffer.has_frames() {
            self.next_unabandoned_segment(now)
        } else {
            self.loss.next(allowance, self.buffer.scoreboard())
        };
        next.or_else(|| self.may_send_fin().then(|| self.buffer.scoreboard().snd_max()))
    }

    /// Returns whether a FIN is sent although the congestion window has no room.
    fn may_send_fin(&self) -> bool {
        self.buffer.may_send_fin() && !self.loss.recovery().is_recovering()
    }

    /// Returns whether the pacer blocks transmission.
    #[inline]
    fn is_blocked_by_pacer(&mut self, now: Instant) -> bool {
        let is_held = self.rate.holds_back(now);
        if !is_held {
            self.buffer.restore_expired_size(now);
        }
        is_held
    }

    /// Sends a segment again, if the receiver's window still has room for it.
    #[inline(never)]
    fn retransmit(&mut self, now: Instant, number: u64) -> Option<()> {
        if self.buffer.is_out_of_reach(number) {
            return None;
        }
        if let Some(limit) = self.partial.replaced_before(now, || self.loss.timer().srtt()) {
            self.buffer.replace_expired(number, limit);
        }
        self.buffer.scoreboard_mut().on_retransmission(now, number);
        self.on_departure(now, number, true);
        Some(())
    }

    /// Passes a segment that is sent now to all parts.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every segment")]
    fn on_departure(&mut self, now: Instant, number: u64, is_retransmission: bool) {
        // Before `nxt` passes it: recovery compares the two.
        self.loss.on_sent(now, number, self.buffer.scoreboard());
        if self.rate.has_sampler() {
            self.rate.sample_sending(now, number);
        }
        self.on_sent(now, number, is_retransmission);
        if !is_retransmission {
            self.rate.on_new_segment(self.buffer.scoreboard());
        }
        if self.send_path != SendPath::Plain {
            self.on_observed_departure(now, number, is_retransmission);
        }
    }

    /// Passes a segment to the parts that a plain sender does not have: frames, spurious-loss detection, RACK, PRR and pacer.
    #[inline(never)]
    fn on_observed_departure(&mut self, now: Instant, number: u64, is_retransmission: bool) {
        self.buffer.on_frame_sent(number);
        if is_retransmission {
            self.loss.on_retransmission(now, number, self.buffer.scoreboard());
        } else {
            self.loss.on_new_segment(now, self.buffer.scoreboard());
        }
        self.rate.on_sent();
        if self.rate.is_paced() {
            self.pace(now, number);
        }
    }

    #[inline(never)]
    fn pace(&mut self, now: Instant, number: u64) {
        let size = self.buffer.scoreboard().segment(number).map_or(1, |(start, sent)| sent.end - start);
        if let Some(rate) = self.pacing_rate() {
            let mss = self.buffer.size().mss();
            let sent = self.counters.statistics().segments_sent;
            self.rate.pace(now, sent, size.cast_signed() as f64 / mss.cast_signed() as f64, rate);
        }
    }

    /// Counts a segment that is sent now, and starts its timer.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, number: u64, is_retransmission: bool) {
        let was_idle = !is_retransmission && self.buffer.scoreboard().outstanding() == 1;
        self.buffer.scoreboard_mut().advance_nxt(number);
        self.counters.on_sent(is_retransmission);
        self.loss.start_timer(now, number, !is_retransmission, was_idle);
        if was_idle {
            self.rate.control_mut().on_resumed(now);
        }
    }

    /// Decays the window before the first segment after an idle period.
    #[inline(never)]
    fn restart_after_idle(&mut self, now: Instant) {
        let idle = now - self.loss.activity().last_sent;
        let timeout = self.loss.timer().value().timeout;
        // A control that models the path has rules of its own for idle periods.
        if idle <= timeout || self.rate.has_sampler() || self.buffer.new_segment().is_none() {
            return;
        }
        self.loss.activity_mut().last_sent = now;
        self.rate.on_idle_period(idle, timeout);
    }

    // The limit that stops the sender.

    /// Records what limits the sender, after nothing more could be sent; `awaits_send_space` if a write was cut short.
    #[inline]
    pub(crate) fn note_limit(&mut self, now: Instant, awaits_send_space: bool) {
        let limit = self.limit(awaits_send_space);
        self.counters.set_limit(now, limit);
    }

    /// Records that the sender [has nothing to send](Self::has_nothing_to_send).
    #[inline]
    pub(crate) fn note_idle(&mut self, now: Instant) {
        self.counters.set_limit(now, LimitedBy::Idle);
    }

    /// Records that the connection is not open.
    #[inline]
    pub(crate) fn stop_busy_time(&mut self, now: Instant) {
        self.counters.stop_busy_time(now);
    }

    // The order is that of precedence: of several limits the first one counts, as in Linux's `tcp_write_xmit`.
    #[inline]
    fn limit(&self, awaits_send_space: bool) -> LimitedBy {
        let outstanding = self.buffer.scoreboard().outstanding();
        if self.buffer.queue().unsent() == 0 {
            return match (outstanding, awaits_send_space) {
                (0, _) => LimitedBy::Idle,
                (_, true) => LimitedBy::SendBuffer,
                (_, false) => LimitedBy::Application,
            };
        }
        if self.loss.persist().is_running() {
            LimitedBy::Receiver
        } else if self.loss.recovery().is_recovering() {
            LimitedBy::Network
        } else if outstanding >= self.buffer.largest_window() {
            LimitedBy::LargestWindow
        } else if outstanding.cast_signed() as f64 + 1.0 > self.rate.cwnd() {
            LimitedBy::Network
        } else if self.buffer.is_next_held_back() {
            LimitedBy::Application
        } else if self.buffer.has_new_segment() {
            LimitedBy::Network
        } else {
            LimitedBy::Receiver
        }
    }
}
