//! ns-2's SACK sender, `Agent/TCP/Sack1` (Fall and Floyd 1996; ns-2.35 `tcp-sack1.cc`).
//!
//! `pipe` estimates the packets in flight: one less per ACK, one more per packet sent. Each hole below the highest `SACKed` packet
//! is retransmitted at once, and once per recovery.

use super::dupack_common::{is_new_window, limited_transmit, may_leave, next_in_usable_window, next_in_window};
use super::{AckInput, LossRecovery, Outcome, SendAllowance};
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::{Acknowledgement, Scoreboard};
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Sack1 {
    limited_transmit: bool,
    /// Whether a known hole blocks new data outside recovery, as in ns-2.
    hold_new_data: bool,
    duplicates: u32,
    recovering: bool,
    /// `snd_max` at the last reduction: no second one for the same window (ns-2's `recover_` with `bugFix_`).
    recover: Option<u64>,
    after_timeout: bool,
    pipe: i64,
    /// Holes below this number were retransmitted in this recovery (ns-2's `h_seqno_`).
    repaired_below: u64,
    /// A packet that is sent regardless of the window: the fast retransmit, or that of limited transmit.
    due: Option<u64>,
    /// Whether nothing is sent until the next event: ns-2 after a duplicate ACK outside recovery.
    is_held: bool,
}

impl Sack1 {
    pub(crate) fn new(limited_transmit: bool, hold_new_data: bool) -> Self {
        Self {
            limited_transmit,
            hold_new_data,
            duplicates: 0,
            recovering: false,
            recover: None,
            after_timeout: false,
            pipe: 0,
            repaired_below: 0,
            due: None,
            is_held: false,
        }
    }

    /// Processes an ACK of new data outside recovery. Unlike RFC 6675 §5, ns-2 never takes it for a duplicate: `recv` clears the
    /// scoreboard and reads no blocks. A batch of losses that one such ACK reports waits for the next duplicates.
    #[inline]
    fn on_progress(&mut self, scoreboard: &mut Scoreboard) -> Outcome {
        self.duplicates = 0;
        self.after_timeout = false;
        self.forget_sacked(scoreboard);
        Outcome::Progress
    }

    /// Resets the state that lasts until the next event.
    #[inline]
    fn end_event(&mut self) {
        self.is_held = false;
        self.due = None;
    }

    fn on_duplicate(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        // ns-2 ignores duplicates after a timeout, and those without a new SACK block.
        if self.after_timeout || !input.ack.has_new_sack {
            self.is_held = self.duplicates > 0;
            return Outcome::Duplicate { counted: None };
        }
        self.duplicates += 1;
        self.is_held = true;
        let duplicates = self.duplicates;
        if input.is_loss(duplicates, scoreboard) && is_new_window(self.recover, scoreboard) {
            self.enter(duplicates, scoreboard);
            return Outcome::Loss { duplicates, flight: scoreboard.outstanding() };
        }
        if self.limited_transmit && duplicates < DUP_THRESH {
            self.due = limited_transmit(scoreboard, input.allowance, duplicates);
        }
        Outcome::Duplicate { counted: Some(duplicates) }
    }

    fn enter(&mut self, duplicates: u32, scoreboard: &Scoreboard) {
        self.recovering = true;
        self.recover = Some(scoreboard.snd_max());
        // ns-2: `pipe_ = maxseq_ - highest_ack_ - numdupacks_`.
        self.pipe = scoreboard.outstanding().cast_signed() - i64::from(duplicates);
        self.repaired_below = self.repaired_below.max(scoreboard.una() + 1);
        self.duplicates = self.duplicates.max(DUP_THRESH);
        self.due = Some(scoreboard.una());
    }

    fn on_ack_in_recovery(&mut self, ack: &Acknowledgement, scoreboard: &mut Scoreboard) -> Outcome {
        self.pipe -= 1;
        if self.recover.is_some_and(|recover| scoreboard.una() >= recover) {
            self.recovering = false;
            self.recover = None;
            self.on_progress(scoreboard);
            return Outcome::RECOVERED;
        }
        if ack.advanced == 0 {
            return Outcome::Duplicate { counted: None };
        }
        // The partial ACK and the retransmission that caused it have both left the network.
        self.pipe -= 1;
        Outcome::PARTIAL
    }

    fn next_hole(&self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        scoreboard.next_hole(self.repaired_below).filter(|hole| hole - scoreboard.una() < allowance.wnd)
    }

    #[inline(never)]
    fn next_in_recovery(&self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if self.pipe >= allowance.cwnd as i64 {
            return None;
        }
        if scoreboard.next_hole(self.repaired_below).is_some() {
            self.next_hole(scoreboard, allowance)
        } else {
            next_in_window(scoreboard, allowance, allowance.wnd)
        }
    }

    /// Returns the next packet outside recovery. A hole has priority over new data, but ns-2 retransmits it only if `recover_` is set;
    /// otherwise it sends nothing, and a slow application causes no further duplicate ACKs.
    #[inline(never)]
    fn next_beside_holes(&self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if !allowance.has_room_after(scoreboard.nxt() - scoreboard.una()) {
            return None;
        }
        if scoreboard.next_hole(self.repaired_below).is_some() {
            let hole = self.recover.and_then(|_| self.next_hole(scoreboard, allowance));
            hole.or_else(|| if self.hold_new_data { None } else { next_in_usable_window(scoreboard, allowance) })
        } else {
            next_in_usable_window(scoreboard, allowance)
        }
    }

    fn forget_sacked(&mut self, scoreboard: &mut Scoreboard) {
        scoreboard.forget_sacked();
        self.repaired_below = 0;
    }
}

impl LossRecovery for Sack1 {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        let ack = input.ack;
        self.end_event();
        if self.recovering {
            self.on_ack_in_recovery(ack, scoreboard)
        } else if ack.advanced > 0 {
            self.on_progress(scoreboard)
        } else if ack.is_duplicate {
            self.on_duplicate(input, scoreboard)
        } else {
            if ack.is_partial_segment() {
                self.duplicates = 0;
            }
            self.is_held = self.duplicates > 0;
            Outcome::Nothing
        }
    }

    #[inline]
    fn is_open(&self) -> bool {
        !self.recovering
    }

    #[inline]
    fn on_plain_progress(&mut self, _now: Instant, _before: u64, _rtt: Option<Duration>, scoreboard: &mut Scoreboard) {
        self.end_event();
        self.on_progress(scoreboard);
    }

    fn on_write(&mut self) {
        self.is_held = false;
    }

    fn on_timeout(&mut self, _now: Instant, scoreboard: &mut Scoreboard) {
        self.duplicates = 0;
        self.recovering = false;
        self.recover = Some(scoreboard.snd_max());
        // ns-2 clears its scoreboard on a timeout (`scb_->ClearScoreBoard`).
        self.after_timeout = true;
        self.due = None;
        self.is_held = false;
        self.forget_sacked(scoreboard);
        scoreboard.rewind_nxt();
    }

    #[inline]
    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if let Some(due) = self.due {
            return may_leave(due, scoreboard, allowance, self.duplicates).then_some(due);
        }
        if self.is_held {
            None
        } else if self.recovering {
            self.next_in_recovery(scoreboard, allowance)
        } else if scoreboard.sacked().is_empty() {
            next_in_usable_window(scoreboard, allowance)
        } else {
            self.next_beside_holes(scoreboard, allowance)
        }
    }

    #[inline]
    fn on_sent(&mut self, _now: Instant, number: u64, scoreboard: &Scoreboard) {
        if self.due.take().is_some() {
            // `pipe` still counts the lost packet that the fast retransmit replaces; limited transmit happens before `pipe` is set.
            return;
        }
        self.pipe += 1;
        if !scoreboard.sacked().is_empty() && scoreboard.next_hole(self.repaired_below) == Some(number) {
            self.repaired_below = number + 1;
        }
    }

    /// Keeps `pipe`: the abandoned packet counts as the one that was lost, not again. Abandoning must not open the window.
    fn skip_abandoned(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        let pipe = self.pipe;
        self.on_sent(now, number, scoreboard);
        self.pipe = pipe;
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.recovering
    }
}
