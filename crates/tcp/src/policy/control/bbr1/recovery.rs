//! The window in recovery (`bbr_set_cwnd_to_recover_or_restore`).

use super::Bbr1;
use super::mode::Mode;
use crate::policy::control::path::RateSample;
use earlybird_units::Instant;

/// The state of loss recovery (`enum tcp_ca_state`), in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RepairState {
    /// There is none.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// Recovery after a timeout.
    Loss,
}

/// Recovery as the window follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    pub(super) state: RepairState,
    /// `prev_ca_state`: the state at the ACK before.
    pub(super) before: RepairState,
    /// `packet_conservation`: whether each segment that leaves the network lets one enter it.
    pub(super) conserves: bool,
    /// `high_seq`: recovery ends when all segments below are acknowledged; `None` until an ACK shows the number.
    end: Option<u64>,
    /// Time of a timeout whose losses were not sampled yet.
    pub(super) timed_out_at: Option<Instant>,
}

impl Recovery {
    /// Starts recovery.
    pub(super) fn enter(&mut self, state: RepairState) {
        (self.state, self.end) = (state, None);
    }

    /// Ends recovery when everything that was outstanding at its start is acknowledged. If later segments are known to be lost, the
    /// next recovery starts with the same ACK, so that for the window it goes on (`tcp_time_to_recover`). Returns whether it does.
    fn on_sample(&mut self, sample: &RateSample) -> bool {
        if self.state == RepairState::Open || sample.una < *self.end.get_or_insert(sample.snd_max) {
            return false;
        }
        let goes_on = sample.unrepaired > 0;
        self.enter(if goes_on { RepairState::Recovery } else { RepairState::Open });
        self.end = goes_on.then_some(sample.snd_max);
        goes_on
    }
}

impl Bbr1 {
    /// Follows the state of recovery.
    pub(super) fn update_recovery(&mut self, sample: &RateSample) {
        if self.recovery.on_sample(sample) {
            self.save_cwnd();
        }
    }

    /// `bbr_save_cwnd`: saves the last window without the effect of losses or an RTT probe.
    pub(super) fn save_cwnd(&mut self) {
        // Within recovery or a probe the window is already reduced: keep the larger.
        let is_good = self.recovery.before == RepairState::Open && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: returns the window that losses leave, and whether it may not grow.
    pub(super) fn recovered_cwnd(&mut self, sample: &RateSample, losses: u64) -> (u64, bool) {
        let conserved = sample.in_flight + sample.newly_acked;
        let mut cwnd = if losses > 0 { self.cwnd.saturating_sub(losses).max(1) } else { self.cwnd };
        let (before, state) = (self.recovery.before, self.recovery.state);
        if state == RepairState::Recovery && before != RepairState::Recovery {
            // For a round, in which nothing is known of how much the path still takes.
            self.recovery.conserves = true;
            self.bandwidth.restart_round(sample.total_delivered);
            cwnd = conserved;
        } else if before != RepairState::Open && state == RepairState::Open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.recovery.conserves = false;
        }
        self.recovery.before = state;
        if self.recovery.conserves { (cwnd.max(conserved), true) } else { (cwnd, false) }
    }

    /// Samples the losses of a timeout, once all are marked (`bbr_set_state`): it ends a round, and shows a loss.
    pub(super) fn end_timeout(&mut self, now: Instant) {
        if self.recovery.timed_out_at.take().is_some() {
            self.bandwidth.is_round_start = true;
            self.sample_long_term(now, 1, false);
        }
    }
}
