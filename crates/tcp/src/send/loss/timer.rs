//! The retransmission timer: when it runs, for how long, and which round trips it measures (RFC 6298 §5; ns-2.35 `tcp.cc`).

use crate::policy::rto::{Estimator, RtoEstimator};
use crate::policy::rto::{RtoConfig, RtoRule};
use crate::trace::RttSample;
use earlybird_units::{Duration, Instant};

/// The timer of one sender.
#[derive(Debug)]
pub(crate) struct RetransmissionTimer {
    estimator: Estimator,
    limits: RtoConfig,
    back_off: u64,
    /// Expiries in a row after which the timeout was not doubled.
    linear: u8,
    /// The timeout with floor, back-off and ceiling. It is kept because it is read more often than it changes.
    timeout: Duration,
    started: Instant,
    /// [`Instant::NEVER`] while the timer is stopped.
    deadline: Instant,
    /// The one segment whose round trip is being measured: number and send time.
    measuring: Option<(u64, Instant)>,
    /// Highest number ever measured: no segment is measured twice.
    measured: Option<u64>,
    /// Whether every ACK that advances measures a round trip, instead of one segment at a time.
    samples_each_ack: bool,
    min_rtt: Option<Duration>,
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

/// The doublings after which any timeout has reached its ceiling.
const MAX_DOUBLINGS: u32 = 16;

/// Expiries in a row that do not double the timeout of a thin stream (`TCP_THIN_LINEAR_RETRIES` of Linux's `net/tcp.h`).
const MAX_LINEAR: u8 = 6;

/// The timeout after a SYN was lost (RFC 6298 (5.7)).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

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
            min_rtt: None,
        };
        timer.set_back_off(1);
        timer
    }

    /// Returns when the timer expires; [`Instant::NEVER`] while it is stopped.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the timer's values, for traces and series.
    pub(crate) fn value(&self) -> TimerValue {
        TimerValue { timeout: self.timeout, back_off: self.back_off, smoothed: self.srtt() }
    }

    /// Returns the smoothed round trip; `None` before the first sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.estimator.smoothed()
    }

    /// Sets the back-off, and the timeout that follows from it and from the estimator.
    #[inline]
    fn set_back_off(&mut self, back_off: u64) {
        self.set_timeout(back_off, self.estimator.base());
    }

    /// Sets the back-off, and the timeout that follows from it and from `base`.
    #[inline]
    fn set_timeout(&mut self, back_off: u64, base: Option<Duration>) {
        self.back_off = back_off;
        // ns-2's `rtt_timeout`: the floor acts before the back-off, the ceiling after.
        let base = base.unwrap_or(self.limits.initial).max(self.limits.floor);
        self.timeout = (base * back_off).min(self.limits.ceiling).max(self.limits.tick * 2);
    }

    /// Restarts the timer for its full timeout.
    #[inline]
    pub(crate) fn restart(&mut self, now: Instant) {
        self.started = now;
        self.deadline = now + self.timeout;
    }

    /// Starts the timer for a closed window: for the timeout, doubled `doublings` times.
    pub(crate) fn persist(&mut self, now: Instant, doublings: u32) {
        self.started = now;
        let interval = self.timeout * (1 << doublings.min(MAX_DOUBLINGS));
        self.deadline = now + interval.min(self.limits.ceiling);
    }

    /// Stops the timer.
    pub(crate) fn stop(&mut self) {
        self.deadline = Instant::NEVER;
    }

    /// Records that segment `number` was sent. A new segment starts a measurement if none is running.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, number: u64, is_new: bool, was_idle: bool) {
        if is_new && self.measuring.is_none() && self.measured.is_none_or(|measured| number > measured) {
            self.measuring = Some((number, now));
            self.measured = Some(number);
        }
        // RFC 6298 (5.1). After an idle period ns-2 restarts even a timer that runs.
        if was_idle || self.deadline == Instant::NEVER {
            self.restart(now);
        }
    }

    /// Records that everything below `una` is acknowledged; returns the sample if a measurement ended.
    #[inline]
    pub(crate) fn on_progress(&mut self, now: Instant, una: u64) -> Option<RttSample> {
        let sent = self.end_measurement(now, una)?;
        self.sample(now, sent)
    }

    /// Ends the measurement if its segment is acknowledged; returns when that was sent.
    #[inline]
    fn end_measurement(&mut self, now: Instant, una: u64) -> Option<Instant> {
        let (_, sent) = self.measuring.take_if(|(number, _)| *number < una)?;
        self.note_exact(now - sent);
        Some(sent)
    }

    /// Takes note of a round trip that was measured from the time of sending.
    #[inline]
    pub(crate) fn note_exact(&mut self, rtt: Duration) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
    }

    /// Takes a sample that needs no running measurement (RFC 7323 §4.1), and returns it. Everything below `una` is
    /// acknowledged.
    #[inline]
    pub(crate) fn on_sample(&mut self, now: Instant, rtt: Duration, una: u64) -> Option<RttSample> {
        // An echoed timestamp counts milliseconds and can be shorter than the path: only times of sending decide the
        // shortest round trip.
        self.end_measurement(now, una);
        self.measuring = None;
        self.sample(now, Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())))
    }

    fn sample(&mut self, now: Instant, sent: Instant) -> Option<RttSample> {
        self.estimator.on_sample(sent, now);
        let base = self.estimator.base();
        self.linear = 0;
        // A valid sample ends the back-off (RFC 6298 §5, Karn's algorithm).
        self.set_timeout(1, base);
        base.map(|base_rto| RttSample { rtt: now - sent, base_rto })
    }

    /// Returns whether every ACK that advances measures a round trip.
    #[inline]
    pub(crate) fn samples_each_ack(&self) -> bool {
        self.samples_each_ack
    }

    /// Measures a round trip with every ACK that advances, as timestamps allow (RFC 7323 §4).
    pub(crate) fn set_samples_each_ack(&mut self) {
        self.samples_each_ack = true;
    }

    /// Returns the shortest round trip that was measured from the time of sending.
    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Returns the mean deviation of round trips (RTTVAR).
    pub(crate) fn rttvar(&self) -> Option<Duration> {
        self.estimator.variation()
    }

    /// Sets the initial timeout to 3 s after a SYN was lost (RFC 6298 (5.7)).
    pub(crate) fn on_syn_lost(&mut self) {
        // ns-2 (`RtoRule::Coarse`) keeps its doubled timeout.
        if self.limits.rule != RtoRule::Coarse && self.limits.initial < AFTER_LOST_SYN {
            self.limits.initial = AFTER_LOST_SYN;
            self.set_back_off(1);
        }
    }

    /// Ends the back-off.
    pub(crate) fn end_back_off(&mut self) {
        self.linear = 0;
        self.set_back_off(1);
    }

    /// Records that the last timeout was spurious (RFC 4015 §3.1, step 11).
    pub(crate) fn on_spurious(&mut self) {
        self.estimator.on_spurious();
        self.set_back_off(1);
    }

    /// Cancels the running measurement: its segment may have been retransmitted (Karn's algorithm).
    pub(crate) fn cancel_measurement(&mut self) {
        self.measuring = None;
    }

    /// Cancels a measurement of a segment below `una`: the peer skipped it, and never received it.
    pub(crate) fn cancel_measurement_below(&mut self, una: u64) {
        self.measuring.take_if(|(number, _)| *number < una);
    }

    /// Restarts the timer after an expiry, with a doubled timeout unless the stream is thin; returns the length of the expired
    /// timer.
    pub(crate) fn expire(&mut self, now: Instant, is_thin: bool) -> Duration {
        if !(is_thin && self.limits.linear_when_thin && self.linear < MAX_LINEAR) {
            return self.back_off(now);
        }
        let expired = now - self.started;
        self.linear += 1;
        self.set_back_off(1);
        self.cancel_measurement();
        self.restart(now);
        expired
    }

    /// Doubles the timeout and restarts the timer; returns the length of the expired one.
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
