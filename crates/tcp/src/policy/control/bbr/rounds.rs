//! Round trips counted by packets (draft-ietf-ccwg-bbr, "`BBR.round_count`").

use crate::policy::control::path::RateSample;

/// A round ends when something is delivered that was sent after it began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// `BBR.round_count`.
    pub(super) count: u64,
    /// `BBR.round_start`: the last ACK began a round.
    pub(super) is_start: bool,
    next_delivered: u64,
    /// All that was delivered so far.
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

    /// `StartRound`: the round begins anew.
    pub(super) fn restart(&mut self) {
        self.next_delivered = self.delivered;
    }
}
