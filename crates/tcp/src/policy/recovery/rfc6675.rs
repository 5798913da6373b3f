//! Conservative loss recovery based on SACK (RFC 6675), with limited transmit (RFC 3042).

use super::dupack_common::next_in_usable_window;
use super::{AckInput, LossRecovery, Outcome, SendAllowance};
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::Scoreboard;
use core::ops::Range;
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Rfc6675 {
    limited_transmit: bool,
    duplicates: u32,
    recovering: bool,
    /// One past the highest segment sent when the last reduction happened (`RecoveryPoint`).
    recovery_point: Option<u64>,
    /// Holes below this number were retransmitted in this recovery (one past `HighRxt`).
    retransmitted_below: u64,
    /// The highest segment of a rescue retransmission (`RescueRxt`): one per recovery, and none before the first retransmission is
    /// acknowledged.
    rescued: u64,
    /// Segments that limited transmit sent beyond the window since the last progress.
    limited: u64,
    /// Holes below this number counted as lost before the last ACK of this recovery.
    known_lost_below: u64,
    found_loss: bool,
    /// The fast retransmit, which is sent regardless of `pipe` (RFC 6675 step 4.3).
    due: Option<u64>,
}

impl Rfc6675 {
    pub(crate) fn new(limited_transmit: bool) -> Self {
        Self {
            limited_transmit,
            duplicates: 0,
            recovering: false,
            recovery_point: None,
            retransmitted_below: 0,
            rescued: 0,
            limited: 0,
            known_lost_below: 0,
            found_loss: false,
            due: None,
        }
    }

    /// Processes a cumulative ACK outside recovery. If SACK reports something new, it is the first duplicate as well and may start
    /// recovery ("regardless of its status as a cumulative acknowledgment", RFC 6675 §5).
    fn on_progress(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        self.reset_duplicates();
        // An ACK inside a segment acknowledges no segment, and the window does not grow.
        let progress = if input.ack.advanced > 0 { Outcome::Progress } else { Outcome::Nothing };
        if input.ack.has_new_sack { self.count_duplicate(input, scoreboard).unwrap_or(progress) } else { progress }
    }

    fn on_duplicate(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        if !input.ack.has_new_sack {
            return Outcome::Duplicate { counted: None };
        }
        let outcome = self.count_duplicate(input, scoreboard);
        outcome.unwrap_or(Outcome::Duplicate { counted: Some(self.duplicates) })
    }

    /// Counts an ACK with new SACK information, and enters recovery if it indicates loss.
    #[inline(never)]
    fn count_duplicate(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Option<Outcome> {
        self.duplicates += 1;
        let is_lost = lost_below(scoreboard) > scoreboard.una();
        // Enough segments SACKed at once count as the third duplicate (RFC 6675 step 2).
        let duplicates = if is_lost { self.duplicates.max(DUP_THRESH) } else { self.duplicates };
        let is_new_window = self.recovery_point.is_none_or(|point| scoreboard.una() >= point);
        if !(is_new_window && (is_lost || input.is_loss(duplicates, scoreboard))) {
            return None;
        }
        // Segments of limited transmit do not count as flight (RFC 6675 step 4.2 by RFC 5681 §3.2); those that this ACK
        // acknowledges do, as in RFC 9937 §6.1 (`RecoverFS`).
        let flight = (scoreboard.outstanding() + input.ack.advanced).saturating_sub(self.limited);
        self.enter(scoreboard);
        Some(Outcome::Loss { duplicates, flight })
    }

    fn reset_duplicates(&mut self) {
        self.duplicates = 0;
        self.limited = 0;
    }

    fn enter(&mut self, scoreboard: &Scoreboard) {
        self.recovering = true;
        self.recovery_point = Some(scoreboard.snd_max());
        self.retransmitted_below = scoreboard.una() + 1;
        self.rescued = scoreboard.una();
        self.known_lost_below = lost_below(scoreboard);
        self.found_loss = true;
        // There may be nothing to retransmit: the real-time mode abandons missing frames.
        self.due = (scoreboard.outstanding() > 0).then(|| scoreboard.una());
    }

    /// Detects holes that count as lost since the last ACK.
    fn detect_losses(&mut self, scoreboard: &Scoreboard) {
        let below = lost_below(scoreboard);
        let known = self.known_lost_below.max(scoreboard.una());
        self.found_loss = known < below && unsacked(scoreboard, known..below) > 0;
        self.known_lost_below = below;
    }

    /// Returns the next segment by `NextSeg` (RFC 6675 §4), rules 1 to 4.
    fn next_segment(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        let hole = scoreboard.next_hole(self.retransmitted_below);
        // Rule 1: lost holes first; rule 2: new data; rule 3: any other hole; rule 4: the rescue.
        if let Some(hole) = hole.filter(|hole| *hole < lost_below(scoreboard)) {
            return Some(hole);
        }
        let new = (allowance.has_new && scoreboard.snd_max() - scoreboard.una() < allowance.wnd)
            .then(|| scoreboard.snd_max());
        new.or(hole).or_else(|| self.rescue(scoreboard))
    }

    #[inline(never)]
    fn next_in_recovery(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if self.pipe(scoreboard) as f64 + 1.0 <= allowance.cwnd {
            self.next_segment(scoreboard, allowance)
        } else {
            None
        }
    }

    fn rescue(&mut self, scoreboard: &Scoreboard) -> Option<u64> {
        let candidate =
            (scoreboard.una()..scoreboard.snd_max()).rev().find(|&number| !scoreboard.sacked().contains(number))?;
        // Rule 4 applies once SND.UNA has passed `RescueRxt`, and to segments not retransmitted yet.
        if scoreboard.una() <= self.rescued + 1 || candidate < self.retransmitted_below {
            return None;
        }
        self.rescued = scoreboard.snd_max();
        Some(candidate)
    }

    #[inline(never)]
    fn next_outside_recovery(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        let number = next_unsacked(scoreboard, scoreboard.nxt());
        let is_sendable = number < scoreboard.snd_max() || allowance.has_new;
        let sacked =
            if self.limited_transmit || self.duplicates == 0 { scoreboard.sacked().count_below(number) } else { 0 };
        // Outside recovery SACKed segments make room (limited transmit, RFC 6675 step 3).
        let in_flight = number - scoreboard.una() - sacked;
        let in_window = allowance.has_room_after(in_flight) && number - scoreboard.una() < allowance.wnd;
        if !(is_sendable && in_window) {
            return None;
        }
        let is_beyond =
            self.duplicates > 0 && number == scoreboard.snd_max() && scoreboard.outstanding() >= allowance.usable();
        self.limited += u64::from(is_beyond);
        Some(number)
    }
}

/// Returns the number below which every hole is lost: three segments are `SACKed` above it (`IsLost`, RFC 6675 §4). The three
/// discontiguous ranges of that rule always have at least three segments.
fn lost_below(scoreboard: &Scoreboard) -> u64 {
    let threshold = u64::from(DUP_THRESH);
    let mut segments = 0;
    for range in scoreboard.sacked().as_slice().iter().rev() {
        segments += range.end - range.start;
        if segments >= threshold {
            return range.start;
        }
    }
    0
}

fn unsacked(scoreboard: &Scoreboard, numbers: Range<u64>) -> u64 {
    let sacked = scoreboard.sacked().count_below(numbers.end) - scoreboard.sacked().count_below(numbers.start);
    numbers.end.saturating_sub(numbers.start).saturating_sub(sacked)
}

fn next_unsacked(scoreboard: &Scoreboard, from: u64) -> u64 {
    if from >= scoreboard.sacked().end() {
        return from;
    }
    let holder = scoreboard.sacked().as_slice().iter().find(|range| range.contains(&from));
    holder.map_or(from, |range| range.end)
}

impl LossRecovery for Rfc6675 {
    fn needs_sack(&self) -> bool {
        true
    }

    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        let ack = input.ack;
        // Pacing may still delay the retransmission: keep it until it is acknowledged.
        self.due = self.due.filter(|due| *due >= scoreboard.una());
        if self.recovering && self.recovery_point.is_some_and(|point| scoreboard.una() >= point) {
            self.recovering = false;
            self.reset_duplicates();
            Outcome::RECOVERED
        } else if self.recovering {
            self.reset_duplicates();
            self.detect_losses(scoreboard);
            if ack.advanced > 0 { Outcome::PARTIAL } else { Outcome::Duplicate { counted: None } }
        } else if ack.bytes > 0 {
            self.on_progress(input, scoreboard)
        } else if !(ack.is_duplicate || ack.has_new_sack) {
            Outcome::Duplicate { counted: None }
        } else {
            self.on_duplicate(input, scoreboard)
        }
    }

    #[inline]
    fn is_open(&self) -> bool {
        !self.recovering
    }

    #[inline]
    fn on_plain_progress(&mut self, _now: Instant, _before: u64, _rtt: Option<Duration>, _scoreboard: &mut Scoreboard) {
        self.reset_duplicates();
    }

    fn on_timeout(&mut self, _now: Instant, scoreboard: &mut Scoreboard) {
        // RFC 6675 §5.1: no new recovery for data sent before; SACKed data is not retransmitted.
        self.recovery_point = Some(scoreboard.snd_max());
        self.recovering = false;
        self.reset_duplicates();
        self.due = None;
        if scoreboard.sacked().contains(scoreboard.una()) {
            // The receiver has discarded SACKed data (reneging, RFC 2018 §8).
            scoreboard.forget_sacked();
        }
        scoreboard.rewind_nxt();
    }

    fn abort_recovery(&mut self, scoreboard: &mut Scoreboard) {
        self.recovering = false;
        self.recovery_point = None;
        self.reset_duplicates();
        self.due = None;
        scoreboard.skip_to_new();
    }

    #[inline]
    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if self.due.is_some() {
            self.due
        } else if self.recovering {
            self.next_in_recovery(scoreboard, allowance)
        } else if self.duplicates == 0 && scoreboard.sacked().is_empty() {
            next_in_usable_window(scoreboard, allowance)
        } else {
            self.next_outside_recovery(scoreboard, allowance)
        }
    }

    #[inline]
    fn on_sent(&mut self, _now: Instant, number: u64, scoreboard: &Scoreboard) {
        self.due = None;
        if self.recovering && scoreboard.next_hole(self.retransmitted_below) == Some(number) {
            self.retransmitted_below = number + 1;
        }
    }

    fn visit_lost(&self, scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        (scoreboard.nxt()..scoreboard.snd_max())
            .filter(|number| !scoreboard.sacked().contains(*number))
            .for_each(&mut *visit);
        if !self.recovering {
            return;
        }
        self.due.into_iter().for_each(&mut *visit);
        let below = lost_below(scoreboard);
        let mut from = self.retransmitted_below;
        while let Some(hole) = scoreboard.next_hole(from).filter(|hole| *hole < below) {
            visit(hole);
            from = hole + 1;
        }
    }

    /// Returns `pipe` by `SetPipe` (RFC 6675 §4): segments that are neither `SACKed` nor lost, and retransmitted ones.
    fn pipe(&self, scoreboard: &Scoreboard) -> u64 {
        let first_not_lost = lost_below(scoreboard).max(scoreboard.una());
        let retransmitted = unsacked(scoreboard, scoreboard.una()..self.retransmitted_below);
        // `retransmitted_below` includes the fast retransmit, which may not have been sent yet.
        unsacked(scoreboard, first_not_lost..scoreboard.snd_max())
            + retransmitted.saturating_sub(u64::from(self.due.is_some()))
    }

    fn found_loss(&self) -> bool {
        self.found_loss
    }

    fn is_recovering(&self) -> bool {
        self.recovering
    }
}
