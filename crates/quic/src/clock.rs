//! Simulated time in quinn's type, which only a clock can make: times are offsets from one reading.

use earlybird_units::{Duration, Instant};
use std::sync::OnceLock;
use std::time;

/// Returns what stands for the world's time 0: no matter when, as only differences are used.
#[expect(clippy::disallowed_methods, reason = "there is no other way to get a value of this type")]
fn zero() -> time::Instant {
    static ZERO: OnceLock<time::Instant> = OnceLock::new();
    // Only differences to this reading are used, so that its value does not matter.
    *ZERO.get_or_init(time::Instant::now)
}

/// Returns a time of the world in quinn's type.
pub(crate) fn outside(at: Instant) -> time::Instant {
    zero() + time::Duration::from_nanos(at.as_nanos())
}

/// Returns a time of quinn's in the world.
pub(crate) fn inside(at: time::Instant) -> Instant {
    Instant::from_nanos(at.saturating_duration_since(zero()).as_nanos() as u64)
}

/// Returns a span of quinn's in the world.
pub(crate) fn span(duration: time::Duration) -> Duration {
    Duration::from_nanos(duration.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_to_the_nanosecond() {
        for nanos in [0, 1, 999_999_999, 1 << 53] {
            assert_eq!(inside(outside(Instant::from_nanos(nanos))), Instant::from_nanos(nanos));
        }
    }
}
