//! Segments that are not believed: counted by their reason, and answered no faster than an attacker can make use of.

use super::Connection;
use crate::policy::acking::AckDue;
use core::ops::Range;
use earlybird_units::{Duration, Instant};
use earlybird_wire::Segment;

/// Segments that came and were not believed, by the reason, and what became of the answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DropCounters {
    /// Outside the receive window (RFC 9293 §3.10.7.4, first); data that come again are among them.
    pub out_of_window: u64,
    /// With a timestamp older than the one to echo (PAWS, RFC 7323 §5.3).
    pub too_old: u64,
    /// Without the timestamp that both sides had agreed on (RFC 7323 §3.2).
    pub unstamped: u64,
    /// Resets that were not at exactly the number expected (RFC 5961 §3.2), or came in TIME-WAIT (RFC 1337).
    pub resets: u64,
    /// SYNs in an open connection (RFC 5961 §4.2), or old ones in TIME-WAIT (RFC 6191).
    pub openings: u64,
    /// ACKs of something that was never sent.
    pub acks_ahead: u64,
    /// ACKs older than the largest window that the peer ever told (RFC 5961 §5.2).
    pub acks_behind: u64,
    /// Without ACK, where every segment has one.
    pub without_ack: u64,
    /// Echoed timestamps that were never sent, or too long ago: they measure nothing. Counted where an echo is read.
    pub echoes: u64,
    /// Blocks of SACK that tell of something never sent, or of nothing.
    pub sack_blocks: u64,
    /// ACKs that were sent because of any of these.
    pub challenges: u64,
    /// ACKs that were not sent: one had been, too short a time ago.
    pub challenges_withheld: u64,
}

/// What was refused, and when a challenge last was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guard {
    pub(super) drop_counters: DropCounters,
    challenged_at: Option<Instant>,
}

impl Guard {
    /// Returns whether a challenge may be sent now, and takes note of it.
    fn may_challenge(&mut self, now: Instant, interval: Duration) -> bool {
        if self.challenged_at.is_some_and(|before| now - before < interval) {
            self.drop_counters.challenges_withheld += 1;
            return false;
        }
        self.challenged_at = Some(now);
        self.drop_counters.challenges += 1;
        true
    }
}

impl Connection {
    /// Returns what came and was not believed.
    pub fn drop_counters(&self) -> DropCounters {
        DropCounters {
            echoes: self.sender.account().impossible_echoes(),
            sack_blocks: self.sender.buffer().scoreboard().refused_blocks(),
            ..self.guard.drop_counters
        }
    }

    /// Says what is expected to whoever sent a segment that is not believed, unless that was said a moment ago: an attacker
    /// shall not learn from our answers where the window is, nor two confused ends keep each other busy (RFC 5961 §7).
    #[cold]
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.may_answer(now) {
            self.receiver.due = AckDue::Now;
        }
    }

    pub(super) fn may_answer(&mut self, now: Instant) -> bool {
        self.guard.may_challenge(now, self.config.acks.challenge_interval)
    }

    /// Answers a segment that is outside the window or too old. One with data is not held back: its sender repeats it for
    /// want of an ACK, and no two ends answer each other with data.
    #[cold]
    pub(super) fn refuse(&mut self, now: Instant, segment: &Segment, range: &Range<u64>) {
        if segment.takes_sequence_space() {
            self.receiver.note_refused(now, range);
            self.guard.drop_counters.challenges += 1;
        } else {
            self.challenge(now);
        }
    }
}
