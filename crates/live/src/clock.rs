//! Where time comes from.

use earlybird_units::{Duration, Instant};
use std::cell::Cell;
use std::rc::Rc;

/// Tells the time. One that goes back is not believed: a [`Stack`](crate::Stack) stays where it was until it has caught up.
pub trait Clock {
    /// Returns the time.
    fn now(&self) -> Instant;
}

/// The machine's clock that never goes back, from when it was made on. Copies of it tell the same time.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic(std::time::Instant);

impl Default for Monotonic {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn default() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}

/// A clock that stands still until it is told to go on. Clones of it tell the same time.
#[derive(Clone, Debug, Default)]
pub struct Scripted(Rc<Cell<Instant>>);

impl Scripted {
    /// Sets it.
    pub fn set(&self, now: Instant) {
        self.0.set(now);
    }

    /// Lets time pass.
    pub fn advance(&self, span: Duration) {
        self.set(self.now() + span);
    }
}

impl Clock for Scripted {
    fn now(&self) -> Instant {
        self.0.get()
    }
}
