//! The clock of TCP timestamps.

use earlybird_units::{Duration, Instant};

/// Returns the timestamp clock at a time, in milliseconds.
pub(crate) fn timestamp(now: Instant) -> u32 {
    // RFC 7323 §5.4 allows ticks of 1 ms to 1 s: the finest measures round trips best.
    (now.as_nanos() / 1_000_000) as u32
}

/// Returns how many ticks ago the clock had the value `stamp`: more than half of all numbers if it has not had it yet.
pub(crate) fn age(now: Instant, stamp: u32) -> u32 {
    // The clock wraps after 49 days, so that only differences have a meaning.
    timestamp(now).wrapping_sub(stamp)
}

/// Returns the time since the clock had the value `stamp`.
pub(crate) fn since(now: Instant, stamp: u32) -> Duration {
    Duration::from_millis(u64::from(age(now, stamp)))
}
