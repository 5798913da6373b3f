//! Startup and Drain (draft-ietf-ccwg-bbr, "Startup" and "Drain").

use super::arithmetic::{Bounds, volume};
use super::{Bbr, RecoveryPhase, State};
use crate::policy::control::path::RateSample;
use earlybird_units::Instant;

/// `BBRStartupFullLossCnt`: loss events in one round.
const FULL_LOSS_COUNT: u32 = 6;
/// Rounds after which Drain ends: the bandwidth was overestimated (`CheckDrainDone`).
const DRAIN_ROUNDS: u64 = 3;

impl Bbr {
    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, sample: &RateSample) {
        if self.state == State::Startup && self.is_loss_too_high(sample) {
            self.full_pipe.was_reached = true;
            self.full_pipe.is_now = true;
            self.undo.state = Some(State::Startup);
            // The first long-term bound: what the path has delivered in a round with losses, or a BDP.
            self.probing.inflight = self.bdp().at_least(self.short_term.inflight_latest);
        }
        if self.state == State::Startup && self.full_pipe.was_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// `CheckStartupHighLoss`: a full round in recovery, with more losses than the threshold, in several loss events.
    fn is_loss_too_high(&self, sample: &RateSample) -> bool {
        self.short_term.is_round_start
            && self.recovery != RecoveryPhase::None
            && self.short_term.loss_events() >= FULL_LOSS_COUNT
            && self.is_inflight_too_high(sample.lost, sample.tx_in_flight)
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, now: Instant, sample: &RateSample) {
        if self.state != State::Drain {
            return;
        }
        // An overestimated bandwidth would keep Drain waiting for a flight that is never reached.
        let is_long = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if is_long || volume(sample.in_flight) <= self.full_pipe_volume(self.bw) {
            self.start_down(now);
        }
    }
}
