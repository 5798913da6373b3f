//! Service times of an event-driven link: at a rate that may change, or at given times.

use crate::outages::Outages;
use crate::timestamp::Timestamp;
use crate::transmission_clock::TransmissionClock;
use earlybird_units::{Duration, Instant, Rate};
use std::sync::Arc;

/// Changes of a link's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateChanges {
    /// A new rate at each of these times, in rising order.
    Steps(Arc<[(Instant, Rate)]>),
    /// Delivery opportunities: each sends up to [`RateChanges::OPPORTUNITY_BYTES`] bytes; unused bytes are lost.
    Opportunities {
        /// Their times, never falling, repeated from the last one on, as mahimahi's traces have them.
        times: Arc<[Duration]>,
        /// The time of the trace at which the run begins.
        start: Duration,
    },
}

impl RateChanges {
    /// Bytes of a delivery opportunity (mahimahi's `PACKET_SIZE`).
    pub const OPPORTUNITY_BYTES: u32 = 1500;

    /// Returns how many bits could be sent before `end`, with `first` as the rate before the first step.
    pub fn bits_before(&self, end: Instant, first: Rate) -> f64 {
        match self {
            Self::Steps(steps) => bits_of_steps(steps, first, end),
            Self::Opportunities { times, start } => {
                let start = start.as_nanos();
                let chances = chances_before(times, start + end.as_nanos()) - chances_before(times, start);
                chances as f64 * f64::from(Self::OPPORTUNITY_BYTES) * 8.0
            }
        }
    }
}

/// Returns how many opportunities a trace and its repetitions have before a time of it, in nanoseconds.
fn chances_before(times: &[Duration], end: u64) -> u64 {
    let period = times.last().map_or(1, |last| last.as_nanos().max(1));
    let Some(last) = end.checked_sub(1) else { return 0 };
    let in_round = times.partition_point(|at| at.as_nanos() <= last % period);
    last / period * times.len() as u64 + in_round as u64
}

fn bits_of_steps(steps: &[(Instant, Rate)], first: Rate, end: Instant) -> f64 {
    bits_of_spells(steps, first, end, |from, to| to - from)
}

/// Returns how many bits could be sent before `end`, with `first` as the rate before the first step.
pub(crate) fn bits_with_outages(first: Rate, changes: Option<&RateChanges>, outages: &Outages, end: Instant) -> f64 {
    match changes {
        Some(opportunities @ RateChanges::Opportunities { .. }) => opportunities.bits_before(end, first),
        Some(RateChanges::Steps(steps)) => bits_of_spells(steps, first, end, |from, to| outages.up_between(from, to)),
        None => bits_of_spells(&[], first, end, |from, to| outages.up_between(from, to)),
    }
}

/// Adds up the spells between steps, of each of which `used` returns the time in which bits are sent.
fn bits_of_spells(
    steps: &[(Instant, Rate)],
    first: Rate,
    end: Instant,
    used: impl Fn(Instant, Instant) -> Duration,
) -> f64 {
    let starts = [(Instant::ZERO, first)].into_iter().chain(steps.iter().copied());
    let ends = steps.iter().map(|(at, _)| *at).chain([end]);
    starts
        .zip(ends)
        .map(|((from, rate), to)| rate.bits_per_second() as f64 * used(from, to.min(end)).as_secs_f64())
        .sum()
}

/// A transmitter whose rate changes at known times.
#[derive(Debug)]
pub(crate) struct VariableRate {
    clock: TransmissionClock,
    rate: Rate,
    steps: Arc<[(Instant, Rate)]>,
    next_step: usize,
    outages: Outages,
}

impl VariableRate {
    pub(crate) fn new(rate: Rate, steps: Arc<[(Instant, Rate)]>, outages: Outages) -> Self {
        Self { clock: TransmissionClock::new(rate), rate, steps, next_step: 0, outages }
    }

    /// Forgets the rounding remainder, because the link was idle.
    pub(crate) fn reset(&mut self) {
        self.clock.reset();
    }

    /// Returns the first time from `now` on at which there is no outage.
    pub(crate) fn up_from(&self, now: Timestamp) -> Timestamp {
        if self.outages.is_empty() {
            return now;
        }
        let up = self.outages.up_from(now.at);
        if up == now.at { now } else { now.until(up) }
    }

    /// Returns the end of the transmission that starts at `start`.
    pub(crate) fn send(&mut self, start: Timestamp, bytes: u32) -> Timestamp {
        // A change at the start of a transmission applies to it.
        while self.step_before(start.at + Duration::from_nanos(1)).is_some() {}
        if !self.outages.is_empty() {
            return self.send_between_outages(start, bytes);
        }
        let (span, seconds) = self.clock.send(bytes);
        let mut end = start.after(span, seconds);
        let mut rate = self.rate;
        while let Some(at) = self.step_before(end.at) {
            // The remaining bits take longer or shorter at the new rate.
            let factor = rate.bits_per_second() as f64 / self.rate.bits_per_second() as f64;
            end = Timestamp::from_instant(at + (end.at - at).mul_f64(factor));
            rate = self.rate;
        }
        end
    }

    /// Returns the end of a transmission that outages interrupt.
    #[cold]
    fn send_between_outages(&mut self, start: Timestamp, bytes: u32) -> Timestamp {
        let (mut now, mut left) = (start.at, BitNanos::of(bytes));
        loop {
            now = self.outages.up_from(now);
            while self.step_before(now + Duration::from_nanos(1)).is_some() {}
            let step = self.steps.get(self.next_step).map_or(Instant::NEVER, |(at, _)| *at);
            let limit = step.min(self.outages.next_start(now));
            let end = now + left.time_at(self.rate);
            if end <= limit {
                return start.until(end);
            }
            left = left.after(limit - now, self.rate);
            now = limit;
        }
    }

    /// Applies the next change of rate if it is before `time`. Returns its time.
    fn step_before(&mut self, time: Instant) -> Option<Instant> {
        let (at, rate) = *self.steps.get(self.next_step).filter(|(at, _)| *at < time)?;
        self.next_step += 1;
        self.rate = rate;
        // A remainder counts in units of the old rate: it cannot be kept.
        self.clock = TransmissionClock::new(rate);
        Some(at)
    }
}

/// Bits times 10⁹: what a link sends in a nanosecond is a whole number of them.
#[derive(Clone, Copy, Debug)]
struct BitNanos(u128);

impl BitNanos {
    fn of(bytes: u32) -> Self {
        Self(u128::from(bytes) * 8_000_000_000)
    }

    /// Returns the time that they take, rounded up, so that a link never sends more than its rate.
    fn time_at(self, rate: Rate) -> Duration {
        let nanos = self.0.div_ceil(u128::from(rate.bits_per_second()));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Returns what is left after some time.
    fn after(self, time: Duration, rate: Rate) -> Self {
        Self(self.0.saturating_sub(u128::from(rate.bits_per_second()) * u128::from(time.as_nanos())))
    }
}

/// The delivery opportunities of a trace that repeats for ever.
#[derive(Debug)]
pub(crate) struct DeliveryOpportunities {
    times: Arc<[Duration]>,
    next: usize,
    /// Start of the current repetition, later by `start` than in the run.
    round: Instant,
    /// The time of the trace at which the run begins.
    start: Duration,
}

impl DeliveryOpportunities {
    /// Returns those of a trace from a time of it on, before its last one.
    pub(crate) fn new(times: Arc<[Duration]>, start: Duration) -> Self {
        let next = times.partition_point(|at| *at < start);
        Self { times, next, round: Instant::ZERO, start }
    }

    fn next(&self) -> Instant {
        let in_run = |at: &Duration| Instant::ZERO + (self.round + *at - (Instant::ZERO + self.start));
        self.times.get(self.next).map_or(Instant::NEVER, in_run)
    }

    fn burn(&mut self) {
        self.next += 1;
        if self.next == self.times.len() {
            self.next = 0;
            // mahimahi repeats a trace from its last time on.
            self.round += self.times.last().copied().unwrap_or(Duration::MAX);
        }
    }

    /// Uses up the opportunities until `now`. Returns how many bytes those at `now` can carry.
    pub(crate) fn take(&mut self, now: Instant) -> u32 {
        let mut bytes = 0;
        // Opportunities that passed while the queue was empty are lost, as in mahimahi's mm-link.
        while self.next() <= now {
            bytes += if self.next() == now { RateChanges::OPPORTUNITY_BYTES } else { 0 };
            self.burn();
        }
        bytes
    }

    /// Returns the first opportunity after `now`. Earlier ones are lost.
    pub(crate) fn after(&mut self, now: Instant) -> Instant {
        self.take(now);
        self.next()
    }
}
