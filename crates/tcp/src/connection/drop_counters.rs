//! Segments that are dropped, by reason, and the rate limit of the answers to them.

use earlybird_units::{Duration, Instant};

/// The numbers of segments that were dropped, by reason, and of the answers to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DropCounters {
    /// Outside the receive window (RFC 9293 §3.10.7.4, first), retransmitted data included.
    pub out_of_window: u64,
    /// With a timestamp older than the one to echo (PAWS, RFC 7323 §5.3).
    pub too_old: u64,
    /// Without the timestamp that both sides agreed on (RFC 7323 §3.2).
    pub unstamped: u64,
    /// Resets that were not at exactly the expected number (RFC 5961 §3.2), or arrived in TIME-WAIT (RFC 1337).
    pub resets: u64,
    /// SYNs in an open connection (RFC 5961 §4.2), or old ones in TIME-WAIT (RFC 6191).
    pub unexpected_syns: u64,
    /// ACKs of data that were never sent.
    pub acks_ahead: u64,
    /// ACKs older than the largest window that the peer ever advertised (RFC 5961 §5.2).
    pub acks_behind: u64,
    /// Without ACK flag, where every segment has one.
    pub without_ack: u64,
    /// Echoed timestamps that were never sent, or too long ago. Counted only where echoes are read; the segments are not dropped.
    pub echoes: u64,
    /// SACK blocks that are empty or report data that were never sent. The segments are not dropped.
    pub sack_blocks: u64,
    /// Challenge ACKs that were sent because of any of these.
    pub challenges: u64,
    /// Challenge ACKs that were not sent, because of the rate limit.
    pub challenges_withheld: u64,
}

/// The rate limit of challenge ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChallengeLimiter {
    challenged_at: Option<Instant>,
}

impl ChallengeLimiter {
    /// Returns whether a challenge ACK may be sent now, and counts it.
    pub(super) fn may_challenge(&mut self, now: Instant, interval: Duration, counters: &mut DropCounters) -> bool {
        // RFC 5961 §7: an attacker must not learn from the answers where the window is, and two desynchronised ends must not answer
        // each other without end.
        if self.challenged_at.is_some_and(|before| now - before < interval) {
            counters.challenges_withheld += 1;
            return false;
        }
        self.challenged_at = Some(now);
        counters.challenges += 1;
        true
    }
}
