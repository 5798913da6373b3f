//! The retransmission timer: when it runs, for how long, and what it measures (RFC 6298 §5; ns-2.35 `tcp.cc`).

use crate::policy::choice::{RtoConfig, RtoRule};
use crate::policy::rto::{Estimator, RtoEstimator};
use earlybird_units::{Duration, Instant};

/// The timer of one sender.
#[derive(Debug)]
pub(crate) struct RetransmissionTimer {
    estimator: Estimator,
    limits: RtoConfig,
    back_off: u64,
    /// Expiries in a row after which the timeout was not doubled.
    linear: u8,
    /// The floor acts before the back-off, the ceiling after (ns-2's `rtt_timeout`). It changes more seldom than it is asked for.
    timeout: Duration,
    started: Instant,
    /// [`Instant::NEVER`] while it stands still.
    deadline: Instant,
    /// The one segment whose round trip is being measured: number and send time.
    measuring: Option<(u64, Instant)>,
    /// Highest number ever measured: no segment is measured twice.
    measured: Option<u64>,
    /// Every ACK that goes forward measures, not one segment at a time.
    pub(crate) samples_each_ack: bool,
    shortest: Option<Duration>,
}

/// The timer's values, for traces and series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerValue {
    /// The timeout with floor, back-off and ceiling.
    pub timeout: Duration,
    /// The back-off factor.
    pub back_off: u64,
    /// The smoothed round-trip time.
    pub smoothed: Option<Duration>,
}

/// So many times any timeout has reached its ceiling.
const MOST_DOUBLINGS: u32 = 16;

/// Expiries in a row that do not double the timeout of a thin stream (`TCP_THIN_LINEAR_RETRIES` of Linux's `net/tcp.h`).
const LINEAR: u8 = 6;

/// RFC 6298 (5.7).
const AFTER_LOST_OPENING: Duration = Duration::from_secs(3);

impl RetransmissionTimer {
    pub(crate) fn new(estimator: Estimator, limits: RtoConfig) -> Self {
        let mut timer = Self {
            estimator,
            limits,
            back_off: 1,
            linear: 0,
            timeout: limits.initial,
            started: Instant::ZERO,
            deadline: Instant::NEVER,
            measuring: None,
            measured: None,
            samples_each_ack: limits.rule == RtoRule::Linux,
            shortest: None,
        };
        timer.set_back_off(1);
        timer
    }

    /// Returns when it runs out; [`Instant::NEVER`] while it stands still.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn value(&self) -> TimerValue {
        TimerValue { timeout: self.timeout, back_off: self.back_off, smoothed: self.smoothed() }
    }

    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.estimator.smoothed()
    }

    /// Sets the back-off, and the timeout that follows from it and from what the estimator says by now.
    #[inline]
    fn set_back_off(&mut self, back_off: u64) {
        self.set_timeout(back_off, self.estimator.base());
    }

    /// Sets both where what the estimator says is known.
    #[inline]
    fn set_timeout(&mut self, back_off: u64, base: Option<Duration>) {
        self.back_off = back_off;
        let base = base.unwrap_or(self.limits.initial).max(self.limits.floor);
        self.timeout = (base * back_off).min(self.limits.ceiling).max(self.limits.tick * 2);
    }

    #[inline]
    pub(crate) fn restart(&mut self, now: Instant) {
        self.started = now;
        self.deadline = now + self.timeout;
    }

    /// Runs for a closed window: for the timeout, doubled so many times.
    pub(crate) fn persist(&mut self, now: Instant, doublings: u32) {
        self.started = now;
        let interval = self.timeout * (1 << doublings.min(MOST_DOUBLINGS));
        self.deadline = now + interval.min(self.limits.ceiling);
    }

    pub(crate) fn stop(&mut self) {
        self.deadline = Instant::NEVER;
    }

    /// Learns that segment `number` was sent. New segments start a measurement if none is running.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, number: u64, is_new: bool, was_idle: bool) {
        if is_new && self.measuring.is_none() && self.measured.is_none_or(|measured| number > measured) {
            self.measuring = Some((number, now));
            self.measured = Some(number);
        }
        if was_idle || self.deadline == Instant::NEVER {
            self.restart(now);
        }
    }

    /// Learns that everything below `una` is acknowledged, and gives the new base timeout if a measurement ended.
    #[inline]
    pub(crate) fn on_progress(&mut self, now: Instant, una: u64) -> Option<Duration> {
        let (_, sent) = self.measuring.take_if(|(number, _)| *number < una)?;
        self.sample(now, sent)
    }

    /// Takes a sample that needs no running measurement (RFC 7323 §4.1).
    #[inline]
    pub(crate) fn on_sample(&mut self, now: Instant, rtt: Duration) -> Option<Duration> {
        self.measuring = None;
        self.sample(now, Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())))
    }

    fn sample(&mut self, now: Instant, sent: Instant) -> Option<Duration> {
        self.shortest = Some(self.shortest.map_or(now - sent, |shortest| shortest.min(now - sent)));
        self.estimator.on_sample(sent, now);
        let base = self.estimator.base();
        self.linear = 0;
        self.set_timeout(1, base);
        base
    }

    /// Returns the shortest round trip that was measured.
    pub(crate) fn shortest(&self) -> Option<Duration> {
        self.shortest
    }

    /// Returns the mean deviation of round trips.
    pub(crate) fn variation(&self) -> Option<Duration> {
        self.estimator.variation()
    }

    /// The opening segment timed out before it was acknowledged: start again, with 3 s (RFC 6298 (5.7)). ns-2 keeps its
    /// doubled timeout.
    pub(crate) fn on_opening_lost(&mut self) {
        if self.limits.rule != RtoRule::Coarse && self.limits.initial < AFTER_LOST_OPENING {
            self.limits.initial = AFTER_LOST_OPENING;
            self.set_back_off(1);
        }
    }

    pub(crate) fn end_back_off(&mut self) {
        self.linear = 0;
        self.set_back_off(1);
    }

    /// The last timeout was needless.
    pub(crate) fn on_needless(&mut self) {
        self.estimator.on_needless();
        self.set_back_off(1);
    }

    /// Abandons the running measurement: its segment may have been retransmitted (Karn's rule).
    pub(crate) fn cancel_measurement(&mut self) {
        self.measuring = None;
    }

    /// Abandons a measurement of something below `una`: what was acknowledged was stepped over.
    pub(crate) fn skip_measurement(&mut self, una: u64) {
        self.measuring.take_if(|(number, _)| *number < una);
    }

    /// Restarts after an expiry with a timeout that a thin stream's few segments allow, or a doubled one; gives the length of the
    /// expired timer.
    pub(crate) fn expire(&mut self, now: Instant, is_thin: bool) -> Duration {
        if !(is_thin && self.limits.linear_when_thin && self.linear < LINEAR) {
            return self.back_off(now);
        }
        let expired = now - self.started;
        self.linear += 1;
        self.set_back_off(1);
        self.cancel_measurement();
        self.restart(now);
        expired
    }

    /// Doubles the timeout after an expiry and restarts; gives the length of the expired timer.
    pub(crate) fn back_off(&mut self, now: Instant) -> Duration {
        let expired = now - self.started;
        // ns-2 (`rfc2988_`): at least up to 64, and on until the ceiling is reached.
        let is_lasting = self.back_off < 64 || self.timeout < self.limits.ceiling;
        let back_off = if is_lasting { 2 * self.back_off } else { self.back_off };
        self.estimator.on_back_off(back_off);
        self.set_back_off(back_off);
        self.cancel_measurement();
        self.restart(now);
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::rto::Rfc6298Estimator;

    /// ns-2 doubles up to 64 even where the timeout has reached its ceiling (`rtt_backoff`).
    #[test]
    fn the_back_off_is_counted_to_64_beyond_the_ceiling_and_on_below_it() {
        let after_ten = |seconds| {
            let limits = RtoConfig { ceiling: Duration::from_secs(seconds), ..RtoConfig::RFC };
            let mut timer = RetransmissionTimer::new(Estimator::Rfc6298(Rfc6298Estimator::new(limits.tick)), limits);
            (0..10).for_each(|_| _ = timer.back_off(Instant::ZERO));
            timer.value().back_off
        };
        assert_eq!([4, 100, 10_000].map(after_ten), [64, 128, 1024]);
    }
}
