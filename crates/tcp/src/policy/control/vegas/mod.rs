//! Vegas (Brakmo and Peterson 1995; ns-2.35 `tcp-vegas.cc`): once per RTT the window changes by the estimated number of segments in
//! the queue, diff = (expected rate − actual rate)·baseRTT.

mod agent;
mod round;

use super::factory::{ControlFactory, ControlSetup, Needs};
use super::reno::{Reno, SMALLEST_SSTHRESH};
use super::{CongestionControl, Flight, Progress, Window};
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::{Cx, TraceEvent};
use agent::{Ns2Vegas, SMALLEST_WINDOW};
use alloc::boxed::Box;
use earlybird_units::Duration;
use round::{Round, SequenceState};

/// Thresholds of Vegas, in segments in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParameters {
    /// The window grows below this.
    pub alpha: u32,
    /// The window is reduced above this.
    pub beta: u32,
    /// Slow start ends above this.
    pub gamma: u32,
}

impl VegasParameters {
    /// ns-2.35's defaults.
    pub const NS2: Self = Self { alpha: 1, beta: 3, gamma: 1 };
    /// Linux's defaults (`tcp_vegas.c`).
    pub const LINUX: Self = Self { alpha: 2, beta: 4, gamma: 1 };
}

impl ControlFactory for VegasParameters {
    fn name(&self) -> &'static str {
        "vegas"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        let vegas = Vegas::new(Reno::of(setup), *self);
        // The agent of ns-2 combines window and recovery; other recoveries use the window alone.
        if setup.recovery == Recovery::Vegas {
            Box::new(Ns2Vegas::new(vegas, f64::from(setup.initial_window)))
        } else {
            Box::new(vegas)
        }
    }

    fn needs(&self, rules: RecoveryRules) -> Needs {
        Needs { recovery: (rules == RecoveryRules::Ns2).then_some(Recovery::Vegas), ..Needs::default() }
    }
}

/// The window of Vegas, for any recovery.
#[derive(Clone, Debug)]
struct Vegas {
    window: Reno,
    parameters: VegasParameters,
    round: Round,
    /// The increase per ACK in this round.
    increment: f64,
    /// Whether slow start grows in this round: in every second one only.
    is_growing_round: bool,
}

/// The most unused segments of the window with which ns-2 grows it.
const MAX_UNUSED: f64 = 2.0;

impl Vegas {
    fn new(window: Reno, parameters: VegasParameters) -> Self {
        Self { window, parameters, round: Round::FIRST, increment: 0.0, is_growing_round: true }
    }

    /// Processes an ACK of new data, with an RTT if it was measured.
    fn on_ack(&mut self, cx: &mut Cx<'_>, state: SequenceState, rtt: Option<Duration>, growth: f64) {
        if state.una > self.round.first
            && let Some(diff) = self.round.end(cx.now, state)
        {
            self.on_round(cx, diff);
        }
        let is_slow_start = self.increment.total_cmp(&1.0).is_eq();
        if is_slow_start && !self.window.is_slow_start() {
            self.increment = 0.0;
        }
        if self.increment > 0.0 && self.cwnd() - state.in_flight() <= MAX_UNUSED {
            self.set(cx, self.cwnd() + growth * self.increment, self.ssthresh());
        }
        if let Some(rtt) = rtt {
            self.round.on_sample(rtt);
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, diff: i64) {
        let VegasParameters { alpha, beta, gamma } = self.parameters;
        self.increment = if self.window.is_slow_start() {
            // Doubling every other RTT leaves a round to measure the effect.
            self.is_growing_round = !self.is_growing_round;
            if self.is_growing_round && diff > i64::from(gamma) {
                self.set(cx, self.cwnd(), SMALLEST_SSTHRESH);
                // ns-2 gives back an eighth of the window that slow start has overshot.
                self.reduce(cx, self.cwnd() / 8.0);
            }
            let is_slow_start = self.is_growing_round && diff <= i64::from(gamma);
            if is_slow_start { 1.0 } else { 0.0 }
        } else if diff > i64::from(beta) {
            self.reduce(cx, 1.0);
            0.0
        } else if diff < i64::from(alpha) {
            // One segment per RTT, spread over the ACKs of the window.
            1.0 / self.cwnd()
        } else {
            0.0
        };
    }

    fn reduce(&mut self, cx: &mut Cx<'_>, segments: f64) {
        self.set(cx, self.cwnd() - segments, self.ssthresh());
        if self.cwnd() < SMALLEST_WINDOW {
            self.set(cx, SMALLEST_WINDOW, self.ssthresh());
        }
    }

    fn set(&mut self, cx: &mut Cx<'_>, cwnd: f64, ssthresh: f64) {
        self.window.set(cwnd, ssthresh);
        cx.trace.record(cx.now, TraceEvent::Window { cwnd, ssthresh });
    }
}

impl CongestionControl for Vegas {
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        self.window.on_established(cx, initial_window);
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        self.on_ack(cx, SequenceState { una: progress.una, nxt: progress.snd_max }, progress.rtt, progress.growth);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.increment = 0.0;
        self.window.on_loss(cx, flight);
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.increment = 0.0;
        self.window.on_timeout(cx, flight);
    }

    fn deflate(&mut self, cx: &mut Cx<'_>, segments: f64) {
        self.window.deflate(cx, segments);
    }

    fn undo(&mut self, window: &Window) {
        self.window.undo(window);
    }

    fn on_idle(&mut self, window: &Window) {
        self.window.on_idle(window);
    }
}
