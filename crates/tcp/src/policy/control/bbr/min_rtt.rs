//! The RTT without a queue, and when to probe for it (draft-ietf-ccwg-bbr, "`ProbeRTT` Logic").

use super::BbrParameters;
use earlybird_units::{Duration, Instant};

/// Two minima: over the interval between probes, and over the length of the filter, which covers one probe more.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// `BBR.min_rtt`; `MAX` before the first sample.
    pub(super) value: Duration,
    /// The same in seconds, cached because it is read more often than it changes.
    seconds: f64,
    stamp: Instant,
    probe_value: Duration,
    probe_stamp: Instant,
    /// `BBR.probe_rtt_expired`: whether no sample was as short for an interval, so that a probe is due.
    pub(super) is_expired: bool,
}

impl MinRtt {
    pub(super) fn new(now: Instant, rtt: Option<Duration>) -> Self {
        let value = rtt.unwrap_or(Duration::MAX);
        let seconds = value.as_secs_f64();
        Self { value, seconds, stamp: now, probe_value: value, probe_stamp: now, is_expired: false }
    }

    /// `UpdateMinRTT`.
    pub(super) fn on_sample(&mut self, now: Instant, rtt: Option<Duration>, parameters: &BbrParameters) {
        self.is_expired = now > self.probe_stamp + parameters.probe_rtt_interval;
        if let Some(rtt) = rtt.filter(|rtt| *rtt < self.probe_value || self.is_expired) {
            (self.probe_value, self.probe_stamp) = (rtt, now);
        }
        // An expired minimum is replaced by that of the last interval, not by the newest sample.
        if self.probe_value < self.value || now > self.stamp + parameters.min_rtt_window {
            (self.value, self.stamp) = (self.probe_value, self.probe_stamp);
            self.seconds = self.value.as_secs_f64();
        }
    }

    /// Restarts the interval until the next probe.
    pub(super) fn on_probed(&mut self, now: Instant) {
        self.probe_stamp = now;
    }

    pub(super) fn seconds(&self) -> Option<f64> {
        (self.value < Duration::MAX).then_some(self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_probe_is_due_after_5_s_and_the_minimum_lasts_10_s() {
        let mut filter = MinRtt::new(Instant::ZERO, Some(millis(50)));
        let mut see = |at: u64, rtt: u64| {
            filter.on_sample(Instant::ZERO + millis(at), Some(millis(rtt)), &BbrParameters::DEFAULT);
            (filter.value, filter.is_expired)
        };
        assert_eq!(see(1000, 40), (millis(40), false));
        assert_eq!(see(6000, 60), (millis(40), false), "5 s after the shortest");
        assert_eq!(see(6001, 60), (millis(40), true), "the interval is over");
        assert_eq!(see(6002, 55), (millis(40), false), "a new interval");
        assert_eq!(see(11_000, 60), (millis(40), false), "10 s after the shortest");
        assert_eq!(see(11_001, 60), (millis(55), false), "the shortest of this interval");
        conforms(
            Area::Control,
            "bbr",
            "draft-ietf-ccwg-bbr, ProbeRTT Logic",
            "both minima and the time to probe over 11 s",
            "6 of 6 values",
        );
    }

    #[test]
    fn before_a_sample_nothing_is_known() {
        let mut filter = MinRtt::new(Instant::ZERO, None);
        assert_eq!(filter.seconds(), None);
        filter.on_sample(Instant::ZERO, Some(millis(20)), &BbrParameters::DEFAULT);
        assert_eq!(filter.value, millis(20));
    }
}
