//! Fast recovery (RFC 5681 §3.2; ns-2.35 `tcp-reno.cc`): each duplicate ACK inflates the window by the segment that has left the
//! network, until new data is acknowledged.

use super::dupack_common::{RecoveryRules, is_new_window, limited_transmit, may_leave, next_in_window};
use super::{AckInput, LossRecovery, Outcome, SendAllowance};
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::Scoreboard;
use earlybird_units::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Reno {
    pub(super) rules: RecoveryRules,
    limited_transmit: bool,
    /// Whether three duplicates always start a recovery, even within a window that was already reduced.
    second_fast_retransmit: bool,
    pub(super) duplicates: u32,
    pub(super) recovering: bool,
    /// One past the highest segment sent when the last reduction happened.
    pub(super) recover: Option<u64>,
    /// The inflation of the window in segments (ns-2's `dupwnd_`); negative after partial ACKs of RFC 6582.
    pub(super) inflation: i64,
    /// Segments that limited transmit sent since the last progress.
    limited: u64,
    /// A segment that is sent regardless of the window: the fast retransmit, or that of limited transmit.
    pub(super) due: Option<u64>,
    /// Whether nothing is sent until the next event: ns-2 after the first two duplicates.
    is_held: bool,
}

impl Reno {
    pub(crate) fn new(rules: RecoveryRules, limited_transmit: bool, second_fast_retransmit: bool) -> Self {
        Self {
            rules,
            limited_transmit,
            second_fast_retransmit,
            duplicates: 0,
            recovering: false,
            recover: None,
            inflation: 0,
            limited: 0,
            due: None,
            is_held: false,
        }
    }

    /// Processes an ACK of new data, which ends recovery.
    pub(super) fn on_progress(&mut self) -> Outcome {
        let was_recovering = self.recovering;
        // ns-2 does not leave recovery if a partial ACK has just reduced the inflation to zero.
        self.recovering &= self.rules == RecoveryRules::Ns2 && self.inflation == 0;
        self.inflation = 0;
        self.duplicates = 0;
        self.limited = 0;
        self.is_held = false;
        // RFC 5681 §3.2 step 6 deflates to ssthresh; ns-2 lets the same ACK grow the window.
        if was_recovering && self.rules == RecoveryRules::Rfc { Outcome::RECOVERED } else { Outcome::Progress }
    }

    fn on_duplicate(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        self.duplicates += 1;
        let duplicates = self.duplicates;
        if input.is_loss(duplicates, scoreboard) && self.may_enter(scoreboard) {
            self.enter(scoreboard);
            // Segments of limited transmit do not count as flight (RFC 5681 §3.2 step 2).
            return Outcome::Loss { duplicates, flight: scoreboard.outstanding().saturating_sub(self.limited) };
        }
        if duplicates > DUP_THRESH {
            // Step 4: one segment per further duplicate.
            self.inflation += i64::from(self.recovering);
            return Outcome::Duplicate { counted: None };
        }
        if self.limited_transmit && duplicates < DUP_THRESH {
            self.due = limited_transmit(scoreboard, input.allowance, duplicates);
        }
        Outcome::Duplicate { counted: Some(duplicates) }
    }

    /// Resets the count on an ACK of part of a segment: duplicates must be consecutive (RFC 5681 §3.2).
    fn reset_duplicates_on_partial_segment(&mut self, input: &AckInput<'_>) {
        if input.ack.is_partial_segment() && !self.recovering {
            self.duplicates = 0;
            self.limited = 0;
        }
    }

    fn may_enter(&self, scoreboard: &Scoreboard) -> bool {
        self.second_fast_retransmit || is_new_window(self.recover, scoreboard)
    }

    fn enter(&mut self, scoreboard: &Scoreboard) {
        self.recovering = true;
        self.recover = Some(scoreboard.snd_max());
        // RFC 5681 §3.2 step 3: ssthresh plus the three segments that have left the network.
        self.inflation = i64::from(self.duplicates);
        self.duplicates = DUP_THRESH;
        self.due = Some(scoreboard.una());
    }

    /// Returns the window with its inflation, in whole segments.
    fn window(&self, allowance: &SendAllowance) -> u64 {
        let inflated = allowance.usable().cast_signed() + self.inflation;
        // One segment may always be in flight: deflation never closes the window.
        inflated.max(i64::from(self.recovering)).cast_unsigned().min(allowance.wnd)
    }
}

impl LossRecovery for Reno {
    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        if input.ack.advanced > 0 || !self.recovering {
            self.due = None;
        }
        let outcome = if input.ack.advanced > 0 {
            self.on_progress()
        } else if input.ack.is_duplicate {
            self.on_duplicate(input, scoreboard)
        } else {
            self.reset_duplicates_on_partial_segment(input);
            Outcome::Nothing
        };
        self.is_held = self.rules == RecoveryRules::Ns2 && (1..DUP_THRESH).contains(&self.duplicates);
        outcome
    }

    fn on_write(&mut self) {
        self.is_held = false;
    }

    fn on_timeout(&mut self, _now: Instant, scoreboard: &mut Scoreboard) {
        let fresh = Self::new(self.rules, self.limited_transmit, self.second_fast_retransmit);
        *self = Self { recover: Some(scoreboard.snd_max()), ..fresh };
        scoreboard.rewind_nxt();
    }

    fn abort_recovery(&mut self, scoreboard: &mut Scoreboard) {
        *self = Self::new(self.rules, self.limited_transmit, self.second_fast_retransmit);
        scoreboard.skip_to_new();
    }

    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if let Some(due) = self.due {
            may_leave(due, scoreboard, allowance, self.duplicates).then_some(due)
        } else if self.is_held {
            None
        } else {
            next_in_window(scoreboard, allowance, self.window(allowance))
        }
    }

    fn on_sent(&mut self, _now: Instant, _number: u64, _scoreboard: &Scoreboard) {
        let was_due = self.due.take().is_some();
        self.limited += u64::from(was_due && self.duplicates < DUP_THRESH);
    }

    fn visit_lost(&self, _scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        self.due.filter(|_| self.recovering).into_iter().for_each(visit);
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }
}
