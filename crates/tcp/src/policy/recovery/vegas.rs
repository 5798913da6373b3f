//! The recovery of Vegas in ns-2 (Brakmo and Peterson 1995; ns-2.35 `tcp-vegas.cc`): a fine-grained timer per segment detects a
//! loss on the first duplicate, and on the first two ACKs after a retransmission.

use super::LostSegmentInfo;
use super::{AckInput, LossRecovery, Outcome, SendAllowance, VegasProgress};
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::Scoreboard;
use alloc::vec;
use alloc::vec::Vec;
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    slots: Vec<Slot>,
    /// The time of the SYN.
    origin: Instant,
    timer: FineTimer,
    duplicates: u32,
    /// One past the highest segment sent when the last loss was detected.
    recover: Option<u64>,
    after_timeout: bool,
    /// The number of further ACKs that check the next segment (ns-2's `v_worried_`).
    checks_left: u64,
    due: Option<u64>,
    /// Whether nothing is sent until the next event: ns-2 after the first two duplicates.
    is_held: bool,
    /// A retransmission that was the next segment in sequence anyway: ns-2 sends it once more.
    resent_next: Option<u64>,
}

/// The time of a segment's last transmission, and the number of them. ns-2 has one slot per number modulo the window, and
/// does not clear the slots of an ACK that wrap around.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    departed: Option<Instant>,
    transmissions: u32,
}

/// The fine-grained timeout in seconds, from eight times the smoothed RTT and four times the mean deviation: srtt + 2·rttvar, and
/// 1/16 more.
#[derive(Clone, Copy, Debug, Default)]
struct FineTimer {
    smoothed: f64,
    deviation: f64,
    timeout: f64,
}

impl FineTimer {
    fn start(rtt: Duration) -> Self {
        let rtt = rtt.as_secs_f64();
        // ns-2 starts with the RTT of the SYN in both.
        Self { smoothed: 8.0 * rtt, deviation: rtt, timeout: 1.5 * rtt }
    }

    fn on_sample(&mut self, rtt: Duration) {
        let error = rtt.as_secs_f64() - self.smoothed / 8.0;
        self.smoothed += error;
        self.deviation += error.abs() - self.deviation / 4.0;
        self.timeout = f64::midpoint(self.smoothed / 4.0, self.deviation);
        self.timeout += self.timeout / 16.0;
    }

    fn back_off(&mut self, was_retransmitted: bool) {
        self.timeout += if was_retransmitted { self.timeout } else { self.timeout / 8.0 };
    }
}

impl Vegas {
    /// Returns the recovery of a sender whose largest window is `window` segments.
    pub(crate) fn new(window: u32) -> Self {
        Self {
            slots: vec![Slot::default(); window as usize],
            origin: Instant::ZERO,
            timer: FineTimer::default(),
            duplicates: 0,
            recover: None,
            after_timeout: false,
            checks_left: 0,
            due: None,
            is_held: false,
            resent_next: None,
        }
    }

    fn index(&self, number: u64) -> usize {
        (number % self.slots.len() as u64) as usize
    }

    fn slot(&self, number: u64) -> Slot {
        self.slots[self.index(number)]
    }

    fn nxt(&self, scoreboard: &Scoreboard) -> u64 {
        self.resent_next.filter(|number| *number >= scoreboard.una()).unwrap_or_else(|| scoreboard.nxt())
    }

    /// Returns whether the first missing segment is older than the fine-grained timeout. In ns-2 a segment that was never sent is a
    /// second older than the connection.
    fn is_expired(&self, now: Instant, scoreboard: &Scoreboard) -> bool {
        let unsent = || (now - self.origin) + Duration::from_secs(1);
        let age = self.slot(scoreboard.una()).departed.map_or_else(unsent, |departed| now - departed);
        age.as_secs_f64() >= self.timer.timeout
    }

    fn on_progress(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        let duplicates = core::mem::take(&mut self.duplicates);
        self.resent_next = self.resent_next.filter(|number| *number >= scoreboard.una());
        let nxt = self.nxt(scoreboard);
        let rtt = self.measure(input.now, scoreboard.una() - 1);
        self.clear(scoreboard.una() - input.ack.advanced, scoreboard.una() - 1);
        if let Some(rtt) = rtt {
            self.timer.on_sample(rtt);
        }
        if self.checks_left > 0 {
            self.check_next(input, scoreboard);
        }
        Outcome::VegasProgress(VegasProgress { duplicates, nxt, rtt })
    }

    fn measure(&self, now: Instant, number: u64) -> Option<Duration> {
        let slot = self.slot(number);
        // Karn's rule: retransmitted segments give no sample.
        slot.departed.filter(|_| slot.transmissions == 1).map(|departed| now - departed)
    }

    fn clear(&mut self, first: u64, last: u64) {
        let (first, last) = (self.index(first), self.index(last));
        // ns-2 clears by index and does nothing if the range wraps around the ring.
        if first <= last {
            self.slots[first..=last].fill(Slot::default());
        }
    }

    /// Checks on one of the first two ACKs after a retransmission whether the next segment is lost too.
    fn check_next(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) {
        self.checks_left -= 1;
        if !self.is_expired(input.now, scoreboard) {
            self.checks_left = 0;
            return;
        }
        self.duplicates = DUP_THRESH;
        self.due = first_due(input, scoreboard).or(self.due);
    }

    fn on_duplicate(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        self.duplicates += 1;
        let duplicates = self.duplicates;
        if !self.is_expired(input.now, scoreboard) && duplicates != DUP_THRESH {
            return if duplicates > DUP_THRESH {
                Outcome::VegasInflate
            } else {
                Outcome::Duplicate { counted: Some(duplicates) }
            };
        }
        if self.after_timeout && !is_later(self.recover, scoreboard) {
            return Outcome::Duplicate { counted: Some(duplicates) };
        }
        self.on_loss(input, scoreboard)
    }

    fn on_loss(&mut self, input: &AckInput<'_>, scoreboard: &Scoreboard) -> Outcome {
        let Slot { departed, transmissions } = self.slot(scoreboard.una());
        let missing = LostSegmentInfo { duplicates: self.duplicates, transmissions, sent: departed };
        self.after_timeout = false;
        self.recover = Some(scoreboard.snd_max());
        // `v_worried_ = MIN(2, t_seqno_ - last_ack_)`: two ACKs, or fewer if fewer are outstanding.
        self.checks_left = (self.nxt(scoreboard) + 1 - scoreboard.una()).min(2);
        // ns-2 doubles `v_timeout_` for a second retransmission, and adds an eighth for the first.
        self.timer.back_off(transmissions > 1);
        self.due = first_due(input, scoreboard);
        if transmissions == 1 {
            self.duplicates = DUP_THRESH;
        }
        Outcome::VegasLoss(missing)
    }
}

/// Returns the first unacknowledged segment, if one is outstanding or could be sent.
fn first_due(input: &AckInput<'_>, scoreboard: &Scoreboard) -> Option<u64> {
    (scoreboard.outstanding() > 0 || input.allowance.has_new).then(|| scoreboard.una())
}

/// Returns whether the ACK exceeds `recover`, which was SND.MAX at the last loss.
fn is_later(recover: Option<u64>, scoreboard: &Scoreboard) -> bool {
    recover.is_none_or(|recover| scoreboard.una() > recover)
}

impl LossRecovery for Vegas {
    fn on_opened(&mut self, now: Instant, rtt: Duration) {
        self.origin = Instant::from_nanos(now.as_nanos() - rtt.as_nanos());
        self.timer = FineTimer::start(rtt);
    }

    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        self.due = None;
        let outcome = if input.ack.advanced > 0 {
            self.on_progress(input, scoreboard)
        } else if input.ack.is_duplicate {
            self.on_duplicate(input, scoreboard)
        } else {
            Outcome::Nothing
        };
        self.is_held = (1..DUP_THRESH).contains(&self.duplicates);
        outcome
    }

    fn on_write(&mut self) {
        self.is_held = false;
    }

    fn on_timeout(&mut self, _now: Instant, scoreboard: &mut Scoreboard) {
        self.duplicates = 0;
        self.recover = Some(scoreboard.snd_max());
        self.after_timeout = true;
        self.due = None;
        self.is_held = false;
        self.resent_next = None;
        scoreboard.rewind_nxt();
    }

    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        if self.due.is_some() || self.is_held {
            return self.due;
        }
        let nxt = self.nxt(scoreboard);
        let is_sendable = nxt < scoreboard.snd_max() || allowance.has_new;
        (is_sendable && nxt - scoreboard.una() < allowance.usable()).then_some(nxt)
    }

    fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        let is_next = number == self.nxt(scoreboard);
        let was_due = self.due.take().is_some();
        if is_next {
            self.resent_next = was_due.then_some(number);
        }
        let index = self.index(number);
        let slot = &mut self.slots[index];
        *slot = Slot { departed: Some(now), transmissions: slot.transmissions + 1 };
    }

    fn is_recovering(&self) -> bool {
        self.checks_left > 0
    }
}
