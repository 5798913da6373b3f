//! What a sender does about retransmissions that may have been needless: it watches them, and gives back what it reduced.

use super::sender::Sender;
use crate::policy::control::Window;
use crate::policy::recovery::Limits;
use crate::policy::spurious::{ForwardRto, Reduced};
use crate::scoreboard::{Acknowledgement, Span};
use earlybird_units::Instant;

impl Sender {
    /// Remembers the state before a reduction with so many segments in flight.
    pub(crate) fn watch_reduction(&mut self, by_timeout: bool, flight: u64) {
        let threshold = self.control.ssthresh().max(flight as f64);
        if let Some(spurious) = &mut self.spurious {
            spurious.on_reduction(Reduced { by_timeout, threshold, is_marked: false }, &self.scoreboard);
        }
    }

    #[inline(never)]
    pub(crate) fn watch_repetition(&mut self, now: Instant, number: u64) {
        if let Some(spurious) = &mut self.spurious
            && let Some((start, sent)) = self.scoreboard.segment(number)
        {
            spurious.on_sent_again(now, Span { start, end: sent.end });
        }
    }

    /// Takes the last reduction back if this ACK, which may echo a mark, proves it needless.
    pub(crate) fn examine(&mut self, ack: &Acknowledgement, is_echo: bool) {
        let Some(spurious) = &mut self.spurious else { return };
        if is_echo {
            spurious.on_congestion_echo();
        }
        let limits = self.limits();
        let has_new = limits.has_new && self.scoreboard.outstanding() < limits.wnd;
        let spurious = self.spurious.as_mut();
        if let Some(reduced) = spurious.and_then(|spurious| spurious.on_ack(ack, &self.scoreboard, has_new)) {
            self.take_back(&reduced, ack.advanced);
        } else if self.forward_rto().is_some_and(ForwardRto::take_resumption) {
            self.recovery.resume(&mut self.scoreboard);
        }
    }

    /// RFC 4015 §3.2: what was in flight may be in flight again unless a mark was echoed (step 8), new data go next (step 7),
    /// and the timer takes the next round trip seriously (steps 10 and 11).
    fn take_back(&mut self, reduced: &Reduced, acknowledged: u64) {
        if !reduced.is_marked {
            let cwnd = self.scoreboard.outstanding() as f64 + (acknowledged as f64).min(self.initial_window);
            self.control.undo(&Window { cwnd, ssthresh: reduced.threshold });
            self.statistics.reductions_undone += 1;
        }
        self.recovery.call_off(&mut self.scoreboard);
        self.reduction.proportional = None;
        if reduced.by_timeout {
            self.timer.on_needless();
        }
    }

    fn forward_rto(&mut self) -> Option<&mut ForwardRto> {
        self.spurious.as_mut()?.forward.as_mut()
    }

    /// Decides which segment goes next: recovery does, unless F-RTO sends new ones or nothing.
    #[inline]
    pub(super) fn next_number(&mut self, limits: &Limits) -> Option<u64> {
        match self.spurious.as_ref().and_then(|spurious| spurious.forward.as_ref()?.forward()) {
            Some(left) => self.next_forward(limits, left),
            None => self.recovery.next(&self.scoreboard, limits),
        }
    }

    #[inline(never)]
    fn next_forward(&self, limits: &Limits, left: u64) -> Option<u64> {
        // A timed recovery spares at a timeout what was sent just before: that is still on its way, and in the window.
        let has_room = !self.is_timed || self.recovery.pipe(&self.scoreboard) < limits.usable();
        let may_send = left > 0 && has_room && limits.has_new && self.scoreboard.outstanding() < limits.wnd;
        may_send.then(|| self.scoreboard.smax())
    }

    pub(crate) fn note_forward(&mut self) {
        if let Some(forward) = self.forward_rto() {
            forward.on_sent_new();
        }
    }
}
