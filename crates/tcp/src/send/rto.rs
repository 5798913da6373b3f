//! What the sender does when its timer runs out.

use super::resegmentation::Resegmentation;
use super::sender::Sender;
use crate::policy::choice::Restart;
use crate::policy::control::Window;
use crate::policy::trigger::THIN;
use crate::trace::{Cx, TraceEvent};
use earlybird_units::Instant;

/// What the timer's end asks of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutKind {
    /// Nothing: nothing was outstanding.
    Idle,
    /// To repeat what is outstanding.
    Loss,
}

/// What tells silence from progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(super) restart: Restart,
    pub(super) keeps_idle_timer: bool,
    /// The last sign of progress: the window moved, or the first segment after an idle period was sent.
    pub(crate) last_progress: Instant,
    pub(super) last_timeout: Instant,
    /// Duplicate ACKs that restarted the timer since.
    pub(super) restarts: u64,
    /// When anything left last, probes of a closed window apart.
    pub(super) last_sent: Instant,
}

impl Watch {
    pub(super) const fn new(restart: Restart, keeps_idle_timer: bool) -> Self {
        Self {
            restart,
            keeps_idle_timer,
            last_progress: Instant::ZERO,
            last_timeout: Instant::ZERO,
            restarts: 0,
            last_sent: Instant::ZERO,
        }
    }
}

impl Sender {
    /// Restarts the timer if something is outstanding, else stops it – or lets it run idle, as ns-2 does. What waits for a
    /// closed window has a timer of its own.
    #[inline]
    pub(crate) fn restart_timer(&mut self, now: Instant) {
        if self.persist.is_running() {
            return;
        }
        let keeps = self.watch.keeps_idle_timer && self.scoreboard.smax() > 1;
        if self.scoreboard.outstanding() > 0 || keeps {
            self.timer.restart(now);
        } else {
            self.timer.stop();
        }
    }

    /// Runs from when the first missing segment leaves again, where repairs are timed.
    pub(super) fn time_repair(&mut self, now: Instant, number: u64) {
        if self.watch.restart == Restart::Repairs && self.is_timed && number == self.scoreboard.una() {
            self.restart_timer(now);
        }
    }

    /// The retransmission timer ran out; `heard` is when the peer was, at last.
    pub(crate) fn on_timeout(&mut self, cx: &mut Cx<'_>, heard: Instant) -> TimeoutKind {
        self.note_gap();
        if self.persist.is_running() {
            self.on_persist(cx.now);
            return TimeoutKind::Idle;
        }
        // A window of less than a segment is not idle: only the timer can open it (ns-2's Vegas).
        if self.scoreboard.outstanding() == 0 && self.control.cwnd() >= 1.0 {
            // A frame that waited for the probe may have been given up meanwhile: the next one is it.
            self.queue.probes_window =
                self.queue.unsent > 0 || (self.queue.probes_window && self.queue.frames.is_some());
            self.control.on_idle(&Window::new(1.0, self.control.ssthresh()));
            self.recovery.on_timeout(cx.now, &mut self.scoreboard);
            self.timer.cancel_measurement();
            self.restart_timer(cx.now);
            return TimeoutKind::Idle;
        }
        self.pieces = Resegmentation::default();
        let flight = self.flight(self.scoreboard.outstanding());
        let was_sent_once =
            self.scoreboard.segment(self.scoreboard.una()).is_some_and(|(_, sent)| sent.transmissions == 1);
        self.watch_reduction(true, flight.outstanding);
        self.control.on_timeout(cx, &flight);
        self.marks.on_reduced(self.scoreboard.smax());
        self.reduction.proportional = None;
        self.ground_all(cx.now);
        self.recovery.on_timeout(cx.now, &mut self.scoreboard);
        self.sample_losses(cx.now);
        let timer = self.timer.expire(cx.now, flight.outstanding < THIN);
        self.suspect_black_hole(heard);
        if self.scoreboard.outstanding() == 0 {
            self.restart_timer(cx.now);
        }
        let freeze = cx.now - self.watch.last_progress.max(self.watch.last_timeout);
        self.watch.last_timeout = cx.now;
        self.watch.restarts = 0;
        self.statistics.timeouts += 1;
        self.statistics.timeouts_untriggered += u64::from(was_sent_once);
        self.statistics.frozen += freeze;
        self.statistics.frozen_timers += timer;
        cx.trace.record(cx.now, TraceEvent::Timeout { timer, freeze });
        TimeoutKind::Loss
    }

    /// A window too small for a segment may be opened by an ACK that gets lost: it is probed (RFC 9293 §3.8.6.1), by the
    /// retransmission timer where that runs idle. A congestion window below one segment, which ns-2's halving knows, holds
    /// back a FIN too.
    #[inline]
    pub(super) fn watch_closed_window(&mut self, now: Instant) {
        if self.scoreboard.outstanding() == 0 || self.queue.holding.is_some() {
            self.watch_waiting(now);
        }
    }

    #[inline(never)]
    fn watch_waiting(&mut self, now: Instant) {
        if self.watch_held(now) {
            return;
        }
        if (self.queue.unsent > 0 || self.queue.fin_queued)
            && self.scoreboard.outstanding() == 0
            && self.timer.deadline() == Instant::NEVER
        {
            if self.is_window_closed() && !self.watch.keeps_idle_timer {
                self.start_persisting(now);
            } else {
                self.timer.restart(now);
            }
        }
    }
}
