//! BBR version 1, as Linux 6.18 has it (`net/ipv4/tcp_bbr.c`; draft-cardwell-iccrg-bbr-congestion-control-00; Cardwell et al., ACM
//! Queue 14(5), 2016): models the path by its bandwidth and its shortest RTT, and paces at that bandwidth.
//!
//! Names in quotes are those of Linux. Volumes are whole segments, as there, and rates segments per second. Losses neither reduce
//! the bandwidth nor the volume in flight for longer than their repair takes, unless they look like those of a policer.
//!
//! There is one file per part of the model; this one combines them in the order of `bbr_main`.

mod aggregation;
mod bandwidth;
mod cycle;
mod filter;
mod full_pipe;
mod long_term;
mod mode;
mod parameters;
mod probe_rtt;
mod recovery;
#[cfg(test)]
mod tests;
mod window;

use super::path::{LostSegment, PathModel, RateSample, SamplingRules};
use super::{CongestionControl, Flight, Gauges, Progress, Window, trace_syn_ack};
use crate::trace::Cx;
use aggregation::Aggregation;
use bandwidth::Bandwidth;
use cycle::GainCycle;
use earlybird_units::{Duration, Instant, Random};
use full_pipe::FullPipe;
use long_term::{LongTerm, Totals};
use mode::Mode;
pub use parameters::Bbr1Parameters;
use probe_rtt::{MinRtt, ProbeRtt};
use recovery::{Recovery, RepairState};

/// Model, mode and window of BBR version 1.
#[derive(Debug)]
pub(crate) struct Bbr1 {
    parameters: Bbr1Parameters,
    random: Random,
    /// Largest payload of a segment in bytes.
    mss: f64,
    mode: Mode,
    /// The gains that the last ACK set: the cycle is advanced by those before it.
    pacing_gain: f64,
    cwnd_gain: f64,
    cwnd: u64,
    /// The window before a recovery or an RTT probe.
    prior_cwnd: u64,
    /// Unbounded until the pipe is full.
    ssthresh: f64,
    pacing_rate: f64,
    /// Whether an RTT sample has set the initial pacing rate.
    has_seen_rtt: bool,
    bandwidth: Bandwidth,
    long_term: LongTerm,
    aggregation: Aggregation,
    full_pipe: FullPipe,
    cycle: GainCycle,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    recovery: Recovery,
    /// Whether sending restarts after an idle period.
    idle_restart: bool,
    /// Segments delivered and lost so far, and when the last one was delivered.
    totals: Totals,
    /// Time of the last ACK or timer that found losses, and their number.
    losses: (Instant, u64),
}

impl Bbr1 {
    pub(crate) fn new(parameters: Bbr1Parameters, mss: u16, random: Random) -> Self {
        Self {
            parameters,
            random,
            mss: f64::from(mss),
            mode: Mode::Startup,
            pacing_gain: mode::HIGH_GAIN,
            cwnd_gain: mode::HIGH_GAIN,
            cwnd: 1,
            prior_cwnd: 0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
            has_seen_rtt: false,
            bandwidth: Bandwidth::default(),
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            full_pipe: FullPipe::default(),
            cycle: GainCycle::default(),
            min_rtt: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            recovery: Recovery::default(),
            idle_restart: false,
            totals: Totals::default(),
            losses: (Instant::ZERO, 0),
        }
    }

    /// `bbr_bw`: the bandwidth of a policer, if there seems to be one.
    fn bw(&self) -> f64 {
        self.long_term.policed().unwrap_or_else(|| self.bandwidth.max())
    }

    /// `bbr_update_model`, for an ACK that found `losses` segments to be lost.
    fn update_model(&mut self, now: Instant, sample: &RateSample, losses: u64) {
        self.update_bw(now, sample, losses);
        self.update_aggregation(now, sample);
        self.update_cycle(now, sample, losses);
        self.full_pipe.on_sample(self.bandwidth.max(), self.bandwidth.is_round_start, sample.is_app_limited);
        self.check_drain(now, sample);
        self.update_min_rtt(now, sample);
        self.update_gains();
    }

    /// `bbr_update_bw`.
    fn update_bw(&mut self, now: Instant, sample: &RateSample, losses: u64) {
        self.bandwidth.is_round_start = false;
        let Some(rate) = sample.delivery_rate else { return };
        if self.bandwidth.update_round(sample) {
            self.recovery.conserves = false;
        }
        self.sample_long_term(now, losses, sample.is_app_limited);
        self.bandwidth.on_rate(rate, sample.is_app_limited);
    }

    /// `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, now: Instant, sample: &RateSample) {
        if sample.delivery_rate.is_some() {
            let (bw, starts) = (self.bw(), self.bandwidth.is_round_start);
            self.aggregation.on_ack(now, sample.newly_acked, bw, self.cwnd, starts);
        }
    }

    /// Returns how many segments the ACK of time `now` found to be lost. Those that a timer found do not count, as in `tcp_ack`.
    fn losses_at(&self, now: Instant) -> u64 {
        let (at, count) = self.losses;
        if at == now { count } else { 0 }
    }
}

impl PathModel for Bbr1 {
    fn sampling_rules(&self) -> SamplingRules {
        SamplingRules::Linux
    }

    /// `bbr_init`.
    fn on_opened(&mut self, now: Instant, rtt: Option<Duration>) {
        self.min_rtt = MinRtt::new(now, rtt);
        self.aggregation.restart(now);
        self.totals.at = now;
        self.long_term.reset(self.totals);
        self.init_pacing_rate(rtt);
    }

    /// `bbr_cwnd_event`.
    fn on_restart(&mut self, now: Instant, is_app_limited: bool) {
        self.end_timeout(now);
        if !is_app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            // No faster than the path is known to be: nothing waits that would need more.
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_lost(&mut self, now: Instant, lost: &LostSegment) {
        self.totals.lost += 1;
        self.losses = (now, self.losses_at(now) + 1);
        // `tcp_enter_loss`: what a timeout leaves in flight, and the segment that it sends again.
        if self.recovery.timed_out_at == Some(now) {
            self.cwnd = lost.in_flight + 1;
        }
    }

    /// `bbr_main`.
    fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        self.end_timeout(now);
        self.update_recovery(sample);
        (self.totals.at, self.totals.delivered) = (now, sample.total_delivered);
        let losses = self.losses_at(now);
        self.update_model(now, sample, losses);
        if !self.has_seen_rtt && sample.rtt.is_some() {
            self.init_pacing_rate(sample.rtt);
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(sample, losses);
    }

    fn is_probing_rtt(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }
}

impl CongestionControl for Bbr1 {
    fn cwnd(&self) -> f64 {
        self.cwnd as f64
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        trace_syn_ack(cx, self);
        self.cwnd = initial_window as u64;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, _progress: &Progress) {}

    /// `bbr_ssthresh`.
    fn on_loss(&mut self, _cx: &mut Cx<'_>, flight: &Flight) {
        // For Linux the last recovery may go on where ours has ended.
        if self.recovery.state == RepairState::Recovery {
            return;
        }
        self.save_cwnd();
        // A loss that its own probe has repaired begins no recovery (RFC 8985 §7.4.2; `tcp_process_tlp_ack`).
        if flight.missing.is_some() {
            self.recovery.enter(RepairState::Recovery);
        }
    }

    /// Ignores marks, as Linux does: neither window nor threshold change.
    fn on_congestion_mark(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {}

    /// `tcp_enter_loss`, and `bbr_set_state` except its sample, which counts losses that are yet to be marked.
    fn on_timeout(&mut self, cx: &mut Cx<'_>, _flight: &Flight) {
        self.end_timeout(cx.now);
        if self.recovery.state != RepairState::Recovery {
            self.save_cwnd();
        }
        self.recovery.enter(RepairState::Loss);
        self.recovery.before = RepairState::Loss;
        self.recovery.timed_out_at = Some(cx.now);
        self.full_pipe.baseline = 0.0;
        self.cwnd = 1;
    }

    /// `bbr_undo_cwnd`: the next ACK restores the window, as after every recovery.
    fn undo(&mut self, _window: &Window) {
        self.recovery.state = RepairState::Open;
        self.full_pipe.restart();
        self.long_term.reset(self.totals);
    }

    /// Keeps the window over an idle period, as it is paced (`tcp_cwnd_restart` is not called with `cong_control`).
    fn on_idle(&mut self, _window: &Window) {}

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        (self.pacing_rate > 0.0).then_some(self.pacing_rate)
    }

    fn send_quantum(&self, _rate: f64) -> f64 {
        self.quantum() as f64
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }

    fn gauges(&self) -> Gauges {
        let state = self.mode.state(self.pacing_gain);
        Gauges { bandwidth: Some(self.bw()), bbr_state: Some(state), ..Gauges::default() }
    }
}
