//! BBR version 3: models the path by its bandwidth and its round trip without a queue, and sends at that rate
//! (draft-ietf-ccwg-bbr of August 2026, which names all that is quoted here).
//!
//! Volumes count segments, rates segments per second. One file per part of the model; this one puts them together in the
//! order of the draft's "Algorithm Organization".

mod aggregation;
mod arithmetic;
mod filter;
mod full_pipe;
mod min_rtt;
mod probe_bw;
mod probe_rtt;
mod rounds;
mod short_term;
mod startup;
mod state;
#[cfg(test)]
mod tests;
mod undo;
mod window;

use super::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
use super::path::{LostSegment, PathModel, RateSample};
use super::{CongestionControl, Flight, Gauges, Progress, Window, tell_opening};
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::Cx;
use aggregation::Aggregation;
use alloc::boxed::Box;
use arithmetic::{Bounds, volume};
use earlybird_units::{Duration, Instant, Random};
use filter::SlotMax;
use full_pipe::FullPipe;
use min_rtt::MinRtt;
use probe_bw::Probing;
use probe_rtt::ProbeRtt;
use rounds::Rounds;
use short_term::ShortTerm;
pub use state::State;
use undo::Undo;

/// BBR's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrParameters {
    /// The share of segments that may get lost in a round trip of probing (`BBR.LossThresh`).
    pub loss_threshold: f64,
    /// What a round trip with losses leaves of the short-term bounds, at least (`BBR.Beta`).
    pub beta: f64,
    /// The share of the volume known as safe that is left to others (`BBR.Headroom`).
    pub headroom: f64,
    /// Time between probes of the round trip (`BBR.ProbeRTTInterval`).
    pub probe_rtt_interval: Duration,
    /// Time with little in flight in such a probe (`BBR.ProbeRTTDuration`).
    pub probe_rtt_duration: Duration,
    /// How long the shortest round trip counts (`BBR.MinRTTFilterLen`).
    pub min_rtt_window: Duration,
}

impl BbrParameters {
    /// The draft's values: 2 %, 0.7, 0.15, 5 s, 200 ms, 10 s.
    pub const DEFAULT: Self = Self {
        loss_threshold: 0.02,
        beta: 0.7,
        headroom: 0.15,
        probe_rtt_interval: Duration::from_secs(5),
        probe_rtt_duration: Duration::from_millis(200),
        min_rtt_window: Duration::from_secs(10),
    };
}

impl ControlFactory for BbrParameters {
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(*self, setup.seeds.child("bbr").random()))
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        Needs { has_rate: true, shapes_recovery: true, marks: MarkAnswer::None, ..Needs::default() }
    }
}

/// How far the repair of losses has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    /// The next ACK shows up to which segment.
    Begins,
    /// Until all segments below this number are acknowledged.
    Until(u64),
}

/// The BBR sender's model, state and window.
#[derive(Debug)]
pub(crate) struct Bbr {
    parameters: BbrParameters,
    random: Random,
    state: State,
    repair: Repair,
    initial_window: f64,
    cwnd: f64,
    /// The window before losses or the probe of the round trip (`BBR.prior_cwnd`).
    prior_cwnd: f64,
    /// `None` before the first round trip is measured: the draft takes 1 ms for it then.
    pacing_rate: Option<f64>,
    /// `BBR.bw`.
    bw: f64,
    /// A slot per cycle of `ProbeBW`: this one and the last (`BBR.MaxBwFilterLen`).
    max_bw: SlotMax<2>,
    min_rtt: MinRtt,
    rounds: Rounds,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    short_term: ShortTerm,
    probing: Probing,
    probe_rtt: ProbeRtt,
    undo: Undo,
    drain_start_round: u64,
    /// Sending begins again after a rest (`BBR.idle_restart`).
    restarts: bool,
}

impl Bbr {
    pub(crate) fn new(parameters: BbrParameters, random: Random) -> Self {
        Self {
            parameters,
            random,
            state: State::Startup,
            repair: Repair::None,
            initial_window: 1.0,
            cwnd: 1.0,
            prior_cwnd: 0.0,
            pacing_rate: None,
            bw: 0.0,
            max_bw: SlotMax::default(),
            min_rtt: MinRtt::new(Instant::ZERO, None),
            rounds: Rounds::default(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::new(Instant::ZERO),
            short_term: ShortTerm::default(),
            probing: Probing::default(),
            probe_rtt: ProbeRtt::default(),
            undo: Undo::default(),
            drain_start_round: 0,
            restarts: false,
        }
    }

    /// `UpdateModelAndState`.
    fn update_model(&mut self, now: Instant, sample: &RateSample) {
        self.short_term.on_sample(sample);
        self.update_max_bw(sample);
        let (is_probing, max_bw) = (self.state.is_probing(), self.max_bw.max());
        self.short_term.adapt(is_probing, max_bw, self.cwnd, self.parameters.beta);
        self.aggregation.on_ack(now, volume(sample.newly_acked), self.bw, self.cwnd, self.rounds.is_start);
        self.full_pipe.on_sample(sample, self.rounds.is_start);
        self.check_startup_done(sample);
        self.check_drain_done(now, sample);
        self.update_probe_bw(now, sample);
        self.min_rtt.on_sample(now, sample.rtt, &self.parameters);
        self.check_probe_rtt(now, sample);
        self.short_term.advance(sample);
        self.bw = self.max_bw.max().at_most(self.short_term.bw);
    }

    /// `UpdateMaxBw`: a sample that the application limited counts only if it is the largest.
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.rounds.on_sample(sample);
        self.probing.rounds_since_up += u64::from(self.rounds.is_start);
        let counts = |rate: &f64| !sample.is_app_limited || *rate >= self.max_bw.max();
        if let Some(rate) = sample.delivery_rate.filter(counts) {
            self.max_bw.note(rate);
        }
    }

    /// The losses of one repair end when all that was outstanding is acknowledged: the window comes back.
    fn end_repair(&mut self, sample: &RateSample) {
        if self.repair == Repair::Begins {
            self.repair = Repair::Until(sample.smax);
        }
        if let Repair::Until(end) = self.repair
            && sample.una >= end
        {
            self.repair = Repair::None;
            self.restore_cwnd();
        }
    }
}

impl PathModel for Bbr {
    fn on_opened(&mut self, now: Instant, rtt: Option<Duration>) {
        self.min_rtt = MinRtt::new(now, rtt);
        self.aggregation = Aggregation::new(now);
        self.init_pacing_rate(rtt);
    }

    /// `HandleRestartFromIdle`.
    fn on_restart(&mut self, now: Instant, is_app_limited: bool) {
        if !is_app_limited {
            return;
        }
        self.restarts = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, now: Instant, lost: &LostSegment) {
        self.rounds.delivered = lost.total_delivered;
        if self.short_term.on_lost(lost.number, lost.total_delivered) {
            self.save_state();
        }
        self.adapt_to_loss(now, lost);
    }

    /// `UpdateOnACK`.
    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        self.end_repair(sample);
        if self.pacing_rate.is_none() {
            self.init_pacing_rate(sample.rtt);
        }
        self.update_model(now, sample);
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_cwnd(sample);
    }

    fn is_holding_back(&self) -> bool {
        self.state == State::ProbeRtt
    }
}

impl CongestionControl for Bbr {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        tell_opening(cx, self);
        self.initial_window = initial_window;
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, _progress: &Progress) {}

    /// `OnEnterFastRecovery`.
    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.save_state();
        self.repair = Repair::Begins;
    }

    /// The model needs no marks: what the draft does with them asks for accurate feedback.
    fn on_congestion_mark(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// `OnEnterRTO`: everything counts as lost, so that one segment may leave.
    fn on_timeout(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.save_state();
        self.repair = Repair::Begins;
        self.cwnd = 1.0;
    }

    /// BBR remembers better than the caller what there was before.
    fn undo(&mut self, _window: &Window) {
        self.take_back_losses();
    }

    /// BBR keeps its window over a rest and paces instead ("Restarting From Idle").
    fn on_idle(&mut self, _window: &Window) {}

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }

    fn gauges(&self) -> Gauges {
        Gauges { bandwidth: Some(self.bw), bbr_state: Some(self.state), ..Gauges::default() }
    }
}
