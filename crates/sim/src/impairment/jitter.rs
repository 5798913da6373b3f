use crate::loss::{Fading, MOST_DRAWN};
use crate::packet::Packet;
use crate::packet_filter::PacketFilter;
use crate::timestamp::Timestamp;
use earlybird_units::{Duration, Instant, Random};

/// Distribution of an additional delay.
#[derive(Clone, Debug, PartialEq)]
pub enum DelayDistribution {
    /// No delay.
    Zero,
    /// Equally likely from zero to this maximum.
    Uniform(Duration),
    /// Normal; negative draws count as zero.
    Normal {
        /// Mean of the draws.
        mean: Duration,
        /// Standard deviation of the draws.
        deviation: Duration,
    },
    /// Exponential with this mean.
    Exponential(Duration),
    /// Pareto distribution that begins at zero (Lomax).
    Pareto {
        /// Mean of the delays.
        mean: Duration,
        /// Exponent of the tail, above 1; below 2 the variance is infinite.
        shape: f64,
    },
    /// Quantiles at equal steps of probability from 0 to 1, at least one; linear between two.
    Quantiles(Vec<Duration>),
}

impl DelayDistribution {
    /// Draws a delay.
    fn draw(&self, random: &mut Random) -> Duration {
        let seconds = match self {
            Self::Zero => 0.0,
            Self::Uniform(max) => random.unit() * max.as_secs_f64(),
            Self::Normal { mean, deviation } => mean.as_secs_f64() + random.normal() * deviation.as_secs_f64(),
            Self::Exponential(mean) => random.exponential(mean.as_secs_f64()),
            Self::Pareto { mean, shape } => random.lomax(mean.as_secs_f64(), *shape),
            Self::Quantiles(quantiles) => interpolated(quantiles, random.unit()),
        };
        Duration::from_secs_f64(seconds.max(0.0))
    }
}

/// Returns the quantile at a probability from 0 to 1 in seconds.
fn interpolated(quantiles: &[Duration], probability: f64) -> f64 {
    let place = probability * quantiles.len().saturating_sub(1) as f64;
    let at = |index: usize| quantiles.get(index).or(quantiles.last()).map_or(0.0, |one| one.as_secs_f64());
    let (low, high) = (at(place as usize), at(place as usize + 1));
    low + (high - low) * place.fract()
}

/// Dependence of a packet's delay on the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DelayCorrelation {
    /// Each packet keeps the delay of the last one with this probability ρ, from 0 to below 1, and draws a new one otherwise.
    ///
    /// Packets at a distance of k have a correlation of ρ^k, whatever the distribution of the delays, which does not change
    /// (discrete autoregressive process DAR(1), Jacobs and Lewis 1978). With netem's `get_crandom` it would.
    PerPacket(f64),
    /// A new delay is drawn after times of random (exponential) length with this mean τ, above zero: packets at a distance of
    /// t have a correlation of exp(−t/τ).
    ///
    /// The times do not depend on the packets, so that with equal seeds all traffic meets the same delays, unless there is none for a
    /// million times τ.
    OverTime(Duration),
}

/// Times of random length in which delays are higher.
#[derive(Clone, Debug)]
pub struct DelaySpikes {
    /// The times; their share and mean length are those of the bad spells.
    pub times: Fading,
    /// Additional delay during such a time.
    pub delay: Duration,
    /// The random numbers for their lengths.
    pub random: Random,
}

/// Settings of a link's jitter.
#[derive(Clone, Debug)]
pub struct JitterSettings {
    /// Distribution of the additional delays.
    pub distribution: DelayDistribution,
    /// Correlation of successive delays.
    pub correlation: DelayCorrelation,
    /// Times with higher delays, if any.
    pub spikes: Option<DelaySpikes>,
    /// Whether packets may pass each other.
    pub reorders: bool,
    /// Packets that are delayed.
    pub filter: PacketFilter,
    /// Its random numbers.
    pub random: Random,
}

/// Additional delays that differ from packet to packet.
#[derive(Clone, Debug)]
pub struct Jitter {
    settings: JitterSettings,
    /// The last delay that was drawn.
    last: Option<Duration>,
    /// The end of the time for which the last delay holds, with [`DelayCorrelation::OverTime`].
    until: Instant,
    order: OrderKeeper,
}

impl Jitter {
    /// Makes the jitter of a link.
    pub fn new(settings: JitterSettings) -> Self {
        Self { settings, last: None, until: Instant::ZERO, order: OrderKeeper::default() }
    }

    /// Returns the arrival of a packet that would arrive at `arrival` without jitter.
    pub(super) fn delayed(&mut self, arrival: Timestamp, packet: &Packet) -> Timestamp {
        if !self.settings.filter.matches(packet) {
            return arrival;
        }
        let delay = self.delay_at(arrival.at);
        let due = arrival.after(delay, delay.as_secs_f64());
        if self.settings.reorders { due } else { self.order.in_order(due) }
    }

    /// Returns the additional delay of a packet at a time, which must not go back from call to call.
    pub fn delay_at(&mut self, now: Instant) -> Duration {
        let spike = self
            .settings
            .spikes
            .as_mut()
            .and_then(|DelaySpikes { times, delay, random }| times.is_bad_at(now, random).then_some(*delay));
        self.drawn_at(now) + spike.unwrap_or_default()
    }

    fn drawn_at(&mut self, now: Instant) -> Duration {
        let JitterSettings { distribution, correlation, random, .. } = &mut self.settings;
        match *correlation {
            DelayCorrelation::PerPacket(probability) => {
                // One draw for the decision even if nothing is kept, so that the stream does not depend on it.
                let keeps = random.unit() < probability;
                self.last = self.last.filter(|_| keeps).or_else(|| Some(distribution.draw(random)));
            }
            DelayCorrelation::OverTime(mean) => {
                if self.until < now && now.since(self.until).as_secs_f64() > MOST_DRAWN * mean.as_secs_f64() {
                    self.until = now;
                }
                while self.until <= now {
                    self.last = Some(distribution.draw(random));
                    self.until += Duration::from_secs_f64(random.exponential(mean.as_secs_f64()));
                }
            }
        }
        self.last.unwrap_or_default()
    }
}

/// Keeps packets of different delays in order: none arrives before the one in front of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OrderKeeper {
    latest: Option<Timestamp>,
}

impl OrderKeeper {
    pub(super) fn in_order(&mut self, due: Timestamp) -> Timestamp {
        // Equal timestamps of one link are handled in the order of scheduling.
        let in_order = self.latest.filter(|latest| latest.at >= due.at).unwrap_or(due);
        self.latest = Some(in_order);
        in_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_units::SeedTree;
    use proptest::prelude::*;

    const MEAN: Duration = Duration::from_millis(10);

    fn jitter(distribution: DelayDistribution, correlation: DelayCorrelation) -> Jitter {
        let (filter, random) = (PacketFilter::default(), SeedTree::new(4).random());
        Jitter::new(JitterSettings { distribution, correlation, spikes: None, reorders: false, filter, random })
    }

    /// Returns the delays in seconds of packets at a distance of `gap`.
    fn delays(jitter: &mut Jitter, gap: Duration, count: u64) -> Vec<f64> {
        (0..count).map(|index| jitter.delay_at(Instant::ZERO + gap * index).as_secs_f64()).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn variance(values: &[f64]) -> f64 {
        let mean = mean(values);
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
    }

    fn autocorrelation(values: &[f64], distance: usize) -> f64 {
        let mean = mean(values);
        let pairs = values.iter().zip(&values[distance..]);
        let products: f64 = pairs.map(|(one, other)| (one - mean) * (other - mean)).sum();
        products / (values.len() - distance) as f64 / variance(values)
    }

    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
    }

    /// The symptom: a run whose packets paused for a billion seconds did not end.
    #[test]
    fn the_delay_after_a_long_pause_is_drawn_at_once() {
        let correlation = DelayCorrelation::OverTime(Duration::from_micros(1));
        let mut jitter = jitter(DelayDistribution::Exponential(MEAN), correlation);
        let delays = delays(&mut jitter, Duration::from_secs(1_000_000), 5000);
        assert_near(mean(&delays), 0.010, 0.0005);
        assert_near(autocorrelation(&delays, 1), 0.0, 0.05);
    }

    /// Moments of the distributions, by their formulas.
    #[test]
    fn delays_have_the_mean_and_deviation_of_their_distribution() {
        let second = |millis: f64| millis / 1e3;
        let cases = [
            (DelayDistribution::Zero, 0.0, 0.0),
            (DelayDistribution::Uniform(MEAN * 2), 10.0, 20.0 / 12_f64.sqrt()),
            // Five deviations above zero: cutting at zero does not show.
            (DelayDistribution::Normal { mean: MEAN, deviation: MEAN / 5 }, 10.0, 2.0),
            (DelayDistribution::Exponential(MEAN), 10.0, 10.0),
            // Lomax: variance = mean²·shape/(shape − 2).
            (DelayDistribution::Pareto { mean: MEAN, shape: 6.0 }, 10.0, 10.0 * 1.5_f64.sqrt()),
            (DelayDistribution::Quantiles(vec![MEAN]), 10.0, 0.0),
            // Two linear pieces, 0 to 10 ms and 10 to 40 ms: ∫x²/2 = 50/3 + 350, less 15².
            (
                DelayDistribution::Quantiles(vec![Duration::ZERO, MEAN, MEAN * 4]),
                15.0,
                (1100.0_f64 / 3.0 - 225.0).sqrt(),
            ),
        ];
        for (distribution, expected, deviation) in cases {
            let delays = delays(&mut jitter(distribution.clone(), DelayCorrelation::PerPacket(0.0)), MEAN, 200_000);
            // Four standard errors of 200,000 draws are below 1 % of the deviation for the mean.
            assert_near(mean(&delays), second(expected), second(deviation) * 0.01 + 1e-9);
            assert_near(variance(&delays).sqrt(), second(deviation), second(deviation) * 0.03 + 1e-9);
        }
    }

    /// Interarrival jitter of RFC 3550 §6.4.1: the mean of |D| of independent delays from 0 to m is m/3.
    #[test]
    fn independent_uniform_delays_have_a_third_of_their_range_as_rfc_3550_jitter() {
        let mut jitter = jitter(DelayDistribution::Uniform(MEAN * 3), DelayCorrelation::PerPacket(0.0));
        let delays = delays(&mut jitter, MEAN, 100_000);
        let differences: Vec<f64> = delays.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        assert_near(mean(&differences), 0.01, 0.0002);
    }

    #[test]
    fn delays_at_a_distance_of_k_packets_have_a_correlation_of_rho_to_the_k() {
        for rho in [0.0, 0.25, 0.8_f64] {
            let mut jitter = jitter(DelayDistribution::Exponential(MEAN), DelayCorrelation::PerPacket(rho));
            let delays = delays(&mut jitter, MEAN, 400_000);
            for distance in [1, 2, 5] {
                assert_near(autocorrelation(&delays, distance), rho.powf(distance as f64), 0.02);
            }
            assert_near(mean(&delays), 0.01, 0.0003);
        }
    }

    #[test]
    fn delays_at_a_distance_in_time_are_correlated_alike_whatever_the_packet_rate() {
        let time = Duration::from_millis(50);
        for gap in [Duration::from_millis(5), Duration::from_millis(25)] {
            let mut jitter = jitter(DelayDistribution::Uniform(MEAN), DelayCorrelation::OverTime(time));
            let delays = delays(&mut jitter, gap, 400_000);
            let distance = 25_000_000 / gap.as_nanos() as usize;
            // exp(−25/50)
            assert_near(autocorrelation(&delays, distance), (-0.5_f64).exp(), 0.02);
        }
    }

    #[test]
    fn traffic_does_not_change_delays_that_are_correlated_over_time() {
        let time = DelayCorrelation::OverTime(MEAN);
        let both = [1, 7].map(|step: u64| {
            delays(&mut jitter(DelayDistribution::Uniform(MEAN), time), Duration::from_millis(step), 7_000 / step)
        });
        let every_seventh: Vec<f64> = both[0].iter().copied().step_by(7).collect();
        assert_eq!(every_seventh, both[1]);
    }

    #[test]
    fn spikes_take_their_share_of_the_time() {
        let mut jitter = jitter(DelayDistribution::Zero, DelayCorrelation::PerPacket(0.0));
        let times = Fading::new(0.2, Duration::from_millis(300));
        jitter.settings.spikes = Some(DelaySpikes { times, delay: MEAN, random: SeedTree::new(5).random() });
        let delays = delays(&mut jitter, Duration::from_millis(10), 1_000_000);
        let high = delays.iter().filter(|delay| **delay > 0.0).count() as f64;
        assert_near(high / 1e6, 0.2, 0.01);
        let begins = delays.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
        // Samples at a distance of 10 ms miss spells shorter than that: 300 ms appear as 300 / exp(−10/300).
        assert_near(high * 10.0 / begins, 300.0 * (10.0_f64 / 300.0).exp(), 15.0);
    }

    proptest! {
        #[test]
        fn no_packet_arrives_before_the_one_in_front_of_it(gaps in prop::collection::vec((0_u64..20, 0_u64..30), 1..100)) {
            let (mut order, mut now) = (OrderKeeper::default(), Timestamp::ZERO);
            let mut last = now;
            for (gap, delay) in gaps {
                now = now.until(now.at + Duration::from_millis(gap));
                let due = now.until(now.at + Duration::from_millis(delay));
                let kept = order.in_order(due);
                prop_assert!(kept.at >= last.at && kept.at >= due.at);
                // Delayed no longer than for the one in front.
                prop_assert!(kept.at == due.at || kept == last);
                last = kept;
            }
        }
    }
}
