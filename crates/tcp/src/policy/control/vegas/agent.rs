//! The window of ns-2's Vegas agent, whose recovery detects losses by a fine-grained timer.

use super::Vegas;
use super::round::SequenceState;
use crate::policy::control::reno::SMALLEST_SSTHRESH;
use crate::policy::control::{CongestionControl, Flight, Handshake, Progress, Window};
use crate::policy::recovery::LostSegmentInfo;
use crate::policy::dupthresh::DUP_THRESH;
use crate::trace::Cx;
use earlybird_units::Instant;

/// The smallest window of Vegas in segments.
pub(super) const SMALLEST_WINDOW: f64 = 2.0;

/// The window of ns-2's agent, with its response to duplicates and losses.
#[derive(Clone, Debug)]
pub(super) struct Ns2Vegas {
    vegas: Vegas,
    /// The initial window, which ns-2 sets on the first ACK of data.
    initial_window: Option<f64>,
    /// The window without inflation since the last loss.
    reduced: f64,
    reduced_at: Option<Instant>,
}

impl Ns2Vegas {
    pub(super) fn new(vegas: Vegas, initial_window: f64) -> Self {
        Self { vegas, initial_window: Some(initial_window), reduced: 0.0, reduced_at: None }
    }

    fn set(&mut self, cx: &mut Cx<'_>, cwnd: f64, ssthresh: f64) {
        self.vegas.set(cx, cwnd, ssthresh);
    }

    /// Reduces the window unless it was reduced since the missing segment was sent: by a quarter for its first loss, else by half.
    /// The duplicates inflate it.
    fn reduce(&mut self, cx: &mut Cx<'_>, missing: &LostSegmentInfo) {
        let is_newer = |sent| self.reduced_at.is_none_or(|reduced_at| reduced_at < sent);
        if !missing.sent.is_some_and(is_newer) {
            return;
        }
        let usable = libm::floor(self.vegas.window.usable());
        // `tcp-vegas.cc`, `dupack_action`: a quarter for the first loss, half for a repeated one.
        self.reduced = if usable <= 3.0 {
            SMALLEST_WINDOW
        } else if missing.transmissions > 1 {
            libm::floor(usable / 2.0)
        } else {
            usable - libm::floor(usable / 4.0)
        };
        self.set(cx, self.reduced + f64::from(missing.duplicates), self.ssthresh());
        self.reduced_at = Some(cx.now);
    }
}

impl CongestionControl for Ns2Vegas {
    fn cwnd(&self) -> f64 {
        self.vegas.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.vegas.ssthresh()
    }

    /// Does nothing: the window stays at one segment until data is acknowledged.
    fn on_established(&mut self, _cx: &mut Cx<'_>, _initial_window: f64) {}

    /// Processes the round of the SYN as any other, as in ns-2.
    fn on_handshake(&mut self, cx: &mut Cx<'_>, handshake: &Handshake) {
        self.vegas.round.on_sample(handshake.rtt);
        // No change of the window; the trace of ns-2 has a step here.
        self.set(cx, self.cwnd(), self.ssthresh());
        self.vegas.on_ack(cx, SequenceState { una: 1, nxt: 1 }, None, 1.0);
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        self.vegas.on_ack(cx, SequenceState { una: progress.una, nxt: progress.nxt }, progress.rtt, progress.growth);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        if let Some(missing) = &flight.missing {
            self.reduce(cx, missing);
        }
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        let half = libm::floor(self.vegas.window.half(*flight));
        for (cwnd, ssthresh) in [(self.cwnd(), half), (1.0, half), (1.0, half.max(SMALLEST_SSTHRESH))] {
            self.set(cx, cwnd, ssthresh);
        }
        self.set(cx, SMALLEST_WINDOW, self.ssthresh());
        self.reduced = 0.0;
        self.reduced_at = Some(cx.now);
    }

    fn inflate(&mut self, _cx: &mut Cx<'_>, segments: f64) {
        self.vegas.window.grow_by(segments);
    }

    /// Ends the inflation before an ACK of new data is processed, after `duplicates` duplicates, as in ns-2.
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
