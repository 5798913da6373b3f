//! Vegas' window (Brakmo and Peterson 1995; ns-2.35 `tcp-vegas.cc`): once per round trip, the segments that stand in the
//! queue – expected rate less actual rate, times the smallest round trip – decide whether to grow.

mod agent;
mod round;

use super::factory::{ControlFactory, ControlSetup, Needs};
use super::reno::{Reno, SMALLEST_SSTHRESH};
use super::{CongestionControl, Flight, Progress, Window};
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::{Cx, TraceEvent};
use agent::{Agent, SMALLEST_WINDOW};
use alloc::boxed::Box;
use earlybird_units::Duration;
use round::{Place, Round};

/// Vegas' thresholds, in segments that stand in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParameters {
    /// Grow below this many.
    pub alpha: u32,
    /// Shrink above this many.
    pub beta: u32,
    /// End slow start above this many.
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
        let vegas = Vegas::new(setup.reno(), *self);
        if setup.recovery == Recovery::Vegas {
            Box::new(Agent::new(vegas, f64::from(setup.initial_window)))
        } else {
            Box::new(vegas)
        }
    }

    fn needs(&self, rules: RecoveryRules) -> Needs {
        Needs { recovery: (rules == RecoveryRules::Ns2).then_some(Recovery::Vegas), ..Needs::default() }
    }
}

/// Vegas' window beside any recovery.
#[derive(Clone, Debug)]
struct Vegas {
    window: Reno,
    parameters: VegasParameters,
    round: Round,
    /// What each ACK of this round adds to the window.
    increment: f64,
    /// Slow start grows in every second round only.
    is_growing_round: bool,
}

/// ns-2 grows the window only while no more of it than this is unused, in segments.
const LARGEST_UNUSED: f64 = 2.0;

impl Vegas {
    fn new(window: Reno, parameters: VegasParameters) -> Self {
        Self { window, parameters, round: Round::FIRST, increment: 0.0, is_growing_round: true }
    }

    /// An ACK moved the window forward, and measured a round trip perhaps.
    fn on_ack(&mut self, cx: &mut Cx<'_>, place: Place, rtt: Option<Duration>, growth: f64) {
        if place.una > self.round.first
            && let Some(queued) = self.round.end(cx.now, place)
        {
            self.on_round(cx, queued);
        }
        let is_doubling = self.increment.total_cmp(&1.0).is_eq();
        if is_doubling && !self.window.is_slow_start() {
            self.increment = 0.0;
        }
        if self.increment > 0.0 && self.cwnd() - place.in_flight() <= LARGEST_UNUSED {
            self.set(cx, self.cwnd() + growth * self.increment, self.ssthresh());
        }
        if let Some(rtt) = rtt {
            self.round.on_sample(rtt);
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, queued: i64) {
        let VegasParameters { alpha, beta, gamma } = self.parameters;
        self.increment = if self.window.is_slow_start() {
            self.is_growing_round = !self.is_growing_round;
            if self.is_growing_round && queued > i64::from(gamma) {
                self.set(cx, self.cwnd(), SMALLEST_SSTHRESH);
                self.shrink(cx, self.cwnd() / 8.0);
            }
            let is_doubling = self.is_growing_round && queued <= i64::from(gamma);
            if is_doubling { 1.0 } else { 0.0 }
        } else if queued > i64::from(beta) {
            self.shrink(cx, 1.0);
            0.0
        } else if queued < i64::from(alpha) {
            1.0 / self.cwnd()
        } else {
            0.0
        };
    }

    fn shrink(&mut self, cx: &mut Cx<'_>, segments: f64) {
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
        self.on_ack(cx, Place { una: progress.una, nxt: progress.smax }, progress.rtt, progress.growth);
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
