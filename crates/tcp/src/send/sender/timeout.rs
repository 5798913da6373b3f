//! The sender's reaction to timers that expire.

use super::Sender;
use crate::policy::control::Window;
use crate::policy::dupthresh::THIN_STREAM;
use crate::scoreboard::Acknowledgement;
use crate::send::buffer::BlackHoleSigns;
use crate::send::counters::TimeoutFacts;
use crate::trace::{Cx, TraceEvent};
use earlybird_units::Instant;

/// The kind of an expiry of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutKind {
    /// Nothing was outstanding, or the timer ran for a closed window.
    Idle,
    /// Data were outstanding, which are sent again.
    Loss,
}

impl Sender {
    /// Acts on an expiry of the retransmission timer; `last_received` is when the last segment arrived from the peer.
    pub(crate) fn on_timeout(&mut self, cx: &mut Cx<'_>, last_received: Instant) -> TimeoutKind {
        self.recheck_app_limited();
        if self.loss.persist().is_running() {
            self.remove_abandoned_on_timeout(cx.now);
            self.loss.on_persist_interval();
            return TimeoutKind::Idle;
        }
        // A window of less than a segment is not idle: only the timer can open it (ns-2's Vegas).
        if self.buffer.scoreboard().outstanding() == 0 && self.rate.control().cwnd() >= 1.0 {
            self.on_idle_timeout(cx.now);
            return TimeoutKind::Idle;
        }
        self.on_loss_timeout(cx, last_received);
        TimeoutKind::Loss
    }

    /// Acts on an expiry with nothing outstanding, which only happens where the timer runs idle.
    fn on_idle_timeout(&mut self, now: Instant) {
        self.buffer.on_idle_timeout();
        // ns-2 resets the window of an idle sender, but not its threshold.
        let ssthresh = self.rate.control().ssthresh();
        self.rate.control_mut().on_idle(&Window::new(1.0, ssthresh));
        self.loss.on_idle_timeout(now, self.buffer.scoreboard_mut());
    }

    fn on_loss_timeout(&mut self, cx: &mut Cx<'_>, last_received: Instant) {
        self.buffer.forget_pieces();
        let scoreboard = self.buffer.scoreboard();
        let flight = self.flight(scoreboard.outstanding());
        let without_fast_retransmit =
            scoreboard.segment(scoreboard.una()).is_some_and(|(_, sent)| sent.transmissions == 1);
        // The state before the reduction is remembered first: F-RTO may find the timeout spurious.
        self.remember_reduction(true, flight.outstanding);
        self.rate.on_timeout(cx, &flight, self.buffer.scoreboard().snd_max());
        // Before the frame leaves the scoreboard: what a path drops for its size expires too.
        let suspect = self.buffer.suspect();
        // Abandoned frames leave the scoreboard before recovery marks what is left as lost.
        self.remove_abandoned_on_timeout(cx.now);
        self.loss.recovery_mut().on_timeout(cx.now, self.buffer.scoreboard_mut());
        self.sample_losses(cx.now);
        let timer = self.loss.timer_mut().expire(cx.now, flight.outstanding < THIN_STREAM);
        if let Some(suspect) = suspect {
            let back_off = self.loss.timer().value().back_off;
            let peer_responded = last_received >= self.loss.activity().last_timeout;
            self.buffer.check_black_hole(suspect, BlackHoleSigns { back_off, peer_responded });
        }
        if self.buffer.scoreboard().outstanding() == 0 {
            self.loss.restart_timer(cx.now, self.buffer.scoreboard());
        }
        let frozen_for = self.loss.note_timeout(cx.now);
        self.counters.on_timeout(&TimeoutFacts { without_fast_retransmit, frozen_for, timer });
        cx.trace.record(cx.now, TraceEvent::Timeout { timer, frozen_for });
    }

    /// Acts on the deadline of a recovery that finds losses by time.
    pub(crate) fn on_recovery_deadline(&mut self, cx: &mut Cx<'_>) {
        self.recheck_app_limited();
        let outcome = self.loss.recovery_mut().on_deadline(cx.now, self.buffer.scoreboard());
        let no_ack = Acknowledgement::default();
        self.act_on(cx, outcome, &no_ack, None, true);
        // The timer was stopped; it is restarted whether or not a probe is sent (RFC 8985 §7.3, §8).
        self.loss.restart_timer(cx.now, self.buffer.scoreboard());
        self.reduce(&no_ack);
        self.sample_losses(cx.now);
    }

    /// Acts on the deadlines of cork and pacer.
    pub(crate) fn on_send_deadlines(&mut self, now: Instant) {
        self.buffer.on_cork_deadline(now);
        self.rate.on_pacer_deadline(now);
    }

    /// Stops the retransmission timer: the connection has ended.
    pub(crate) fn stop_timer(&mut self) {
        self.loss.timer_mut().stop();
    }

    // Deadlines.

    /// Returns whether there can be deadlines beside that of the retransmission timer.
    #[inline]
    pub(crate) fn has_more_deadlines(&self) -> bool {
        self.loss.is_timed() || self.rate.is_paced() || self.buffer.may_hold_back()
    }

    /// Returns the first deadline; `is_open` if the handshake is done.
    #[inline(never)]
    pub(crate) fn first_deadline(&self, is_open: bool) -> Instant {
        // While the recovery has a deadline, it replaces that of the retransmission timer (RFC 8985 §8).
        let recovery = if is_open { self.loss.deadline() } else { Instant::NEVER };
        let timer = if recovery < Instant::NEVER { recovery } else { self.loss.timer().deadline() };
        timer.min(self.rate.pacer_deadline()).min(self.buffer.cork_deadline())
    }

    // The persist timer.

    /// Starts a timer for data that wait while nothing is outstanding: no ACK will come that could let them be sent.
    #[inline]
    pub(super) fn watch_closed_window(&mut self, now: Instant) {
        if self.buffer.scoreboard().outstanding() == 0 || self.buffer.may_hold_back() {
            self.arm_probe_timer(now);
        }
    }

    #[inline(never)]
    fn arm_probe_timer(&mut self, now: Instant) {
        if self.buffer.check_held_back(now) {
            return;
        }
        let is_waiting = self.buffer.has_unsent() && self.buffer.scoreboard().outstanding() == 0;
        if !is_waiting || self.loss.timer().deadline() != Instant::NEVER {
            return;
        }
        // The ACK that opens a window may get lost, so the window is probed (RFC 9293 §3.8.6.1); where the retransmission timer
        // runs idle, it does that. A congestion window below one segment, which ns-2's halving can reach, holds even a FIN back.
        if self.buffer.is_window_closed() && !self.loss.keeps_idle_timer() {
            self.loss.start_persisting(now);
        } else {
            self.loss.timer_mut().restart(now);
        }
    }

    /// Ends the persist timer if an ACK has opened the window, or nothing is left to send.
    pub(super) fn check_window_open(&mut self, now: Instant) {
        if !self.buffer.is_blocked_by_window() {
            self.loss.end_persisting(now, self.buffer.scoreboard());
        }
    }

    /// Returns whether the receiver must open its window before anything can be acknowledged.
    pub(crate) fn waits_for_window(&self) -> bool {
        // A receiver that has shrunk its window leaves segments beyond it; they are retransmitted (RFC 9293 §3.8.6, SHLD-15 to
        // SHLD-18).
        self.loss.persist().is_running() || self.buffer.is_first_beyond_window()
    }

    /// Returns, once, whether an empty window probe is to be sent.
    pub(crate) fn take_empty_probe(&mut self) -> bool {
        self.loss.take_empty_probe()
    }

    /// Returns the number of the segment that probes the window now, if a probe is due.
    #[cold]
    pub(super) fn next_probe(&mut self, now: Instant) -> Option<u64> {
        if !self.loss.is_probe_due() {
            return None;
        }
        // A frame is never split, so that no single byte of one can probe.
        let may_be_empty = self.buffer.window_room() == 0 || self.buffer.has_frames();
        if self.loss.probes_empty() && may_be_empty {
            self.loss.on_window_probe(true);
            self.counters.on_window_probe(false);
            self.loss.restart_persist_timer(now);
            return None;
        }
        self.send_probe(now)
    }

    fn send_probe(&mut self, now: Instant) -> Option<u64> {
        let (number, is_new_segment) = self.cut_probe(now)?;
        self.loss.on_window_probe(false);
        self.counters.on_window_probe(is_new_segment);
        self.buffer.on_frame_sent(number);
        self.loss.on_sent(now, number, self.buffer.scoreboard());
        self.buffer.scoreboard_mut().advance_nxt(number);
        self.rate.sample_sending(now, number);
        if self.buffer.is_beyond_window() {
            self.loss.restart_persist_timer(now);
        } else {
            // The receiver has room for it: it is a segment like any other.
            self.loss.end_persisting(now, self.buffer.scoreboard());
        }
        Some(number)
    }

    /// Returns the number of the segment that probes the window, and whether it is new.
    fn cut_probe(&mut self, now: Instant) -> Option<(u64, bool)> {
        self.expire(now);
        let una = self.buffer.scoreboard().una();
        // The last frame sent is not abandoned as long as none fits behind it, so there is something to probe with.
        if self.buffer.scoreboard().outstanding() > 0 {
            self.buffer.scoreboard_mut().on_retransmission(now, una);
            return Some((una, false));
        }
        self.buffer.set_probes_window(true);
        let plain = self.buffer.plain_segment();
        let is_cut = self.buffer.cut_segment(now, plain).is_some();
        self.buffer.set_probes_window(false);
        is_cut.then_some((una, true))
    }
}
