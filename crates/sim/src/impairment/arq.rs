use super::jitter::OrderKeeper;
use crate::packet::Packet;
use crate::packet_filter::PacketFilter;
use crate::timestamp::Timestamp;
use earlybird_units::{Duration, Random};

/// Settings of a link's retransmissions.
#[derive(Clone, Debug)]
pub struct ArqSettings {
    /// Probability that a transmission fails, below 1.
    pub loss: f64,
    /// Greatest number of retransmissions.
    pub retries: u32,
    /// Time from a transmission to the next one.
    pub delay: Duration,
    /// Whether packets may pass those that are retransmitted.
    pub reorders: bool,
    /// Packets that are retransmitted.
    pub filter: PacketFilter,
    /// The random numbers.
    pub random: Random,
}

/// Retransmissions by a link of its own (ARQ; RFC 3366), as a delay of the packets that they bring over.
///
/// The packets that stay lost are those of an independent rule, [`Arq::residual_loss`]: of a packet that arrives, the number
/// of retransmissions is drawn under the condition that one succeeds.
#[derive(Clone, Debug)]
pub struct Arq {
    settings: ArqSettings,
    order: OrderKeeper,
}

impl Arq {
    /// Makes the retransmissions of a link.
    pub fn new(settings: ArqSettings) -> Self {
        Self { settings, order: OrderKeeper::default() }
    }

    /// Returns the probability that all transmissions of a packet fail: pⁿ⁺¹ with n retransmissions.
    pub fn residual_loss(loss: f64, retries: u32) -> f64 {
        (0..retries).fold(loss, |all, _| all * loss)
    }

    /// Returns the arrival of a packet whose first transmission would arrive at `arrival`.
    pub(super) fn delayed(&mut self, arrival: Timestamp, packet: &Packet) -> Timestamp {
        if !self.settings.filter.matches(packet) {
            return arrival;
        }
        let delay = self.settings.delay * u64::from(self.draw_retries());
        let due = arrival.after(delay, delay.as_secs_f64());
        if self.settings.reorders { due } else { self.order.in_order(due) }
    }

    /// Draws how many retransmissions bring a packet over (inverse transform of the truncated geometric distribution).
    fn draw_retries(&mut self) -> u32 {
        let ArqSettings { loss, retries, random, .. } = &mut self.settings;
        let mut rest = 1.0 - random.unit() * (1.0 - Self::residual_loss(*loss, *retries));
        let mut count = 0;
        // P(more than k) = pᵏ⁺¹: divided by p again and again instead of a logarithm.
        while rest <= *loss && count < *retries {
            rest /= *loss;
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_units::SeedTree;

    fn counts(loss: f64, retries: u32, packets: usize) -> Vec<u32> {
        let (filter, random) = (PacketFilter::default(), SeedTree::new(3).random());
        let delay = Duration::from_millis(8);
        let mut arq = Arq::new(ArqSettings { loss, retries, delay, reorders: false, filter, random });
        (0..packets).map(|_| arq.draw_retries()).collect()
    }

    /// Transmissions of a packet: (1 − pⁿ⁺¹)/(1 − p) on average, counting those of lost packets, which are all n + 1.
    #[test]
    fn mean_attempts_are_those_of_the_truncated_geometric_distribution() {
        for (loss, retries) in [(0.0, 3_u32), (0.1, 3), (0.5, 1), (0.5, 7), (0.9, 4), (0.3, 0)] {
            let packets = 200_000;
            let counts = counts(loss, retries, packets);
            let lost = Arq::residual_loss(loss, retries);
            let delivered = 1.0 + counts.iter().map(|count| f64::from(*count)).sum::<f64>() / packets as f64;
            let mean = delivered * (1.0 - lost) + lost * f64::from(retries + 1);
            let expected = (1.0 - loss.powf(f64::from(retries) + 1.0)) / (1.0 - loss);
            assert!((mean - expected).abs() < 0.015, "{loss} {retries}: {mean}, not {expected}");
        }
    }

    /// Of packets that arrive, a share of (1 − p)·pᵏ/(1 − pⁿ⁺¹) took k retransmissions; counted by trial and rejection.
    #[test]
    fn retransmissions_are_those_of_trials_until_one_succeeds() {
        let (loss, retries, packets) = (0.6, 3, 200_000);
        let mut random = SeedTree::new(9).random();
        let mut trial = || (0..=retries).find(|_| random.unit() >= loss);
        let trials: Vec<u32> = std::iter::repeat_with(&mut trial).flatten().take(packets).collect();
        let counts = counts(loss, retries, packets);
        for number in 0..=retries {
            let share =
                |counts: &[u32]| counts.iter().filter(|count| **count == number).count() as f64 / packets as f64;
            assert!((share(&counts) - share(&trials)).abs() < 0.006, "{number}");
        }
    }
}
