//! F-RTO (RFC 5682): after a timeout new data go first. If what the next ACK acknowledges was sent before the timeout, the
//! timeout was needless.

use crate::scoreboard::{Acknowledgement, Scoreboard};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ForwardRto {
    step: Step,
    /// One past the highest segment at the last timeout (`recover`).
    recover: u64,
    /// The peer tells what it has got beyond a hole.
    has_sack: bool,
    resumes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    /// No timeout, or an ordinary recovery from one.
    #[default]
    Idle,
    /// Step 2: waits for the ACK of the segment sent again.
    Repeated(u64),
    /// Step 3: so many new segments may still go, and nothing else; waits for the next ACK.
    Forward(u64),
}

/// RFC 5682 §2.1, step 2b.
const NEW_SEGMENTS: u64 = 2;

impl ForwardRto {
    pub(crate) fn use_sack(&mut self) {
        self.has_sack = true;
    }

    /// Step 1. A timeout during the recovery from another one is not examined.
    pub(super) fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        let is_first = scoreboard.una() >= self.recover && scoreboard.una() > 0;
        self.step = if is_first { Step::Repeated(scoreboard.una()) } else { Step::Idle };
        self.recover = scoreboard.smax();
        self.resumes = false;
    }

    /// Returns whether the timeout proves needless.
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard, has_new: bool) -> bool {
        match self.step {
            Step::Idle => false,
            Step::Repeated(number) => {
                self.after_repetition(number, ack, scoreboard, has_new);
                false
            }
            Step::Forward(_) => self.after_new_data(ack, scoreboard),
        }
    }

    /// Step 2: new data go next, if the ACK covers the segment sent again but not everything, and if there are any.
    fn after_repetition(&mut self, number: u64, ack: &Acknowledgement, scoreboard: &Scoreboard, has_new: bool) {
        if ack.advanced == 0 {
            // With SACK, duplicates may come before (§3.1, step 2); a part of the segment does not do (§2.1, step 2a).
            self.step = if self.has_sack && !ack.is_partial_segment() { self.step } else { Step::Idle };
            return;
        }
        let is_examined = scoreboard.una() > number && scoreboard.una() < self.recover && has_new;
        self.step = if is_examined { Step::Forward(NEW_SEGMENTS) } else { Step::Idle };
        self.recover = scoreboard.smax();
    }

    /// Step 3: without SACK a second step forward decides (§2.1); with SACK any news from below `recover` does, unless
    /// something above arrived (§3.1). An ACK that covers what was stepped over proves nothing, and ends the wait.
    fn after_new_data(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard) -> bool {
        if ack.delivered == 0 && !ack.is_duplicate && ack.skipped == 0 {
            return false;
        }
        let is_above = scoreboard.una() > self.recover || scoreboard.sacked().end() > self.recover;
        let is_needless = if self.has_sack { ack.delivered > 0 && !is_above } else { ack.advanced > 0 };
        let is_needless = is_needless && ack.skipped == 0;
        self.step = Step::Idle;
        self.resumes = !is_needless;
        is_needless
    }

    /// Returns whether new data, and nothing else, may go: how many segments.
    pub(crate) fn forward(&self) -> Option<u64> {
        match self.step {
            Step::Forward(segments) => Some(segments),
            Step::Idle | Step::Repeated(_) => None,
        }
    }

    /// Returns whether it waits for no ACK, and has nothing to tell.
    pub(super) fn is_idle(&self) -> bool {
        self.step == Step::Idle && !self.resumes
    }

    pub(crate) fn on_sent_new(&mut self) {
        if let Step::Forward(segments) = &mut self.step {
            // A bare FIN waits for no window, and goes beyond this limit too.
            *segments = segments.saturating_sub(1);
        }
    }

    /// Says, once, whether the ordinary recovery that was held up must go on.
    pub(crate) fn take_resumption(&mut self) -> bool {
        core::mem::take(&mut self.resumes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by the program of hostile segments: the count went below zero.
    #[test]
    fn a_fin_behind_the_last_new_segment_is_not_counted() {
        let mut rule = ForwardRto { step: Step::Forward(NEW_SEGMENTS), ..ForwardRto::default() };
        for left in [1, 0, 0] {
            rule.on_sent_new();
            assert_eq!(rule.forward(), Some(left));
        }
    }
}
