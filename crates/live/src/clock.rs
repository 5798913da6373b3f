//! Clocks.

use earlybird_units::{Duration, Instant};
use std::cell::Cell;
use std::rc::Rc;

/// A source of time. If it goes backwards, a [`Stack`](crate::Stack) keeps the latest time that it read until the clock has
/// caught up.
pub trait Clock {
    /// Returns the current time.
    fn now(&self) -> Instant;
}

/// The monotonic clock of the machine, counted from the creation of this value. Copies share the same origin.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock(std::time::Instant);

impl Default for MonotonicClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn default() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Instant {
        // u64 nanoseconds last for 584 years.
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}

/// Returns the time since 1970 by the clock of the machine, which may be wrong.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn unix_time() -> Duration {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // A clock before 1970 is as wrong as one of 1970.
    Duration::from_nanos(since.map_or(0, |since| since.as_nanos() as u64))
}

/// A clock that only moves when it is set, for tests. Clones share the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Rc<Cell<Instant>>);

impl ManualClock {
    /// Sets the time.
    pub fn set(&self, now: Instant) {
        self.0.set(now);
    }

    /// Moves the time forward by `span`.
    pub fn advance(&self, span: Duration) {
        self.set(self.now() + span);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.0.get()
    }
}
