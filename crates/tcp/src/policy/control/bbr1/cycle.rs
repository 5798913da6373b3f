//! The cycle of pacing gains in `ProbeBw` (`bbr_update_cycle_phase`).

use super::Bbr1;
use super::mode::{GAINS, Mode};
use crate::policy::control::path::RateSample;
use earlybird_units::{Duration, Instant};

/// `bbr_cycle_rand`: the cycle starts in any phase but the one that drains, so that flows do not probe in step.
const START_PHASES: u64 = 7;

/// The phase, and when it began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GainCycle {
    pub(super) index: usize,
    start: Instant,
}

impl GainCycle {
    /// `bbr_advance_cycle_phase`.
    fn advance(&mut self, now: Instant) {
        *self = Self { index: (self.index + 1) % GAINS.len(), start: now };
    }
}

impl Bbr1 {
    /// `bbr_reset_probe_bw_mode`.
    pub(super) fn start_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle.index = GAINS.len() - 1 - self.random.below(START_PHASES) as usize;
        self.cycle.advance(now);
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_cycle(&mut self, now: Instant, sample: &RateSample, losses: u64) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(now, sample, losses) {
            self.cycle.advance(now);
        }
    }

    /// `bbr_is_next_cycle_phase`.
    fn is_phase_over(&self, now: Instant, sample: &RateSample, losses: u64) -> bool {
        let is_long = self.min_rtt.value.is_some_and(|min_rtt| now - self.cycle.start > min_rtt);
        let gain = self.pacing_gain;
        let flight = || self.in_network(sample.prior_in_flight, sample.pacing_delay);
        let inflight = || self.inflight(self.bandwidth.max(), gain.max(1.0));
        if gain > 1.0 {
            // With a short RTT a phase may be over before the flight has grown; a loss shows that it will not fit.
            is_long && (losses > 0 || flight() >= inflight())
        } else if gain < 1.0 {
            // Below the bandwidth no longer than there is a queue.
            is_long || flight() <= inflight()
        } else {
            is_long
        }
    }

    /// `bbr_packets_in_net_at_edt`: how much of `in_flight` is in the network when the pacer sends next, `delay` from now.
    pub(super) fn in_network(&self, in_flight: u64, delay: Duration) -> u64 {
        let next = if self.pacing_gain > 1.0 { self.quantum() } else { 0 };
        (in_flight + next).saturating_sub((self.bw() * delay.as_secs_f64()) as u64)
    }
}
