//! How exactly an emulator keeps its times.

use earlybird_units::{Duration, Instant};
use hdrhistogram::Histogram;

/// How much later than due packets left.
#[derive(Clone, Debug)]
pub struct Timing {
    delays: Histogram<u64>,
}

/// Two digits, up to ten seconds: what is worse than that is as bad.
const LONGEST: u64 = 10_000_000_000;

impl Default for Timing {
    fn default() -> Self {
        let delays = Histogram::new_with_max(LONGEST, 2);
        Self { delays: delays.unwrap_or_else(|_| unreachable!("the bounds are constants")) }
    }
}

impl Timing {
    /// Notes a packet that was due at one time and left at another, or what else came late.
    pub fn note(&mut self, due: Instant, left: Instant) {
        self.delays.saturating_record(left.since(due).as_nanos());
    }

    /// Returns how many packets were noted.
    pub fn packets(&self) -> u64 {
        self.delays.len()
    }

    /// Returns the delay that this share of the packets did not exceed, from 0 to 1.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.delays.value_at_quantile(share))
    }

    /// Returns the largest delay.
    pub fn largest(&self) -> Duration {
        Duration::from_nanos(self.delays.max())
    }
}
