//! `ProbeBW`: the cycle of slower, equal and faster, and the volume that losses showed to be safe (draft-ietf-ccwg-bbr,
//! "`ProbeBW` Algorithm Details" and "Probing for Bandwidth In `ProbeBW`").

use super::arithmetic::{Bounds, volume};
use super::{Bbr, State};
use crate::policy::control::path::{LostSegment, RateSample};
use earlybird_units::{Duration, Instant};

/// What the ACKs that come now tell of the probe (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    /// Nothing.
    Init,
    /// The pipe is being filled.
    Refilling,
    /// The probe has begun.
    Starting,
    /// What the probe brought.
    Feedback,
    /// The rest of what it brought.
    Stopping,
}

/// The probe for bandwidth and what it found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probing {
    /// `BBR.inflight_longterm`: the most that is known as safe; infinite as long as nothing was too much.
    pub(super) inflight: f64,
    /// Round trips since the last probe.
    pub(super) rounds_since_up: u64,
    phase: AckPhase,
    /// ACKs concern segments sent while probing, to whose losses no response was made (`BBR.is_bw_probe_sample`).
    is_sampled: bool,
    went_too_high: bool,
    was_precautionary: bool,
    acked: f64,
    acked_per_step: f64,
    rounds: u32,
    /// When the cycle began, and how long it waits with the next probe.
    began: Instant,
    wait: Duration,
}

/// Probes come at least as often as Reno would make them, up to so many round trips.
const RENO_ROUNDS: f64 = 63.0;
/// Or after a time drawn from 2 s to 3 s.
const WAIT: (f64, f64) = (2.0, 3.0);
/// The steps double each round, so often at most.
const DOUBLINGS: u32 = 30;

impl Default for Probing {
    fn default() -> Self {
        Self {
            inflight: f64::INFINITY,
            rounds_since_up: 0,
            phase: AckPhase::Init,
            is_sampled: false,
            went_too_high: false,
            was_precautionary: false,
            acked: 0.0,
            acked_per_step: f64::INFINITY,
            rounds: 0,
            began: Instant::ZERO,
            wait: Duration::ZERO,
        }
    }
}

impl Probing {
    /// What still comes back is the rest of a probe.
    pub(super) fn stop(&mut self) {
        self.phase = AckPhase::Stopping;
    }

    /// `RaiseInflightLongtermSlope`: 1, 2, 4, … more segments per round.
    fn raise_slope(&mut self, cwnd: f64) {
        self.acked_per_step = (cwnd / f64::from(1_u32 << self.rounds)).at_least(1.0);
        self.rounds = (self.rounds + 1).min(DOUBLINGS);
    }

    /// `ProbeInflightLongtermUpward`, where the window is all used and bounded by [`Self::inflight`].
    fn raise_inflight(&mut self, acked: u64) {
        self.acked += volume(acked);
        if self.acked >= self.acked_per_step {
            let steps = libm::floor(self.acked / self.acked_per_step);
            self.acked -= steps * self.acked_per_step;
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
        if !self.full_pipe.was_reached || self.adapt_long_term(sample) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Refill if self.rounds.is_start => self.start_up(sample),
            State::Up => self.go_down_in_time(now, sample),
            _ => {}
        }
    }

    fn go_down_in_time(&mut self, now: Instant, sample: &RateSample) {
        if self.is_time_to_go_down(sample) {
            self.probing.went_too_high = false;
            self.start_down(now);
        }
    }

    /// `StartProbeBW_DOWN`, with `PickProbeWait`.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.short_term.forget_round();
        let (least, most) = WAIT;
        self.probing.acked_per_step = f64::INFINITY;
        self.probing.rounds_since_up = self.random.below(2);
        self.probing.wait = Duration::from_secs_f64(self.random.uniform(least, most));
        self.probing.began = now;
        self.probing.stop();
        self.rounds.restart();
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.short_term.forget_bounds();
        self.probing.rounds = 0;
        self.probing.acked = 0.0;
        self.probing.was_precautionary = false;
        self.probing.phase = AckPhase::Refilling;
        self.rounds.restart();
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, sample: &RateSample) {
        self.probing.is_sampled = true;
        self.probing.phase = AckPhase::Starting;
        self.rounds.restart();
        self.full_pipe.restart(sample.delivery_rate.unwrap_or(0.0));
        self.state = State::Up;
        self.probing.raise_slope(self.cwnd);
    }

    /// `IsTimeToProbeBW`: after a time, or as soon as Reno would have grown by a pipe.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let rounds = self.target_inflight().at_most(RENO_ROUNDS);
        now > self.probing.began + self.probing.wait || volume(self.probing.rounds_since_up) >= rounds
    }

    /// `IsTimeToCruise`: there is room for others, and no queue.
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        let bound = self.inflight_with_headroom().at_most(self.full_pipe_volume(self.max_bw.max()));
        volume(sample.in_flight) <= bound
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, sample: &RateSample) -> bool {
        if self.probing.went_too_high && volume(sample.in_flight) >= self.probing.inflight {
            self.probing.was_precautionary = true;
            return true;
        }
        if sample.is_cwnd_limited && self.cwnd >= self.probing.inflight {
            self.full_pipe.restart(sample.delivery_rate.unwrap_or(0.0));
            return false;
        }
        self.full_pipe.is_now
    }

    /// `AdaptLongTermModel`: says whether it began another phase.
    fn adapt_long_term(&mut self, sample: &RateSample) -> bool {
        if self.rounds.is_start && self.note_feedback(sample) {
            return true;
        }
        if self.probing.inflight.is_finite() && !self.is_inflight_too_high(sample.lost, sample.tx_in_flight) {
            self.probing.inflight = self.probing.inflight.at_least(volume(sample.tx_in_flight));
            if self.state == State::Up {
                self.probe_upward(sample);
            }
        }
        false
    }

    /// A round trip after its begin the probe brings samples, and a round trip after its end the last ones. If it was
    /// broken off as a precaution and all went well, the next one follows at once.
    fn note_feedback(&mut self, sample: &RateSample) -> bool {
        if self.probing.phase == AckPhase::Starting {
            self.probing.phase = AckPhase::Feedback;
        }
        if self.probing.phase != AckPhase::Stopping {
            return false;
        }
        self.probing.is_sampled = false;
        self.probing.phase = AckPhase::Init;
        if self.state.is_probe_bw() && !sample.is_app_limited {
            self.max_bw.advance();
        }
        let goes_on = self.state.is_probe_bw() && self.probing.was_precautionary && !self.probing.went_too_high;
        if goes_on {
            self.start_refill();
        }
        goes_on
    }

    fn probe_upward(&mut self, sample: &RateSample) {
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
        if self.probing.is_sampled && self.is_inflight_too_high(lost.lost, lost.tx_in_flight) {
            self.handle_inflight_too_high(now, lost);
        }
    }

    /// `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, now: Instant, lost: &LostSegment) {
        self.probing.went_too_high = true;
        self.probing.is_sampled = false;
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
    let lost_prefix = (threshold * inflight_before - lost_before) / (1.0 - threshold);
    inflight_before + lost_prefix
}
