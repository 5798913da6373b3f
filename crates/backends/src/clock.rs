//! The time of a run.

use earlybird_units::Instant;

/// The clock of a run: time since its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// Makes the clock of a run that started at this time of the machine's clock.
    pub const fn since(start: std::time::Instant) -> Self {
        Self(start)
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Instant {
        // A monotonic clock: changes of the system time do not move a run.
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}

/// The stacks of a run have its time.
impl earlybird_live::Clock for Clock {
    fn now(&self) -> Instant {
        Self::now(self)
    }
}
