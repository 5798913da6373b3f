//! BBR version 3: models the path by its bandwidth and its RTT without a queue, and paces at that bandwidth (draft-ietf-ccwg-bbr of
//! August 2026, whose names are quoted).
//!
//! Volumes are in segments, rates in segments per second. There is one file per part of the model; this one combines them in the
//! order of "Algorithm Organization" of the draft.

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
use super::{CongestionControl, Flight, Gauges, Progress, Window, trace_syn_ack};
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

/// Parameters of BBR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrParameters {
    /// The share of segments that may be lost in an RTT of probing (`BBR.LossThresh`).
    pub loss_threshold: f64,
    /// The factor by which an RTT with losses reduces the short-term bounds at most (`BBR.Beta`).
    pub beta: f64,
    /// The share of the safe volume that is left to other flows (`BBR.Headroom`).
    pub headroom: f64,
    /// Time between RTT probes (`BBR.ProbeRTTInterval`).
    pub probe_rtt_interval: Duration,
    /// Duration of an RTT probe (`BBR.ProbeRTTDuration`).
    pub probe_rtt_duration: Duration,
    /// The window of the minimal RTT (`BBR.MinRTTFilterLen`).
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

/// The phase of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecoveryPhase {
    None,
    /// Recovery has started; the next ACK determines its end.
    Begins,
    /// Recovery lasts until all segments below this number are acknowledged.
    Until(u64),
}

/// Model, state and window of BBR.
#[derive(Debug)]
pub(crate) struct Bbr {
    parameters: BbrParameters,
    random: Random,
    state: State,
    recovery: RecoveryPhase,
    initial_window: f64,
    cwnd: f64,
    /// The window before losses or an RTT probe (`BBR.prior_cwnd`).
    prior_cwnd: f64,
    /// `None` before the first RTT sample; the draft assumes 1 ms then.
    pacing_rate: Option<f64>,
    /// `BBR.bw`.
    bw: f64,
    /// The maximal bandwidth of this and the last cycle of `ProbeBW` (`BBR.MaxBwFilterLen`).
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
    /// Whether sending restarts after an idle period (`BBR.idle_restart`).
    idle_restart: bool,
}

impl Bbr {
    pub(crate) fn new(parameters: BbrParameters, random: Random) -> Self {
        Self {
            parameters,
            random,
            state: State::Startup,
            recovery: RecoveryPhase::None,
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
            idle_restart: false,
        }
    }

    /// `UpdateModelAndState`.
    fn update_model(&mut self, now: Instant, sample: &RateSample) {
        // The order of `UpdateModelAndState`: each step reads results of the ones before.
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
        // After all parts have read the signals of the last round.
        self.short_term.advance(sample);
        self.bw = self.max_bw.max().at_most(self.short_term.bw);
    }

    /// `UpdateMaxBw`: an application-limited sample counts only if it is the largest.
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.rounds.on_sample(sample);
        self.probing.rounds_since_bw_probe += u64::from(self.rounds.is_start);
        let counts = |rate: &f64| !sample.is_app_limited || *rate >= self.max_bw.max();
        if let Some(rate) = sample.delivery_rate.filter(counts) {
            self.max_bw.note(rate);
        }
    }

    /// Ends recovery when everything that was outstanding is acknowledged, and restores the window.
    fn end_recovery(&mut self, sample: &RateSample) {
        if self.recovery == RecoveryPhase::Begins {
            self.recovery = RecoveryPhase::Until(sample.snd_max);
        }
        if let RecoveryPhase::Until(end) = self.recovery
            && sample.una >= end
        {
            self.recovery = RecoveryPhase::None;
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
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, now: Instant, lost: &LostSegment) {
        // Losses are reported before the sample of their ACK: the count must not be stale.
        self.rounds.delivered = lost.total_delivered;
        if self.short_term.on_lost(lost.number, lost.total_delivered) {
            self.save_state();
        }
        self.adapt_to_loss(now, lost);
    }

    /// `UpdateOnACK`.
    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        self.end_recovery(sample);
        if self.pacing_rate.is_none() {
            self.init_pacing_rate(sample.rtt);
        }
        self.update_model(now, sample);
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_cwnd(sample);
    }

    fn is_probing_rtt(&self) -> bool {
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
        trace_syn_ack(cx, self);
        self.initial_window = initial_window;
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, _progress: &Progress) {}

    /// `OnEnterFastRecovery`.
    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.save_state();
        self.recovery = RecoveryPhase::Begins;
    }

    /// Ignores marks: the response of the draft needs accurate feedback.
    fn on_congestion_mark(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// `OnEnterRTO`: everything counts as lost, and one segment may be sent.
    fn on_timeout(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.save_state();
        self.recovery = RecoveryPhase::Begins;
        self.cwnd = 1.0;
    }

    /// Restores the saved state of the model, which is more than the window.
    fn undo(&mut self, _window: &Window) {
        self.undo_losses();
    }

    /// Keeps the window over an idle period, as it is paced ("Restarting From Idle").
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
