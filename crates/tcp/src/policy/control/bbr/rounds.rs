//! Rounds, counted by delivered packets (draft-ietf-ccwg-bbr, "`BBR.round_count`").

use crate::policy::control::path::RateSample;

/// A round ends when a segment is delivered that was sent after its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// `BBR.round_count`.
    pub(super) count: u64,
    /// `BBR.round_start`: whether the last ACK started a round.
    pub(super) is_start: bool,
    next_delivered: u64,
    /// Segments delivered so far.
    pub(super) delivered: u64,
}

impl Rounds {
    /// `UpdateRound`.
    pub(super) fn on_sample(&mut self, sample: &RateSample) {
        self.delivered = sample.total_delivered;
        self.is_start = sample.prior_delivered >= self.next_delivered;
        if self.is_start {
            self.restart();
            self.count += 1;
        }
    }

    /// `StartRound`: restarts the round.
    pub(super) fn restart(&mut self) {
        self.next_delivered = self.delivered;
    }
}
