//! Copa: its target rate is 1/(δ·dq), where dq is the queueing delay, so that the queue is short and empties every few RTTs; in
//! competition with flows that fill the queue it increases its share.
//!
//! Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018 ("the paper"), and the
//! program of its authors, genericCC (`markoviancc.cc`, `rtt-window.cc`, `estimators.cc`). docs/transports.md lists the differences
//! between them and to mvfst's `Copa.cpp`.

mod delays;
mod losses;
mod mode;
mod recent;
mod velocity;

use super::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
use super::path::{LostSegment, PathModel, RateSample};
use super::{CongestionControl, Flight, Gauges, Progress, Window, trace_syn_ack};
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::Cx;
use alloc::boxed::Box;
use delays::Delays;
use earlybird_units::{Duration, Instant};
use losses::Losses;
use mode::Mode;
use velocity::Velocity;

/// Parameters of Copa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopaParameters {
    /// `δ` of the default mode: the weight of delay against throughput.
    pub delta: f64,
    /// The window of `RTTmin`.
    pub min_rtt_window: Duration,
    /// Whether it uses the competitive mode beside flows that fill the queue.
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
/// Pacing rate in windows per `RTTstanding`: the window limits the rate, and pacing avoids bursts (§2.1).
const PACING_GAIN: f64 = 2.0;

#[derive(Clone, Debug)]
pub(crate) struct Copa {
    competes: bool,
    cwnd: f64,
    /// Whether the window doubles per RTT, until the rate exceeds its target (§2.1).
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

    /// Selects the mode. With an unused window the competitive mode claims no more.
    fn choose_mode(&mut self, now: Instant, is_used: bool) {
        if !self.competes || self.delays.was_nearly_empty() {
            self.mode.set_default(now);
        } else if is_used {
            self.mode.compete(now, self.delays.smoothed());
        }
    }

    /// Returns whether cwnd/RTTstanding ≤ 1/(δ·dq).
    fn is_below_target(&self) -> bool {
        let (standing, queueing) = (self.delays.standing().as_secs_f64(), self.delays.queueing().as_secs_f64());
        // §2.1: the target rate λ = 1/(δ·dq) against cwnd/RTTstanding, without the division.
        self.cwnd * queueing <= self.mode.target_queue() * standing
    }

    /// Returns v/δ, the change of the window per RTT.
    fn change_per_rtt(&self) -> f64 {
        self.velocity.value(self.cwnd, self.mode.target_queue()) * self.mode.target_queue()
    }

    /// Moves the window towards its target (§2.1). An unused window does not grow (the idea of RFC 7661; the paper has bulk transfers
    /// only).
    fn adjust(&mut self, sample: &RateSample) {
        let acked = sample.newly_acked as f64;
        // §2.1: cwnd changes by v/(δ·cwnd) per ACK.
        let step = acked * self.change_per_rtt() / self.cwnd;
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
    /// Ignores the RTT of the handshake: its packets are short, and the longer transmission of full ones would look like a queue.
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
        // The velocity applies after slow start only (§2.1).
        if !self.is_slow_start {
            self.velocity.on_sample(sample, self.cwnd);
        }
        self.adjust(sample);
        // Last: heavy losses override what delay says.
        self.cwnd *= self.losses.on_delivered(now, sample.newly_acked, self.delays.smoothed());
        self.cwnd = self.cwnd.max(SMALLEST_CWND);
    }

    fn is_probing_rtt(&self) -> bool {
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
        trace_syn_ack(cx, self);
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, _progress: &Progress) {}

    /// Ignores losses; only delay changes the window (§2.2, and genericCC's `onDupACK`).
    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// Ignores marks, which Copa does not use.
    fn on_congestion_mark(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// Restarts slow start, as everything in flight counts as lost (RFC 5681 §3.1; the paper and genericCC have no timeout).
    fn on_timeout(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.cwnd = 1.0;
        self.is_slow_start = true;
    }

    fn undo(&mut self, window: &Window) {
        self.cwnd = self.cwnd.max(window.cwnd);
    }

    /// Keeps the window over an idle period; it is paced.
    fn on_idle(&mut self, _window: &Window) {}

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        let standing = self.delays.standing();
        (standing > Duration::ZERO).then(|| PACING_GAIN * self.cwnd / standing.as_secs_f64())
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }

    fn gauges(&self) -> Gauges {
        let (queueing_delay, alpha) = (Some(self.delays.queueing()), Some(self.change_per_rtt()));
        Gauges { queueing_delay, alpha, ..Gauges::default() }
    }
}
