//! Counters and rate limits.

use earlybird_units::{Duration, Instant};

/// Counters of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Packets that were received.
    pub received: u64,
    /// Packets that were passed to the device.
    pub sent: u64,
    /// Packets that are no valid segment: truncated, corrupt, of another protocol, or signed.
    pub malformed: u64,
    /// Segments for other hosts, or with invalid addresses (martians).
    pub misdirected: u64,
    /// Segments of no connection at a port without listener.
    pub unmatched: u64,
    /// Resets sent in reply to unmatched segments.
    pub resets: u64,
    /// ICMP errors that were accepted.
    pub icmp: u64,
    /// SYNs and last ACKs of handshakes that were dropped because the limit of connections was reached.
    pub over_limit: u64,
    /// SYNs over UDP that were dropped because the reply would be longer.
    pub amplification_dropped: u64,
}

/// A rate limit with windows of one second, which start with the first event after a second.
#[derive(Debug)]
pub(super) struct RateLimit {
    per_second: u32,
    left: u32,
    since: Instant,
}

impl RateLimit {
    pub(super) const fn new(per_second: u32) -> Self {
        Self { per_second, left: per_second, since: Instant::ZERO }
    }

    /// Returns whether one more event is allowed, and counts it.
    pub(super) fn try_acquire(&mut self, now: Instant) -> bool {
        if now - self.since >= Duration::from_secs(1) {
            (self.left, self.since) = (self.per_second, now);
        }
        let is_allowed = self.left > 0;
        self.left -= u32::from(is_allowed);
        is_allowed
    }
}
