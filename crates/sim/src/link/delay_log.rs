//! The queueing delays of a link, kept for percentiles.

use earlybird_units::{Duration, Instant};

/// The queueing delay of each packet whose transmission began in an interval.
#[derive(Clone, Debug)]
pub(super) struct DelayLog {
    from: Instant,
    until: Instant,
    delays: Vec<Duration>,
}

impl DelayLog {
    pub(super) fn new([from, until]: [Instant; 2]) -> Self {
        Self { from, until, delays: Vec::new() }
    }

    /// Takes note of a packet whose transmission begins at `start` after this delay.
    pub(super) fn note(&mut self, start: Instant, delay: Duration) {
        // A link of the analytic model knows starts that lie beyond the end of the run.
        if self.from <= start && start < self.until {
            self.delays.push(delay);
        }
    }

    pub(super) fn delays(&self) -> &[Duration] {
        &self.delays
    }
}
