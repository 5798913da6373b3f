//! Copa: aims at the rate 1/(δ·dq), where dq is the queueing delay, so that few segments stand in the queue and it is empty every
//! few round trips; beside flows that fill it, it claims as much as they do.
//!
//! Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018 ("the paper": its rules as
//! they are quoted where its authors' program is discussed); and that program, genericCC (`markoviancc.cc`, `rtt-window.cc`,
//! `estimators.cc`). docs/transports.md says where they differ from each other, and from mvfst's `Copa.cpp`.

mod delays;
mod losses;
mod mode;
mod recent;
mod velocity;

use super::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
use super::path::{LostSegment, PathModel, RateSample};
use super::{CongestionControl, Flight, Gauges, Progress, Window, tell_opening};
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::Cx;
use alloc::boxed::Box;
use delays::Delays;
use earlybird_units::{Duration, Instant};
use losses::Losses;
use mode::Mode;
use velocity::Velocity;

/// Copa's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopaParameters {
    /// `δ` of the default mode: what delay counts beside throughput.
    pub delta: f64,
    /// How long the shortest round trip counts.
    pub min_rtt_window: Duration,
    /// Whether it switches to the competitive mode beside flows that fill the queue.
    pub competes: bool,
}

impl CopaParameters {
    /// The paper's values: 0.5 (§2.2), 10 s (§2.1), and both modes.
    pub const DEFAULT: Self = Self { delta: 0.5, min_rtt_window: Duration::from_secs(10), competes: true };
}

impl ControlFactory for CopaParameters {
    fn name(&self) -> &'static str {
        "copa"
    }

    fn build(&self, _setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Copa::new(*self))
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        Needs { has_rate: true, shapes_recovery: true, marks: MarkAnswer::None, ..Needs::default() }
    }
}

/// The smallest window (genericCC, `update_intersend_time`).
const SMALLEST_CWND: f64 = 2.0;
/// Segments leave at twice the window per round trip: the window decides, and a queue of one's own does not build up (§2.1).
const PACE: f64 = 2.0;

#[derive(Clone, Debug)]
pub(crate) struct Copa {
    competes: bool,
    cwnd: f64,
    /// The window doubles each round trip until the rate exceeds its target (§2.1).
    is_slow_start: bool,
    delays: Delays,
    velocity: Velocity,
    mode: Mode,
    losses: Losses,
}

impl Copa {
    pub(crate) fn new(parameters: CopaParameters) -> Self {
        Self {
            competes: parameters.competes,
            cwnd: 1.0,
            is_slow_start: true,
            delays: Delays::new(parameters.min_rtt_window),
            velocity: Velocity::new(),
            mode: Mode::new(parameters.delta),
            losses: Losses::default(),
        }
    }

    /// A window that is not used claims no more of the queue.
    fn choose_mode(&mut self, now: Instant, is_used: bool) {
        if !self.competes || self.delays.was_nearly_empty() {
            self.mode.be_default(now);
        } else if is_used {
            self.mode.compete(now, self.delays.smoothed());
        }
    }

    /// Returns whether cwnd/RTTstanding ≤ 1/(δ·dq).
    fn is_below_target(&self) -> bool {
        let (standing, queueing) = (self.delays.standing().as_secs_f64(), self.delays.queueing().as_secs_f64());
        self.cwnd * queueing <= self.mode.queued() * standing
    }

    /// Returns v/δ, by which the window changes in a round trip.
    fn change_per_round_trip(&self) -> f64 {
        self.velocity.value(self.cwnd, self.mode.queued()) * self.mode.queued()
    }

    /// Moves the window towards its target (§2.1). What is not used does not grow (RFC 7661's idea; the paper has endless
    /// transfers only).
    fn adjust(&mut self, sample: &RateSample) {
        let acked = sample.newly_acked as f64;
        let step = acked * self.change_per_round_trip() / self.cwnd;
        let is_below = self.is_below_target();
        self.is_slow_start &= is_below;
        match (is_below, sample.is_cwnd_limited) {
            (true, true) => self.cwnd += if self.is_slow_start { acked } else { step },
            (true, false) => {}
            (false, _) => self.cwnd -= step,
        }
    }
}

impl PathModel for Copa {
    /// The handshake's packets are short: what a full one takes longer than they do on its way would look like a queue.
    fn on_opened(&mut self, _now: Instant, _rtt: Option<Duration>) {}

    fn on_restart(&mut self, _now: Instant, _is_app_limited: bool) {}

    fn on_lost(&mut self, now: Instant, _lost: &LostSegment) {
        self.losses.on_lost();
        self.mode.on_lost(now, self.delays.smoothed());
    }

    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        if let Some(rtt) = sample.rtt {
            self.delays.on_rtt(now, rtt);
        }
        self.choose_mode(now, sample.is_cwnd_limited);
        if !self.is_slow_start {
            self.velocity.on_sample(sample, self.cwnd);
        }
        self.adjust(sample);
        self.cwnd *= self.losses.on_delivered(now, sample.newly_acked, self.delays.smoothed());
        self.cwnd = self.cwnd.max(SMALLEST_CWND);
    }

    fn is_holding_back(&self) -> bool {
        false
    }
}

impl CongestionControl for Copa {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        tell_opening(cx, self);
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, _progress: &Progress) {}

    /// A loss changes no window: delay does (§2.2, and genericCC's `onDupACK`).
    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// Marks are no part of Copa.
    fn on_congestion_mark(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// All that was in flight counts as lost: it begins anew (RFC 5681 §3.1; the paper and genericCC know no timeout).
    fn on_timeout(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.cwnd = 1.0;
        self.is_slow_start = true;
    }

    fn undo(&mut self, window: &Window) {
        self.cwnd = self.cwnd.max(window.cwnd);
    }

    /// Over a rest the window stays, and is paced.
    fn on_idle(&mut self, _window: &Window) {}

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        let standing = self.delays.standing();
        (standing > Duration::ZERO).then(|| PACE * self.cwnd / standing.as_secs_f64())
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }

    fn gauges(&self) -> Gauges {
        let (queueing_delay, alpha) = (Some(self.delays.queueing()), Some(self.change_per_round_trip()));
        Gauges { queueing_delay, alpha, ..Gauges::default() }
    }
}
