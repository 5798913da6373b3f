//! Pacing rate and congestion window (draft-ietf-ccwg-bbr, "Updating Control Parameters").

use super::arithmetic::{Bounds, volume};
use super::{Bbr, RecoveryPhase, State};
use crate::policy::control::path::RateSample;
use crate::policy::send_quantum::send_quantum;
use earlybird_units::Duration;

/// `BBR.MinPipeCwnd`: two segments in flight, and ACKs of two.
pub(super) const SMALLEST_CWND: f64 = 4.0;
/// `BBR.PacingMarginPercent` of 1: pacing slightly below the bandwidth keeps queues short.
const PACING_MARGIN: f64 = 0.99;
/// `BBR.offload_budget` in quanta.
const OFFLOAD_QUANTA: f64 = 3.0;

impl Bbr {
    /// `InitPacingRate`.
    pub(super) fn init_pacing_rate(&mut self, rtt: Option<Duration>) {
        let rtt = rtt.filter(|rtt| *rtt > Duration::ZERO);
        self.pacing_rate = rtt.map(|rtt| self.state.pacing_gain() * self.initial_window / rtt.as_secs_f64());
    }

    /// `SetPacingRateWithGain`: before the pipe is full the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        // In Startup early bandwidth samples are too low; lowering the rate would slow the search.
        let rises = self.pacing_rate.is_some_and(|before| rate > before);
        if rate > 0.0 && (self.full_pipe.was_reached || rises) {
            self.pacing_rate = Some(rate);
        }
    }

    /// `BDPMultiple`, for the volume at bandwidth `bw`.
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.seconds().map_or(self.initial_window, |min_rtt| gain * bw * min_rtt)
    }

    /// Returns `BBR.bdp`.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0)
    }

    /// `QuantizationBudget`.
    fn with_quanta(&self, volume: f64) -> f64 {
        let budget = OFFLOAD_QUANTA * send_quantum(self.pacing_rate.unwrap_or(0.0));
        let room_to_probe = if self.state == State::Up { 2.0 } else { 0.0 };
        volume.at_least(budget).at_least(SMALLEST_CWND) + room_to_probe
    }

    /// `Inflight(1.0)`: the volume that fills the path at bandwidth `bw` without a queue.
    pub(super) fn full_pipe_volume(&self, bw: f64) -> f64 {
        self.with_quanta(self.bdp_multiple(bw, 1.0))
    }

    /// `UpdateMaxInflight`.
    fn max_inflight(&self) -> f64 {
        let volume = self.bdp_multiple(self.bw, self.state.cwnd_gain());
        self.with_quanta(volume + self.aggregation.extra(self.full_pipe.was_reached))
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, sample: &RateSample) {
        let most = self.max_inflight();
        let grown = self.cwnd + volume(sample.newly_acked);
        if self.full_pipe.was_reached {
            self.cwnd = grown.at_most(most);
        // Before the pipe is full the window may exceed the model, which is still an underestimate.
        } else if self.cwnd < most || volume(sample.total_delivered) < self.initial_window {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.at_least(SMALLEST_CWND);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.at_most(self.probe_rtt_cwnd());
        }
        // Last: bounds by losses have priority over growth.
        self.cwnd = self.cwnd.at_most(self.model_bound());
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, State::ProbeRtt.cwnd_gain()).at_least(SMALLEST_CWND)
    }

    /// `BoundCwndForModel`: the bounds that losses have set.
    fn model_bound(&self) -> f64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.probing.inflight,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        long_term.at_most(self.short_term.inflight).at_least(SMALLEST_CWND)
    }

    /// `InflightWithHeadroom`: leaves a part of the safe volume to other flows.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let safe = self.probing.inflight;
        if safe.is_infinite() {
            return safe;
        }
        (safe - (self.parameters.headroom * safe).at_least(1.0)).at_least(SMALLEST_CWND)
    }

    /// `TargetInflight`: the BDP, unless losses have reduced the window.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().at_most(self.cwnd)
    }

    /// `SaveCwnd`: saves the last window without the effect of losses or an RTT probe.
    pub(super) fn save_cwnd(&mut self) {
        // Within recovery or a probe the window is already reduced: keep the larger.
        let is_good = self.recovery == RecoveryPhase::None && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_good { self.cwnd } else { self.prior_cwnd.at_least(self.cwnd) };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.at_least(self.prior_cwnd);
    }
}
