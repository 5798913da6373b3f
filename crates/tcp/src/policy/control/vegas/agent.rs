//! ns-2's Vegas as a whole: the window of a sender whose own recovery finds losses by a fine timer.

use super::Vegas;
use super::round::Place;
use crate::policy::control::reno::SMALLEST_SSTHRESH;
use crate::policy::control::{CongestionControl, Flight, Handshake, Missing, Progress, Window};
use crate::policy::dupthresh::DUP_THRESH;
use crate::trace::Cx;
use earlybird_units::Instant;

/// Vegas never goes below two segments.
pub(super) const SMALLEST_WINDOW: f64 = 2.0;

/// Vegas' window, and what duplicates and losses do to it.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    vegas: Vegas,
    /// The initial window, which ns-2 sets on the first ACK of data.
    initial_window: Option<f64>,
    /// The window without inflation since the last loss.
    reduced: f64,
    changed: Option<Instant>,
}

impl Agent {
    pub(super) fn new(vegas: Vegas, initial_window: f64) -> Self {
        Self { vegas, initial_window: Some(initial_window), reduced: 0.0, changed: None }
    }

    fn set(&mut self, cx: &mut Cx<'_>, cwnd: f64, ssthresh: f64) {
        self.vegas.set(cx, cwnd, ssthresh);
    }

    /// The window shrinks unless it did since the missing segment was sent, and by less the first time. The duplicates
    /// inflate it.
    fn shrink(&mut self, cx: &mut Cx<'_>, missing: &Missing) {
        let is_newer = |sent| self.changed.is_none_or(|changed| changed < sent);
        if !missing.sent.is_some_and(is_newer) {
            return;
        }
        let usable = libm::floor(self.vegas.window.usable());
        self.reduced = if usable <= 3.0 {
            SMALLEST_WINDOW
        } else if missing.transmissions > 1 {
            libm::floor(usable / 2.0)
        } else {
            usable - libm::floor(usable / 4.0)
        };
        self.set(cx, self.reduced + f64::from(missing.duplicates), self.ssthresh());
        self.changed = Some(cx.now);
    }
}

impl CongestionControl for Agent {
    fn cwnd(&self) -> f64 {
        self.vegas.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.vegas.ssthresh()
    }

    /// The window stays at one segment until data are acknowledged.
    fn on_established(&mut self, _cx: &mut Cx<'_>, _initial_window: f64) {}

    /// For ns-2, the opening segment's round is one like any other.
    fn on_handshake(&mut self, cx: &mut Cx<'_>, handshake: &Handshake) {
        self.vegas.round.on_sample(handshake.rtt);
        // The window stays as it is; others' traces show a step here.
        self.set(cx, self.cwnd(), self.ssthresh());
        self.vegas.on_ack(cx, Place { una: 1, nxt: 1 }, None, 1.0);
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        self.vegas.on_ack(cx, Place { una: progress.una, nxt: progress.nxt }, progress.rtt, progress.growth);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        if let Some(missing) = &flight.missing {
            self.shrink(cx, missing);
        }
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        let half = libm::floor(self.vegas.window.half(*flight));
        for (cwnd, ssthresh) in [(self.cwnd(), half), (1.0, half), (1.0, half.max(SMALLEST_SSTHRESH))] {
            self.set(cx, cwnd, ssthresh);
        }
        self.set(cx, SMALLEST_WINDOW, self.ssthresh());
        self.reduced = 0.0;
        self.changed = Some(cx.now);
    }

    fn inflate(&mut self, _cx: &mut Cx<'_>, segments: f64) {
        self.vegas.window.grow_by(segments);
    }

    /// What ns-2 does before it takes an ACK of new data in, after so many duplicates.
    fn deflate(&mut self, cx: &mut Cx<'_>, duplicates: f64) {
        if let Some(initial_window) = self.initial_window.take() {
            self.set(cx, initial_window, self.ssthresh());
        }
        if duplicates > f64::from(DUP_THRESH) && self.cwnd() > self.reduced {
            self.set(cx, self.reduced, self.ssthresh());
            self.set(cx, self.reduced, SMALLEST_SSTHRESH);
        }
    }

    fn on_idle(&mut self, _window: &Window) {
        self.vegas.window.set(SMALLEST_WINDOW, self.ssthresh());
    }
}
