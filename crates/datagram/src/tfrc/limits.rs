//! Limits of a sender's rate besides the equation: the receive rate, and the application's demand.

use earlybird_units::{Duration, Instant};

/// The receive rates reported last (`X_recv_set`, RFC 5348 §4.2 and §4.3), in bytes per second.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveRates {
    /// Values and when they were reported; a place without is empty.
    rates: [Option<(Instant, f64)>; 4],
}

impl ReceiveRates {
    /// Without reports there is no bound.
    pub(crate) const fn unbounded(now: Instant) -> Self {
        Self::only(now, f64::INFINITY)
    }

    pub(crate) const fn only(now: Instant, rate: f64) -> Self {
        Self { rates: [Some((now, rate)), None, None, None] }
    }

    pub(crate) fn max(&self) -> f64 {
        self.rates.iter().flatten().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    /// Adds a report and forgets those older than two round trips. Reports come once per round trip, so four places do;
    /// else the oldest makes room.
    pub(crate) fn update(&mut self, now: Instant, rate: f64, rtt: Duration) {
        for place in &mut self.rates {
            // Values older than two round trips are dropped (RFC 5348 §4.3, `Update X_recv_set`).
            place.take_if(|(at, _)| *at + rtt * 2 < now);
        }
        let oldest = self.rates.iter_mut().min_by_key(|place| place.map(|(at, _)| at));
        if let Some(place) = oldest {
            *place = Some((now, rate));
        }
    }

    /// Keeps only the largest of all reports and this one.
    pub(crate) fn maximise(&mut self, now: Instant, rate: f64) {
        let finite = self.rates.iter().flatten().map(|(_, rate)| *rate).filter(|rate| rate.is_finite());
        *self = Self::only(now, finite.fold(rate, f64::max));
    }

    pub(crate) fn halve(&mut self) {
        for (_, rate) in self.rates.iter_mut().flatten() {
            *rate /= 2.0;
        }
    }
}

/// Detects whether the application limited the sender while the datagrams of a report were sent
/// (RFC 5348 §8.2.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct DataLimit {
    /// Two times at which the sender used all of its rate: the first after the last report's newest datagram was sent …
    first: Instant,
    /// … the second after the arrival of the last report.
    second: Instant,
    newest: Instant,
    reported: Instant,
}

impl DataLimit {
    /// The sender uses all of its rate now.
    pub(crate) fn on_full_use(&mut self, now: Instant) {
        // The two variables NotLimited1 and NotLimited2 of RFC 5348 §8.2.1.
        if self.first <= self.newest {
            self.first = now;
        } else if self.second <= self.reported {
            self.second = now;
        }
    }

    /// Records a report whose newest datagram was sent at `echo`. Returns whether its interval was data-limited.
    pub(crate) fn on_report(&mut self, now: Instant, echo: Instant) -> bool {
        let older = core::mem::replace(&mut self.newest, echo);
        self.reported = now;
        let is_within = |at: Instant| older < at && at <= echo;
        let was_fully_used = is_within(self.first) || is_within(self.second);
        if self.first <= self.newest && self.second > self.newest {
            self.first = self.second;
        }
        !was_fully_used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn reports_bound_for_two_round_trips() {
        let mut rates = ReceiveRates::unbounded(at(0));
        let rtt = Duration::from_millis(100);
        rates.update(at(150), 5.0, rtt);
        assert!(rates.max().is_infinite());
        rates.update(at(250), 3.0, rtt);
        assert!((rates.max() - 5.0).abs() < 1e-12);
        rates.update(at(360), 4.0, rtt);
        assert!((rates.max() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn only_the_largest_report_is_kept_and_halved() {
        let mut rates = ReceiveRates::unbounded(at(0));
        rates.maximise(at(10), 7.0);
        rates.maximise(at(20), 3.0);
        rates.halve();
        assert!((rates.max() - 3.5).abs() < 1e-12);
    }

    #[test]
    fn an_interval_is_limited_by_data_if_the_rate_was_never_used_in_it() {
        let mut limit = DataLimit::default();
        limit.on_full_use(at(20));
        limit.on_full_use(at(60));
        assert!(!limit.on_report(at(100), at(50)));
        limit.on_full_use(at(120));
        // 60 ms, then 120 ms, then nothing.
        assert!(!limit.on_report(at(200), at(110)));
        assert!(!limit.on_report(at(300), at(200)));
        assert!(limit.on_report(at(400), at(300)));
    }
}
