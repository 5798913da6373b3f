//! `NewReno`: fast recovery until all data sent before it is acknowledged (RFC 6582; ns-2.35 `tcp-newreno.cc`). Each partial ACK
//! indicates the next lost segment.

use super::dupack_common::RecoveryRules;
use super::reno::Reno;
use super::{AckInput, LossRecovery, Outcome, PartialTimer, SendAllowance};
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::Scoreboard;
use earlybird_units::Instant;

/// Parameters of `NewReno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRenoFlags {
    /// Whether only the first partial ACK restarts the retransmission timer (RFC 6582 §4, "impatient"; ns-2's `newreno_changes1_`).
    pub is_impatient: bool,
    /// Whether a partial ACK deflates the window by the acknowledged data (RFC 6582 §3.2 step 3; ns-2's
    /// `partial_window_deflation_`); otherwise it ends the inflation.
    pub deflates: bool,
}

impl Default for NewRenoFlags {
    fn default() -> Self {
        Self { is_impatient: true, deflates: true }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NewReno {
    reno: Reno,
    flags: NewRenoFlags,
    has_partial: bool,
    /// Segments that this event may still send: ns-2 sends at most two at a time during recovery.
    burst: Option<u32>,
}

/// ns-2's `maxburst` in recovery.
const BURST: u32 = 2;

impl NewReno {
    pub(crate) fn new(rules: RecoveryRules, flags: NewRenoFlags, limited_transmit: bool) -> Self {
        Self { reno: Reno::new(rules, limited_transmit, false), flags, has_partial: false, burst: None }
    }

    fn is_partial(&self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> bool {
        let is_below = self.reno.recover.is_some_and(|recover| scoreboard.una() < recover);
        input.ack.advanced > 0 && self.reno.recovering && is_below
    }

    fn on_partial(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        let is_later = self.flags.is_impatient && self.has_partial;
        let timer = if is_later { PartialTimer::Continue } else { PartialTimer::Restart };
        self.has_partial = true;
        self.reno.due = Some(scoreboard.una());
        let surplus = self.deflate(input.ack.advanced.cast_signed());
        Outcome::Partial { surplus, timer }
    }

    /// Deflates the window by `acked` segments less the retransmitted one, and returns the part that exceeds the inflation.
    fn deflate(&mut self, acked: i64) -> f64 {
        let inflation = self.reno.inflation;
        let (rest, surplus) = match self.reno.rules {
            _ if !self.flags.deflates => (0, 0),
            // The inflation may become negative; the end of recovery resets it.
            RecoveryRules::Rfc => (inflation - (acked - 1), 0),
            RecoveryRules::Ns2 if inflation > acked => (inflation - (acked - 1), 0),
            // ns-2 keeps an inflation of 1 and takes the rest from cwnd (`partial_window_deflation_`).
            RecoveryRules::Ns2 => (1, acked - inflation),
        };
        self.reno.inflation = rest;
        surplus as f64
    }

    /// Processes a full ACK. Recovery ends with at most one segment above the flight, against bursts (RFC 6582 §3.2 step 3, option
    /// 1); ns-2 has no such bound.
    fn on_full(&mut self, allowance: &SendAllowance, scoreboard: &Scoreboard) -> Outcome {
        self.has_partial = false;
        let outcome = self.reno.on_progress();
        if outcome != Outcome::RECOVERED {
            return outcome;
        }
        let bound = scoreboard.outstanding().max(1) + 1;
        Outcome::Recovered { surplus: (allowance.cwnd - bound as f64).max(0.0) }
    }
}

impl LossRecovery for NewReno {
    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        let outcome = if self.is_partial(input, scoreboard) {
            self.on_partial(input, scoreboard)
        } else if input.ack.advanced > 0 {
            self.reno.due = None;
            self.on_full(input.allowance, scoreboard)
        } else {
            self.reno.on_ack(input, scoreboard)
        };
        // `tcp-newreno.cc`, `recv`: at most two segments per ACK while `dupacks_` is at least 3.
        let is_slow = self.reno.rules == RecoveryRules::Ns2 && self.reno.duplicates >= DUP_THRESH;
        self.burst = is_slow.then_some(BURST);
        outcome
    }

    fn on_write(&mut self) {
        self.burst = None;
        self.reno.on_write();
    }

    fn on_timeout(&mut self, now: Instant, scoreboard: &mut Scoreboard) {
        self.burst = None;
        self.has_partial = false;
        self.reno.on_timeout(now, scoreboard);
    }

    fn abort_recovery(&mut self, scoreboard: &mut Scoreboard) {
        self.burst = None;
        self.has_partial = false;
        self.reno.abort_recovery(scoreboard);
    }

    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        // The fast retransmit is exempt from the burst limit.
        if self.reno.due.is_none() && self.burst == Some(0) { None } else { self.reno.next(scoreboard, allowance) }
    }

    fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        if self.reno.due.is_none() {
            self.burst = self.burst.map(|left| left.saturating_sub(1));
        }
        self.reno.on_sent(now, number, scoreboard);
    }

    fn visit_lost(&self, scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        self.reno.visit_lost(scoreboard, visit);
    }

    fn is_recovering(&self) -> bool {
        self.reno.recovering
    }
}
