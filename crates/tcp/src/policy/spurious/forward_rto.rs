//! F-RTO (RFC 5682): after a timeout new data is sent first. If the next ACK acknowledges data that was sent before the timeout,
//! the timeout was spurious.

use crate::scoreboard::{Acknowledgement, Scoreboard};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ForwardRto {
    step: Step,
    /// One past the highest segment at the last timeout (`recover`).
    recover: u64,
    /// Whether SACK is used.
    has_sack: bool,
    resumes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    /// No timeout, or an ordinary recovery from one.
    #[default]
    Idle,
    /// Step 2: waits for the ACK of the retransmitted segment.
    Retransmitted(u64),
    /// Step 3: this many new segments may still be sent, and nothing else; waits for the next ACK.
    Forward(u64),
}

/// The number of new segments (RFC 5682 §2.1, step 2b).
const NEW_SEGMENTS: u64 = 2;

impl ForwardRto {
    pub(crate) fn use_sack(&mut self) {
        self.has_sack = true;
    }

    /// Step 1. A timeout during the recovery from another one is not checked.
    pub(super) fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        let is_first = scoreboard.una() >= self.recover && scoreboard.una() > 0;
        self.step = if is_first { Step::Retransmitted(scoreboard.una()) } else { Step::Idle };
        self.recover = scoreboard.snd_max();
        self.resumes = false;
    }

    /// Returns whether the timeout proves spurious.
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard, has_new: bool) -> bool {
        match self.step {
            Step::Idle => false,
            Step::Retransmitted(number) => {
                self.after_retransmission(number, ack, scoreboard, has_new);
                false
            }
            Step::Forward(_) => self.after_new_data(ack, scoreboard),
        }
    }

    /// Step 2: sends new data if the ACK covers the retransmitted segment but not everything, and if there is new data.
    fn after_retransmission(&mut self, number: u64, ack: &Acknowledgement, scoreboard: &Scoreboard, has_new: bool) {
        if ack.advanced == 0 {
            // With SACK, duplicates may arrive before (§3.1, step 2); an ACK of part of the segment ends F-RTO (§2.1, step 2a).
            self.step = if self.has_sack && !ack.is_partial_segment() { self.step } else { Step::Idle };
            return;
        }
        // RFC 5682 §2.1, step 2: an ACK of everything, or no new data, leaves nothing to probe with.
        let is_examined = scoreboard.una() > number && scoreboard.una() < self.recover && has_new;
        self.step = if is_examined { Step::Forward(NEW_SEGMENTS) } else { Step::Idle };
        self.recover = scoreboard.snd_max();
    }

    /// Step 3: without SACK a second advance decides (§2.1); with SACK any newly acknowledged data below `recover` does, unless data
    /// above it arrived (§3.1). An ACK that covers skipped data proves nothing and ends F-RTO.
    fn after_new_data(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard) -> bool {
        if ack.delivered == 0 && !ack.is_duplicate && ack.skipped == 0 {
            return false;
        }
        // Data above `recover` may be the new segments themselves: they prove nothing about the old ones.
        let is_above = scoreboard.una() > self.recover || scoreboard.sacked().end() > self.recover;
        let is_spurious = if self.has_sack { ack.delivered > 0 && !is_above } else { ack.advanced > 0 };
        let is_spurious = is_spurious && ack.skipped == 0;
        self.step = Step::Idle;
        self.resumes = !is_spurious;
        is_spurious
    }

    /// Returns the number of new segments that may be sent, if nothing else may.
    pub(crate) fn forward(&self) -> Option<u64> {
        match self.step {
            Step::Forward(segments) => Some(segments),
            Step::Idle | Step::Retransmitted(_) => None,
        }
    }

    /// Returns whether it waits for no ACK and has no result.
    pub(super) fn is_idle(&self) -> bool {
        self.step == Step::Idle && !self.resumes
    }

    pub(crate) fn on_sent_new(&mut self) {
        if let Step::Forward(segments) = &mut self.step {
            // A bare FIN is not limited by the window and may exceed this count.
            *segments = segments.saturating_sub(1);
        }
    }

    /// Returns, once, whether the delayed conventional recovery must continue.
    pub(crate) fn take_resumption(&mut self) -> bool {
        core::mem::take(&mut self.resumes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by the tests with adversarial segments: the count went below zero.
    #[test]
    fn a_fin_behind_the_last_new_segment_is_not_counted() {
        let mut rule = ForwardRto { step: Step::Forward(NEW_SEGMENTS), ..ForwardRto::default() };
        for left in [1, 0, 0] {
            rule.on_sent_new();
            assert_eq!(rule.forward(), Some(left));
        }
    }
}
