//! Rounds and the bandwidth of the path (`bbr_update_bw`).

use super::filter::WindowedMax;
use crate::policy::control::path::RateSample;

/// `bbr_bw_rtts`: a gain cycle and two rounds.
const WINDOW_ROUNDS: u64 = 10;

/// Rounds, counted by delivered segments, and the largest delivery rate of the last ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bandwidth {
    filter: WindowedMax<WINDOW_ROUNDS>,
    /// `rtt_cnt`.
    rounds: u64,
    /// `next_rtt_delivered`.
    next_delivered: u64,
    /// Whether the last ACK started a round.
    pub(super) is_round_start: bool,
}

impl Bandwidth {
    /// `bbr_max_bw`, in segments per second.
    pub(super) fn max(&self) -> f64 {
        self.filter.max()
    }

    /// Starts a round if a segment was delivered that was sent after the start of the last one; returns whether it did.
    pub(super) fn update_round(&mut self, sample: &RateSample) -> bool {
        self.is_round_start = sample.prior_delivered >= self.next_delivered;
        if self.is_round_start {
            self.restart_round(sample.total_delivered);
            self.rounds += 1;
        }
        self.is_round_start
    }

    /// Lets the round last until a segment is delivered that is sent after so many were.
    pub(super) fn restart_round(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    /// Processes a delivery rate. One that the application limited shows the path only if it is the largest.
    pub(super) fn on_rate(&mut self, rate: f64, is_app_limited: bool) {
        if !is_app_limited || rate >= self.max() {
            self.filter.note(self.rounds, rate);
        }
    }
}
