//! What came and went, and how often strangers are answered.

use earlybird_units::{Duration, Instant};

/// What a stack has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were given to the device.
    pub sent: u64,
    /// Packets that were no segment: cut short, damaged, another protocol, or signed.
    pub malformed: u64,
    /// Segments from or to addresses that no host has, or for somebody else.
    pub misdirected: u64,
    /// Segments of no connection at a port where nobody listens.
    pub strangers: u64,
    /// Resets that answered such segments.
    pub resets: u64,
    /// Reports of routers that were believed.
    pub reports: u64,
    /// SYNs and last ACKs that were dropped, for there were as many connections as may be.
    pub refused: u64,
    /// SYNs over UDP that were dropped, for any answer is longer than they were.
    pub held_back: u64,
}

/// Lets so much pass in a second, and all of that at once after a second of rest.
#[derive(Debug)]
pub(super) struct Allowance {
    per_second: u32,
    left: u32,
    since: Instant,
}

impl Allowance {
    pub(super) const fn new(per_second: u32) -> Self {
        Self { per_second, left: per_second, since: Instant::ZERO }
    }

    /// Returns whether one more may pass.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        if now - self.since >= Duration::from_secs(1) {
            (self.left, self.since) = (self.per_second, now);
        }
        let may_pass = self.left > 0;
        self.left -= u32::from(may_pass);
        may_pass
    }
}
