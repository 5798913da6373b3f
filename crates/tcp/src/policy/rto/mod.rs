//! Estimators of the retransmission timeout (RTO).

mod config;

pub use config::{RtoConfig, RtoRestart, RtoRule};

use core::fmt::Debug;
use earlybird_units::{Duration, Instant};

/// Estimates the RTO from RTT samples, before floor, ceiling and back-off.
pub trait RtoEstimator: Debug + Send {
    /// Processes a sample: a segment sent at `sent` was acknowledged at `now`.
    fn on_sample(&mut self, sent: Instant, now: Instant);
    /// Returns the RTO; `None` before the first sample.
    fn base(&self) -> Option<Duration>;
    /// Returns the smoothed RTT (`SRTT`); `None` before the first sample.
    fn smoothed(&self) -> Option<Duration>;
    /// Returns the mean deviation of the RTT (`RTTVAR`); `None` before the first sample.
    fn variation(&self) -> Option<Duration>;
    /// Processes a back-off to `factor` times the RTO.
    fn on_back_off(&mut self, _factor: u64) {}
    /// Processes a spurious timeout.
    fn on_spurious(&mut self) {}
}

/// The estimator of ns-2 and 4.3BSD in whole clock ticks: `S` is eight times the smoothed RTT, `V` four times the mean deviation
/// (Jacobson 1988, appendix A; ns-2.35 `rtt_update`).
#[derive(Clone, Copy, Debug)]
pub struct CoarseEstimator {
    tick: Duration,
    phase: Duration,
    scaled_rtt: i64,
    scaled_deviation: i64,
    base_ticks: Option<i64>,
}

impl CoarseEstimator {
    /// Returns an estimator whose clock ticks every `tick`, with a tick `phase` before the start of the run.
    pub const fn new(tick: Duration, phase: Duration) -> Self {
        Self { tick, phase, scaled_rtt: 0, scaled_deviation: 0, base_ticks: None }
    }

    /// Returns the state (S, V) in ticks.
    pub const fn state(&self) -> (i64, i64) {
        (self.scaled_rtt, self.scaled_deviation)
    }

    /// Processes a sample in ticks.
    pub fn on_ticks(&mut self, ticks: i64) {
        // A sample within one tick counts as one tick (`rtt_update`).
        let ticks = ticks.max(1);
        if self.scaled_rtt == 0 {
            self.scaled_rtt = 8 * ticks;
            self.scaled_deviation = 2 * ticks;
        } else {
            let error = ticks - (self.scaled_rtt >> 3);
            self.scaled_rtt = (self.scaled_rtt + error).max(1);
            self.scaled_deviation = (self.scaled_deviation + error.abs() - (self.scaled_deviation >> 2)).max(1);
        }
        // `rtt_timeout`: S + 4·(V in its scale), shifted back to ticks.
        self.base_ticks = Some((8 * self.scaled_deviation + self.scaled_rtt) >> 3);
    }
}

impl RtoEstimator for CoarseEstimator {
    fn on_sample(&mut self, sent: Instant, now: Instant) {
        // The clock is read at both ends, so a sample is the number of ticks in between.
        let tick = self.tick.as_nanos();
        let since_tick = (sent.as_nanos() + self.phase.as_nanos()) % tick;
        self.on_ticks(((now - sent).as_nanos() + since_tick).div_euclid(tick).cast_signed());
    }

    fn base(&self) -> Option<Duration> {
        self.base_ticks.map(|ticks| self.tick * ticks as u64)
    }

    fn smoothed(&self) -> Option<Duration> {
        self.base_ticks.map(|_| self.tick * self.scaled_rtt as u64 / 8)
    }

    fn variation(&self) -> Option<Duration> {
        self.base_ticks.map(|_| self.tick * self.scaled_deviation as u64 / 4)
    }

    fn on_back_off(&mut self, factor: u64) {
        // ns-2 (`rtt_backoff`) and 4.3BSD: after so much back-off the old average is obsolete; it is kept as deviation, and the
        // next sample starts anew.
        if factor > 8 {
            self.scaled_deviation += self.scaled_rtt >> 3;
            self.scaled_rtt = 0;
        }
    }
}

/// The estimator of RFC 6298 §2.
#[derive(Clone, Copy, Debug)]
pub struct Rfc6298Estimator {
    granularity: Duration,
    smoothed: Option<Duration>,
    variation: Duration,
    /// Whether the last timeout was spurious: the next sample counts in full.
    was_spurious: bool,
}

impl Rfc6298Estimator {
    /// Returns an estimator for a clock of the given granularity (G in RFC 6298).
    pub const fn new(granularity: Duration) -> Self {
        Self { granularity, smoothed: None, variation: Duration::ZERO, was_spurious: false }
    }
}

impl RtoEstimator for Rfc6298Estimator {
    fn on_sample(&mut self, sent: Instant, now: Instant) {
        let sample = now - sent;
        let Some(smoothed) = self.smoothed else {
            // RFC 6298 (2.2)
            self.smoothed = Some(sample);
            self.variation = sample / 2;
            return;
        };
        if core::mem::take(&mut self.was_spurious) {
            // RFC 4015 §3.1, step 11, without the two clock ticks that its SRTT_prev has more.
            self.smoothed = Some(smoothed.max(sample));
            self.variation = self.variation.max(sample / 2);
            return;
        }
        // RFC 6298 (2.3): alpha = 1/8, beta = 1/4, the variation first.
        self.variation = (self.variation * 3 + smoothed.abs_diff(sample)) / 4;
        self.smoothed = Some((smoothed * 7 + sample) / 8);
    }

    fn on_spurious(&mut self) {
        self.was_spurious = true;
    }

    fn base(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| smoothed + self.granularity.max(self.variation * 4))
    }

    fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    fn variation(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.variation)
    }
}

/// Linux's estimator (`tcp_rtt_estimator` in `net/ipv4/tcp_input.c`): that of RFC 6298, but the variation falls at most once per
/// RTT, grows little when the RTT decreases, and has a floor.
#[derive(Clone, Copy, Debug)]
pub struct LinuxEstimator {
    /// The least value of four mean deviations (`tcp_rto_min_us`).
    floor: Duration,
    smoothed: Option<Duration>,
    /// Four mean deviations (`mdev`).
    deviation: Duration,
    /// The largest of them in this RTT (`mdev_max`).
    largest: Duration,
    /// The summand of the RTO beside the smoothed RTT (`rttvar`).
    variation: Duration,
    /// The RTT ends with the ACK of a segment sent after this time.
    round_started: Instant,
}

impl LinuxEstimator {
    /// Returns an estimator whose RTO exceeds the smoothed RTT by at least `floor`.
    pub const fn new(floor: Duration) -> Self {
        Self {
            floor,
            smoothed: None,
            deviation: Duration::ZERO,
            largest: Duration::ZERO,
            variation: Duration::ZERO,
            round_started: Instant::ZERO,
        }
    }

    fn start(&mut self, now: Instant, sample: Duration) {
        self.smoothed = Some(sample);
        // `rttvar` starts with twice the RTT: RFC 6298 (2.2) with a factor of four.
        self.deviation = sample * 2;
        self.variation = self.deviation.max(self.floor);
        self.largest = self.variation;
        self.round_started = now;
    }

    /// Moves the mean deviation by a quarter of its error; by 1/32 if it would grow because the RTT decreased.
    fn update_deviation(&mut self, smoothed: Duration, sample: Duration) {
        let (error, mean) = (smoothed.abs_diff(sample), self.deviation / 4);
        let growth = error.saturating_sub(mean);
        // A shorter RTT is good news and must not lengthen the RTO much (comment in `tcp_rtt_estimator`).
        let growth = if sample < smoothed { growth / 8 } else { growth };
        self.deviation = (self.deviation + growth).saturating_sub(mean.saturating_sub(error));
        self.largest = self.largest.max(self.deviation);
        self.variation = self.variation.max(self.largest);
    }

    fn end_round(&mut self, now: Instant) {
        // `rttvar` falls by a quarter towards the largest deviation of this RTT.
        let excess = self.variation.saturating_sub(self.largest);
        self.variation = self.variation.saturating_sub(excess / 4);
        self.largest = self.floor;
        self.round_started = now;
    }
}

impl RtoEstimator for LinuxEstimator {
    fn on_sample(&mut self, sent: Instant, now: Instant) {
        let sample = now - sent;
        let Some(smoothed) = self.smoothed else { return self.start(now, sample) };
        self.update_deviation(smoothed, sample);
        self.smoothed = Some((smoothed * 7 + sample) / 8);
        if sent > self.round_started {
            self.end_round(now);
        }
    }

    fn base(&self) -> Option<Duration> {
        self.smoothed.map(|smoothed| smoothed + self.variation)
    }

    fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    fn variation(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.deviation / 4)
    }
}

/// The estimator of a connection. An enum instead of a trait object: it is called for every ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Estimator {
    Coarse(CoarseEstimator),
    Rfc6298(Rfc6298Estimator),
    Linux(LinuxEstimator),
}

/// Calls a method of the variant.
macro_rules! of_each {
    ($self:ident, $estimator:ident => $call:expr) => {
        match $self {
            Self::Coarse($estimator) => $call,
            Self::Rfc6298($estimator) => $call,
            Self::Linux($estimator) => $call,
        }
    };
}

impl RtoEstimator for Estimator {
    #[inline]
    fn on_sample(&mut self, sent: Instant, now: Instant) {
        of_each!(self, estimator => estimator.on_sample(sent, now));
    }

    #[inline]
    fn base(&self) -> Option<Duration> {
        of_each!(self, estimator => estimator.base())
    }

    fn smoothed(&self) -> Option<Duration> {
        of_each!(self, estimator => estimator.smoothed())
    }

    fn variation(&self) -> Option<Duration> {
        of_each!(self, estimator => estimator.variation())
    }

    fn on_back_off(&mut self, factor: u64) {
        of_each!(self, estimator => estimator.on_back_off(factor));
    }

    fn on_spurious(&mut self) {
        of_each!(self, estimator => estimator.on_spurious());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    const SAMPLES_MS: [u64; 6] = [50, 70, 70, 60, 50, 50];

    fn bases_ms(tick: u64, samples: &[u64]) -> (Vec<u64>, (i64, i64)) {
        let mut estimator = CoarseEstimator::new(Duration::from_millis(tick), Duration::ZERO);
        let bases = samples.iter().map(|sample| {
            estimator.on_sample(Instant::ZERO, Instant::ZERO + Duration::from_millis(*sample));
            estimator.base().unwrap().as_nanos() / 1_000_000
        });
        (bases.collect(), estimator.state())
    }

    #[test]
    fn v1_tick_10_ms_gives_150_150_150_140_120_110_ms() {
        assert_eq!(bases_ms(10, &SAMPLES_MS).0, [150, 150, 150, 140, 120, 110]);
        conforms(
            Area::Timer,
            "coarse RTO estimator",
            "ns-2.35 rtt_update, Jacobson 1988",
            "six samples, tick 10 ms (V1)",
            "6 of 6 exact",
        );
    }

    #[test]
    fn v2_tick_1_ms_gives_150_147_144_129_115_104_ms_and_state_435_50() {
        assert_eq!(bases_ms(1, &SAMPLES_MS), ([150, 147, 144, 129, 115, 104].to_vec(), (435, 50)));
        conforms(
            Area::Timer,
            "coarse RTO estimator",
            "ns-2.35 rtt_update, Jacobson 1988",
            "six samples, tick 1 ms, and its state (V2)",
            "8 of 8 exact",
        );
    }

    #[test]
    fn v3_constant_50_ms_tick_10_ms_settles_at_80_ms_and_state_40_3() {
        let (bases, state) = bases_ms(10, &[50; 20]);
        assert_eq!((bases[19], state), (80, (40, 3)));
        conforms(
            Area::Timer,
            "coarse RTO estimator",
            "ns-2.35 rtt_update, Jacobson 1988",
            "20 equal samples, tick 10 ms (V3)",
            "80 ms, state exact",
        );
    }

    #[test]
    fn rfc_6298_first_sample_gives_srtt_plus_four_times_half_of_it() {
        let mut estimator = Rfc6298Estimator::new(Duration::from_millis(1));
        assert_eq!(estimator.base(), None);
        estimator.on_sample(Instant::ZERO, Instant::from_nanos(100_000_000));
        assert_eq!(estimator.base(), Some(Duration::from_millis(300)));
        // Second sample equal to the first: variation 37.5 ms.
        estimator.on_sample(Instant::ZERO, Instant::from_nanos(100_000_000));
        assert_eq!(estimator.base(), Some(Duration::from_millis(250)));
        conforms(Area::Timer, "RTO estimator", "RFC 6298 §2", "first two samples", "2 of 2 exact");
    }

    /// A steady round trip: the timeout stays 200 ms above it, where RFC 6298 would come down to its floor.
    #[test]
    fn linux_waits_at_least_200_ms_longer_than_a_round_trip() {
        let mut estimator = LinuxEstimator::new(Duration::from_millis(200));
        for round in 0..100 {
            let sent = Instant::from_nanos(round * 50_000_000);
            estimator.on_sample(sent, sent + Duration::from_millis(50));
        }
        assert_eq!(estimator.base(), Some(Duration::from_millis(250)));
        assert_eq!(estimator.smoothed(), Some(Duration::from_millis(50)));
    }

    /// The first sample counts for a deviation of half of it: 300 + 4·150 ms.
    #[test]
    fn linux_begins_with_three_round_trips() {
        let mut estimator = LinuxEstimator::new(Duration::from_millis(200));
        estimator.on_sample(Instant::ZERO, Instant::ZERO + Duration::from_millis(300));
        assert_eq!(estimator.base(), Some(Duration::from_millis(900)));
    }

    /// A single longer round trip is remembered for several of them: the variation loses a quarter of its excess in each.
    #[test]
    fn linux_forgets_a_long_round_trip_a_quarter_per_round_trip() {
        let mut estimator = LinuxEstimator::new(Duration::from_millis(200));
        let mut at = Instant::ZERO;
        let mut sample = |millis: u64| {
            let sent = at;
            at = sent + Duration::from_millis(millis + 1);
            estimator.on_sample(sent, sent + Duration::from_millis(millis));
            estimator.variation
        };
        assert_eq!((0..20).map(|_| sample(100)).last(), Some(Duration::from_millis(200)));
        let risen = sample(600);
        assert!(risen > Duration::from_millis(490), "{risen:?}");
        let after: Vec<Duration> = (0..3).map(|_| sample(100)).collect();
        assert!(after.windows(2).all(|pair| pair[1] < pair[0]) && after[2] > Duration::from_millis(200), "{after:?}");
    }

    /// RFC 4015 §3.1, step 11: SRTT is the larger of itself and the sample, RTTVAR of itself and half of the sample.
    #[test]
    fn after_a_spurious_timeout_the_next_sample_counts_in_full() {
        let mut estimator = Rfc6298Estimator::new(Duration::from_millis(1));
        let mut base_after = |millis, is_spurious: bool| {
            if is_spurious {
                estimator.on_spurious();
            }
            estimator.on_sample(Instant::ZERO, Instant::ZERO + Duration::from_millis(millis));
            estimator.base().expect("a sample").as_nanos() / 1_000_000
        };
        // 100 + 4·50, 300 + 4·150, 300 + 4·150.
        assert_eq!([(100, false), (300, true), (20, true)].map(|(millis, is)| base_after(millis, is)), [300, 900, 900]);
        // 7/8·300 + 1/8·300 + 4·3/4·150.
        assert_eq!(base_after(300, false), 750);
    }
}
