//! Tahoe: a fast retransmit, then slow start from the first missing segment (Jacobson 1988; ns-2.35 `tcp.cc`).

use super::dupack_common::{is_new_window, limited_transmit, may_leave, next_in_window};
use super::{AckInput, LossRecovery, Outcome, SendAllowance};
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::Scoreboard;
use earlybird_units::Instant;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tahoe {
    limited_transmit: bool,
    duplicates: u32,
    /// One past the highest segment sent when the last reduction happened.
    recover: Option<u64>,
    /// The new segment of limited transmit.
    due: Option<u64>,
}

impl Tahoe {
    pub(crate) fn new(limited_transmit: bool) -> Self {
        Self { limited_transmit, ..Self::default() }
    }

    fn on_duplicate(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        self.duplicates += 1;
        let duplicates = self.duplicates;
        if input.is_loss(duplicates, scoreboard) && is_new_window(self.recover, scoreboard) {
            self.recover = Some(scoreboard.snd_max());
            scoreboard.rewind_nxt();
            // No recovery phase: slow start retransmits everything from the first hole.
            return Outcome::Loss { duplicates, flight: scoreboard.outstanding() };
        }
        if self.limited_transmit && duplicates < DUP_THRESH {
            self.due = limited_transmit(scoreboard, input.allowance, duplicates);
        }
        Outcome::Duplicate { counted: (duplicates <= DUP_THRESH).then_some(duplicates) }
    }
}

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        self.due = None;
        if input.ack.advanced > 0 {
            self.duplicates = 0;
            Outcome::Progress
        } else if input.ack.is_duplicate {
            self.on_duplicate(input, scoreboard)
        } else {
            if input.ack.is_partial_segment() {
                self.duplicates = 0;
            }
            Outcome::Nothing
        }
    }

    fn on_timeout(&mut self, _now: Instant, scoreboard: &mut Scoreboard) {
        // The count continues, as in ns-2: duplicates of segments sent before the timeout cause no second retransmission.
        self.recover = Some(scoreboard.snd_max());
        self.due = None;
        scoreboard.rewind_nxt();
    }

    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        let due = self.due.filter(|due| may_leave(*due, scoreboard, allowance, self.duplicates));
        due.or_else(|| next_in_window(scoreboard, allowance, allowance.usable()))
    }

    fn on_sent(&mut self, _now: Instant, _number: u64, _scoreboard: &Scoreboard) {
        self.due = None;
    }

    fn is_recovering(&self) -> bool {
        false
    }
}
