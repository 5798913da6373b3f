//! Measurements of a connection since the last decision.

use earlybird_tcp::RateSample;
use earlybird_units::{Duration, Instant};
use std::collections::HashMap;

/// Measurements since the last decision.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    begin: Instant,
    length: Duration,
    acked: u64,
    lost: u64,
    timeouts: u64,
    rtt_sum: Duration,
    rtt_samples: u32,
    in_flight: u64,
}

impl Interval {
    pub(super) fn starting(begin: Instant, in_flight: u64) -> Self {
        Self { begin, in_flight, ..Self::default() }
    }

    pub(super) const fn begin(&self) -> Instant {
        self.begin
    }

    pub(super) const fn on_lost(&mut self) {
        self.lost += 1;
    }

    pub(super) const fn on_timeout(&mut self) {
        self.timeouts += 1;
    }

    pub(super) fn on_sample(&mut self, sample: &RateSample) {
        self.acked += sample.newly_acked;
        self.in_flight = sample.in_flight;
        if let Some(rtt) = sample.rtt {
            self.rtt_sum += rtt;
            self.rtt_samples += 1;
        }
    }

    pub(super) fn end(&mut self, now: Instant) {
        self.length = now - self.begin;
    }

    /// Returns the mean RTT in seconds, if there was a sample.
    fn rtt(&self) -> Option<f64> {
        (self.rtt_samples > 0).then(|| self.rtt_sum.as_secs_f64() / f64::from(self.rtt_samples))
    }
}

/// An interval and the connection's state at its end, for Python.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub interval: Interval,
    pub cwnd: f64,
    pub mss: f64,
    pub min_rtt: Option<Duration>,
}

impl Measured {
    /// Returns the numbers by name; times are in seconds.
    pub(super) fn by_name(&self) -> HashMap<&'static str, Option<f64>> {
        let Self { interval, cwnd, mss, min_rtt } = self;
        HashMap::from([
            ("now", Some((interval.begin + interval.length).as_secs_f64())),
            ("length", Some(interval.length.as_secs_f64())),
            ("acked", Some(interval.acked as f64)),
            ("lost", Some(interval.lost as f64)),
            ("timeouts", Some(interval.timeouts as f64)),
            ("rtt", interval.rtt()),
            ("in_flight", Some(interval.in_flight as f64)),
            ("cwnd", Some(*cwnd)),
            ("mss", Some(*mss)),
            ("min_rtt", min_rtt.map(Duration::as_secs_f64)),
        ])
    }
}
