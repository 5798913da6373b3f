//! PERT, probabilistic early response TCP: the end host emulates a router with gentle RED.
//!
//! Homogeneous form: "Emulating AQM from End Hosts", SIGCOMM 2007. Adaptive form: "Making a Delay-based Protocol
//! Adaptive to Heterogeneous Environments", `IWQoS` 2008, as the ER-PERT paper and the ER thesis describe it; constants
//! that they omit are those of two students' ports for ns-3, which are public and descend from the authors' code for ns-2.

mod alpha;
mod curve;
mod intervals;
mod pi;
mod signals;

pub use alpha::{AlphaRule, alpha_target};
pub use curve::{Curve, CurveTail};
pub use intervals::IntervalHistory;
pub use pi::{PiDesign, PiGains};
pub use signals::{MaxDelay, early_response_share};

use super::factory::{ControlFactory, ControlSetup};
use super::factory::Halved;
use super::reno::{Reno, SMALLEST_SSTHRESH};
use super::{CongestionControl, Flight, Gauges, Progress, Window};
use crate::trace::Cx;
use alloc::boxed::Box;
use alpha::{Alpha, Conditions};
use earlybird_units::{Duration, Random};
use pi::PiController;
use signals::{LARGEST_FLOOR, Signals};

/// The choices that the sources leave open. Each preset is a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PertFlags {
    /// Adaptive (2008) or homogeneous (2007).
    pub is_adaptive: bool,
    /// The samples of which the largest queueing delay is the maximum.
    pub max_delay: MaxDelay,
    /// The response curve above its second threshold.
    pub curve_tail: CurveTail,
    /// The rule by which the increase per RTT approaches its target.
    pub alpha: AlphaRule,
    /// Whether the ACK that causes an early response also adds the growth term.
    pub growth_on_response: bool,
    /// The window reduction on loss.
    pub loss_factor: LossFactor,
    /// Whether the guards of the ports apply, which no paper has: at most one early response per RTT, a window of at least two segments
    /// after it, and a divisor of at least 10 ms. Without them a window of about two segments is trapped: a response reduces it
    /// below the smallest slow-start threshold, and slow start raises it to the next response.
    pub is_guarded: bool,
    /// The PI controller that replaces the response curve, if any.
    pub pi: Option<PiDesign>,
}

/// The window reduction of PERT on loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossFactor {
    /// By β = q/(q + Q).
    Beta,
    /// By one half.
    Half,
}

impl PertFlags {
    /// T1, below which there is no early response.
    pub const FIRST_THRESHOLD: Duration = curve::FIRST_THRESHOLD;
    /// T2, up to which the probability rises to [`Self::MAXIMUM_PROBABILITY`].
    pub const SECOND_THRESHOLD: Duration = curve::SECOND_THRESHOLD;
    /// The probability at T2.
    pub const MAXIMUM_PROBABILITY: f64 = curve::MAXIMUM_PROBABILITY;
    /// α's largest value.
    pub const LARGEST_ALPHA: f64 = alpha::MAX_ALPHA;

    /// The rules exactly as in the papers:
    /// * "the maximum observed queueing delay", of a smoothed round-trip time (ER thesis; smoothed is our reading);
    /// * "emulates gentle RED": the probability rises to 1 above the second threshold (SIGCOMM 2007);
    /// * α "grows linearly to 32" below the first threshold, is 1 + p′/p from 0.65 of the largest queueing delay on and 1
    ///   between, at every ACK (PERT-video paper);
    /// * the window grows with probability 1 − p only (ER thesis, Table I);
    /// * "β = q′/(q′ + `q_max`)" cuts the window, on losses too: ½ when the queue is full (ER thesis).
    pub const TEXT: Self = Self { alpha: AlphaRule::Literal, is_guarded: false, ..Self::GUARDED };
    /// [`Self::TEXT`] with what the ports add so that it works over long paths: α every five round trips, see
    /// [`AlphaRule::Direct`], and the guards.
    pub const GUARDED: Self = Self {
        is_adaptive: true,
        max_delay: MaxDelay::Smoothed,
        curve_tail: CurveTail::Gentle,
        alpha: AlphaRule::Direct,
        growth_on_response: false,
        loss_factor: LossFactor::Beta,
        is_guarded: true,
        pi: None,
    };
    /// The best match of the numbers in the papers, chosen by comparison.
    pub const DEFAULT: Self = Self { growth_on_response: true, ..Self::GUARDED };
    /// The public ports with their bugs fixed.
    pub const PORT: Self = Self { max_delay: MaxDelay::Raw, alpha: AlphaRule::Ramped, ..Self::GUARDED };
    /// [`Self::DEFAULT`] with a flat curve above the second threshold.
    pub const FLAT: Self = Self { curve_tail: CurveTail::Flat, ..Self::DEFAULT };
    /// The homogeneous form.
    pub const HOMOGENEOUS: Self = Self { is_adaptive: false, loss_factor: LossFactor::Half, ..Self::GUARDED };
    /// The homogeneous form with a PI controller.
    pub const PI: Self = Self { pi: Some(PiDesign::DEFAULT), ..Self::HOMOGENEOUS };
}

impl ControlFactory for PertFlags {
    fn name(&self) -> &'static str {
        "pert"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        let window = Reno::new(setup.largest_window, setup.ssthresh, Halved::Window);
        Box::new(Pert::new(window, *self, setup.seeds.child("pert").random()))
    }
}

/// The window of PERT.
#[derive(Debug)]
pub(crate) struct Pert {
    window: Reno,
    flags: PertFlags,
    signals: Signals,
    pi: Option<PiController>,
    alpha: Alpha,
    losses: IntervalHistory,
    responses: IntervalHistory,
    early_responses: u64,
    /// No guarded response before this segment is acknowledged: one per RTT.
    mark: u64,
    random: Random,
}

/// The share that an early response of the homogeneous form removes (SIGCOMM 2007); its losses halve the window.
const HOMOGENEOUS_BETA: f64 = 0.35;
/// The smallest window after a guarded early response.
const MIN_RESPONSE_CWND: f64 = SMALLEST_SSTHRESH;

impl Pert {
    pub(crate) fn new(window: Reno, flags: PertFlags, random: Random) -> Self {
        Self {
            window,
            flags,
            signals: Signals::new(flags.max_delay, if flags.is_guarded { LARGEST_FLOOR } else { Duration::ZERO }),
            pi: flags.pi.map(PiController::new),
            alpha: Alpha::new(flags.alpha),
            losses: IntervalHistory::default(),
            responses: IntervalHistory::default(),
            early_responses: 0,
            mark: 0,
            random,
        }
    }

    fn curve(&self) -> Curve {
        if self.flags.is_adaptive {
            Curve::adaptive(self.signals.largest(), self.flags.curve_tail)
        } else {
            Curve::homogeneous(self.flags.curve_tail)
        }
    }

    fn probability(&self) -> f64 {
        match &self.pi {
            Some(pi) => pi.probability(),
            None => self.curve().probability(self.signals.queueing()),
        }
    }

    /// Draws whether this ACK causes an early response; no random number is used if it cannot.
    fn draws_response(&mut self, una: u64) -> bool {
        let probability = self.probability();
        // Drawn last, so that the sequence of random numbers depends on possible responses only.
        let may_respond = una > self.mark || !self.flags.is_guarded;
        may_respond && probability > 0.0 && self.random.unit() < probability
    }

    fn share(&self) -> f64 {
        if self.flags.is_adaptive { self.signals.share() } else { HOMOGENEOUS_BETA }
    }

    fn early_response(&mut self, snd_max: u64, growth: f64) {
        self.responses.close();
        self.early_responses += 1;
        let cwnd = (1.0 - self.share()) * self.window.usable();
        // Without the guard one segment is the floor, as for any TCP.
        self.window.reduce_to(cwnd.max(if self.flags.is_guarded { MIN_RESPONSE_CWND } else { 1.0 }));
        // The next RTT starts with the next segment sent.
        self.mark = snd_max;
        if self.flags.growth_on_response {
            self.window.grow_by(growth * self.alpha.value() / self.window.cwnd());
        }
    }

    fn avoid_congestion(&mut self, cx: &mut Cx<'_>, acked: u64, growth: f64) {
        self.count(acked);
        if self.flags.is_adaptive {
            let conditions = Conditions {
                queueing: self.signals.queueing(),
                largest: self.signals.largest_floored(),
                smoothed: self.signals.smoothed(),
                usable: self.window.usable(),
                response_rate: self.responses.rate(),
                loss_rate: self.losses.rate(),
            };
            self.alpha.on_ack(cx.now, &conditions);
        }
        self.window.grow_by(growth * self.alpha.value() / self.window.cwnd());
    }

    fn count(&mut self, acked: u64) {
        self.losses.count(acked);
        self.responses.count(acked);
    }
}

impl CongestionControl for Pert {
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
        // Before the new sample: the interval since the last ACK belongs to the old delay.
        if let Some(pi) = &mut self.pi {
            pi.catch_up(cx.now, self.signals.queueing());
        }
        if let Some(rtt) = progress.rtt {
            self.signals.on_rtt(rtt);
        }
        if self.window.is_slow_start() {
            self.count(progress.acked);
            // No early response in slow start: the papers apply PERT to congestion avoidance only.
            let rest = self.window.slow_start(progress.growth);
            self.window.grow_by(rest * self.alpha.value() / self.window.cwnd());
        } else if self.draws_response(progress.una) {
            self.early_response(progress.snd_max, progress.growth);
        } else {
            self.avoid_congestion(cx, progress.acked, progress.growth);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.losses.close();
        match self.flags.loss_factor {
            // SIGCOMM 2007: losses reduce as in SACK; IWQoS 2008: by β, which is one half for a full queue.
            LossFactor::Half => self.window.on_loss(cx, flight),
            LossFactor::Beta => {
                let cwnd = (1.0 - self.signals.share()) * self.window.usable();
                self.window.reduce_to(cwnd.max(1.0));
            }
        }
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.losses.close();
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

    fn gauges(&self) -> Gauges {
        Gauges {
            queueing_delay: Some(self.signals.queueing()),
            alpha: Some(self.alpha.value()),
            probability: Some(self.probability()),
            early_responses: self.early_responses,
            ..Gauges::default()
        }
    }
}
