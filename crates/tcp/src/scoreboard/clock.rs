//! The clock that timestamps tell.

use earlybird_units::{Duration, Instant};

/// Returns the timestamp clock: milliseconds (RFC 7323 §5.4).
pub(crate) fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}

/// Returns how many ticks ago the clock told a time: more than half of all numbers if it has not yet.
pub(crate) fn age(now: Instant, told: u32) -> u32 {
    timestamp(now).wrapping_sub(told)
}

/// Returns how long ago the clock told a time.
pub(crate) fn since(now: Instant, told: u32) -> Duration {
    Duration::from_millis(u64::from(age(now, told)))
}
