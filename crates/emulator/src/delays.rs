//! Histogram of delays in real time.

use earlybird_units::{Duration, Instant};
use hdrhistogram::Histogram;

/// Delay of events after they were due: deliveries and timers.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    delays: Histogram<u64>,
}

/// The histogram has two significant digits up to ten seconds; larger values saturate.
const MAX_DELAY_NS: u64 = 10_000_000_000;

impl Default for DelayHistogram {
    fn default() -> Self {
        let delays = Histogram::new_with_max(MAX_DELAY_NS, 2);
        Self { delays: delays.unwrap_or_else(|_| unreachable!("the bounds are constants")) }
    }
}

impl DelayHistogram {
    /// Records an event that was due at `due` and happened at `left`.
    pub fn record(&mut self, due: Instant, left: Instant) {
        self.delays.saturating_record(left.since(due).as_nanos());
    }

    /// Returns the number of recorded events.
    pub fn packets(&self) -> u64 {
        self.delays.len()
    }

    /// Returns the delay that a share of the events (0 to 1) did not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.delays.value_at_quantile(share))
    }

    /// Returns the largest delay.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.delays.max())
    }
}
