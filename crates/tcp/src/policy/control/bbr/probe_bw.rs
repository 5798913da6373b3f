//! `ProbeBW`: the cycle of bandwidth probes, and the long-term bound of the flight (draft-ietf-ccwg-bbr, "`ProbeBW` Algorithm
//! Details" and "Probing for Bandwidth In `ProbeBW`").

use super::arithmetic::{Bounds, volume};
use super::{Bbr, State};
use crate::policy::control::path::{LostSegment, RateSample};
use earlybird_units::{Duration, Instant};

/// The part of the probe that the present ACKs belong to (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    /// No part of it.
    Init,
    /// Refilling the pipe.
    Refilling,
    /// The probe has started.
    Starting,
    /// Feedback of the probe.
    Feedback,
    /// The last feedback after its end.
    Stopping,
}

/// The bandwidth probe and its results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probing {
    /// `BBR.inflight_longterm`: the largest safe volume; infinite before any loss.
    pub(super) inflight: f64,
    /// RTTs since the last probe.
    pub(super) rounds_since_bw_probe: u64,
    phase: AckPhase,
    /// Whether ACKs belong to segments sent while probing, without a response to losses yet (`BBR.is_bw_probe_sample`).
    is_bw_probe_sample: bool,
    too_high: bool,
    was_precautionary: bool,
    acked: f64,
    probe_up_cnt: f64,
    rounds: u32,
    /// Start of the cycle (`BBR.cycle_stamp`).
    cycle_stamp: Instant,
    /// Wait until the next probe (`BBR.bw_probe_wait`).
    wait: Duration,
}

/// Largest number of RTTs between probes, which follow the pace of Reno (`IsRenoCoexistenceProbeTime`).
const RENO_ROUNDS: f64 = 63.0;
/// Range of the random wait between probes in seconds (`PickProbeWait`).
const WAIT: (f64, f64) = (2.0, 3.0);
/// Largest number of doublings of the slope (`RaiseInflightLongtermSlope`).
const DOUBLINGS: u32 = 30;

impl Default for Probing {
    fn default() -> Self {
        Self {
            inflight: f64::INFINITY,
            rounds_since_bw_probe: 0,
            phase: AckPhase::Init,
            is_bw_probe_sample: false,
            too_high: false,
            was_precautionary: false,
            acked: 0.0,
            probe_up_cnt: f64::INFINITY,
            rounds: 0,
            cycle_stamp: Instant::ZERO,
            wait: Duration::ZERO,
        }
    }
}

impl Probing {
    /// Ends the probe; the following ACKs are its last feedback.
    pub(super) fn stop(&mut self) {
        self.phase = AckPhase::Stopping;
    }

    /// `RaiseInflightLongtermSlope`: 1, 2, 4, … more segments per round.
    fn raise_slope(&mut self, cwnd: f64) {
        self.probe_up_cnt = (cwnd / f64::from(1_u32 << self.rounds)).at_least(1.0);
        self.rounds = (self.rounds + 1).min(DOUBLINGS);
    }

    /// `ProbeInflightLongtermUpward`, if the window is used and limited by [`Self::inflight`].
    fn raise_inflight(&mut self, acked: u64) {
        self.acked += volume(acked);
        if self.acked >= self.probe_up_cnt {
            let steps = libm::floor(self.acked / self.probe_up_cnt);
            self.acked -= steps * self.probe_up_cnt;
            self.inflight += steps;
        }
    }
}

impl Bbr {
    /// `IsInflightTooHigh`.
    pub(super) fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        volume(lost) > volume(tx_in_flight) * self.parameters.loss_threshold
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw(&mut self, now: Instant, sample: &RateSample) {
        if !self.full_pipe.was_reached || self.adapt_long_term_model(sample) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Refill if self.rounds.is_start => self.start_probe_up(sample),
            State::Up => self.check_time_to_go_down(now, sample),
            _ => {}
        }
    }

    fn check_time_to_go_down(&mut self, now: Instant, sample: &RateSample) {
        if self.is_time_to_go_down(sample) {
            self.probing.too_high = false;
            self.start_down(now);
        }
    }

    /// `StartProbeBW_DOWN`, with `PickProbeWait`.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.short_term.reset_congestion_signals();
        let (least, most) = WAIT;
        self.probing.probe_up_cnt = f64::INFINITY;
        // Randomised, so that flows do not probe at the same time ("Time Scale for Bandwidth Probing").
        self.probing.rounds_since_bw_probe = self.random.below(2);
        self.probing.wait = Duration::from_secs_f64(self.random.uniform(least, most));
        self.probing.cycle_stamp = now;
        self.probing.stop();
        self.rounds.restart();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.short_term.reset_shortterm_model();
        self.probing.rounds = 0;
        self.probing.acked = 0.0;
        self.probing.was_precautionary = false;
        self.probing.phase = AckPhase::Refilling;
        self.rounds.restart();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_probe_up(&mut self, sample: &RateSample) {
        self.probing.is_bw_probe_sample = true;
        self.probing.phase = AckPhase::Starting;
        self.rounds.restart();
        self.full_pipe.restart(sample.delivery_rate.unwrap_or(0.0));
        self.state = State::Up;
        self.probing.raise_slope(self.cwnd);
    }

    /// `IsTimeToProbeBW`: after the wait, or when Reno would have grown by a BDP.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        // Coexistence with Reno: a flow of Reno grows by a BDP in as many RTTs as the BDP has segments.
        let rounds = self.target_inflight().at_most(RENO_ROUNDS);
        now > self.probing.cycle_stamp + self.probing.wait || volume(self.probing.rounds_since_bw_probe) >= rounds
    }

    /// `IsTimeToCruise`: there is headroom for other flows, and no queue.
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        // Both: headroom below the long-term bound, and no queue at the estimated bandwidth.
        let bound = self.inflight_with_headroom().at_most(self.full_pipe_volume(self.max_bw.max()));
        volume(sample.in_flight) <= bound
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, sample: &RateSample) -> bool {
        if self.probing.too_high && volume(sample.in_flight) >= self.probing.inflight {
            self.probing.was_precautionary = true;
            return true;
        }
        if sample.is_cwnd_limited && self.cwnd >= self.probing.inflight {
            self.full_pipe.restart(sample.delivery_rate.unwrap_or(0.0));
            return false;
        }
        self.full_pipe.is_now
    }

    /// `AdaptLongTermModel`. Returns whether it started another phase.
    fn adapt_long_term_model(&mut self, sample: &RateSample) -> bool {
        if self.rounds.is_start && self.update_ack_phase(sample) {
            return true;
        }
        if self.probing.inflight.is_finite() && !self.is_inflight_too_high(sample.lost, sample.tx_in_flight) {
            self.probing.inflight = self.probing.inflight.at_least(volume(sample.tx_in_flight));
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(sample);
            }
        }
        false
    }

    /// Updates the phase of ACKs: feedback starts one RTT after the start of the probe, and ends one RTT after its end. A probe that was
    /// stopped as a precaution without losses is repeated at once.
    fn update_ack_phase(&mut self, sample: &RateSample) -> bool {
        if self.probing.phase == AckPhase::Starting {
            self.probing.phase = AckPhase::Feedback;
        }
        if self.probing.phase != AckPhase::Stopping {
            return false;
        }
        self.probing.is_bw_probe_sample = false;
        self.probing.phase = AckPhase::Init;
        // A cycle with a valid probe advances the bandwidth filter.
        if self.state.is_probe_bw() && !sample.is_app_limited {
            self.max_bw.advance();
        }
        let goes_on = self.state.is_probe_bw() && self.probing.was_precautionary && !self.probing.too_high;
        if goes_on {
            self.start_refill();
        }
        goes_on
    }

    fn probe_inflight_longterm_upward(&mut self, sample: &RateSample) {
        if !sample.is_cwnd_limited || self.cwnd < self.probing.inflight {
            return;
        }
        self.probing.raise_inflight(sample.newly_acked);
        if self.rounds.is_start {
            self.probing.raise_slope(self.cwnd);
        }
    }

    /// The long-term part of `HandleLostPacket`: once per probe.
    pub(super) fn adapt_to_loss(&mut self, now: Instant, lost: &LostSegment) {
        if self.probing.is_bw_probe_sample && self.is_inflight_too_high(lost.lost, lost.tx_in_flight) {
            self.handle_inflight_too_high(now, lost);
        }
    }

    /// `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, now: Instant, lost: &LostSegment) {
        // One response per probe: further losses of the same flight carry no new information.
        self.probing.too_high = true;
        self.probing.is_bw_probe_sample = false;
        // A flight limited by the application says nothing about the largest safe one.
        if !lost.is_app_limited {
            let least = self.target_inflight() * self.parameters.beta;
            self.probing.inflight = inflight_at_loss(lost, self.parameters.loss_threshold).at_least(least);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }
}

/// `InflightAtLoss`: the volume at which the losses crossed the threshold.
fn inflight_at_loss(lost: &LostSegment, threshold: f64) -> f64 {
    let (inflight_before, lost_before) = (volume(lost.tx_in_flight) - 1.0, volume(lost.lost) - 1.0);
    // Solves (lost_before + x) = threshold·(inflight_before + x) for x.
    let lost_prefix = (threshold * inflight_before - lost_before) / (1.0 - threshold);
    inflight_before + lost_prefix
}
