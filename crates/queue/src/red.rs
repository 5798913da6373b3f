//! Random Early Detection: drops at the entrance with a probability that grows with the average queue.
//!
//! Floyd and Jacobson, "Random Early Detection gateways for congestion avoidance", 1993; the *gentle* slope above the
//! upper threshold: Floyd, "Recommendation on using the gentle_ variant of RED", 2000; *adaptive*: Floyd, Gummadi and
//! Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue management", 2001. Details
//! as in ns-2.35's `red.cc` with the queue measured in packets.

use crate::fifo::Fifo;
use crate::{Dropped, Queue, QueueLimit, QueueSettings, QueuedPacket};
use earlybird_units::{Duration, Instant, Random, Rate};

/// The parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSettings {
    /// Average queue in packets from which on packets are dropped (`None`: half of what `target_delay` needs, at least 5).
    pub min_threshold: Option<f64>,
    /// Average queue in packets at which the probability is `max_probability` (`None`: three times `min_threshold`).
    pub max_threshold: Option<f64>,
    /// Weight of a packet in the average (`None`: 1 − exp(−1/C) for C packets per second, ARED §4.1).
    pub weight: Option<f64>,
    /// Probability of a drop at the upper threshold; where an adaptive queue starts.
    pub max_probability: f64,
    /// Above the upper threshold the probability rises to 1 at twice the threshold, instead of a jump.
    pub gentle: bool,
    /// Two drops are at least 1/p packets apart, as with ns-2's `wait_`.
    pub wait: bool,
    /// `max_probability` follows the average.
    pub adaptive: bool,
    /// Average waiting time at which the automatic thresholds aim (ARED §4.2).
    pub target_delay: Duration,
    /// Bytes of a usual packet, by which C and the packets missing in idle times are counted.
    pub mean_packet: u32,
    /// Packets of ECN-capable senders are marked instead of dropped.
    pub ecn: bool,
}

/// The constants by which an adaptive queue moves its probability (ARED figure 1).
mod adaptive {
    use super::Duration;

    /// Time from change to change.
    pub(crate) const INTERVAL: Duration = Duration::from_millis(500);
    /// Largest step up; never more than a quarter.
    pub(crate) const INCREASE: f64 = 0.01;
    /// Factor on the way down.
    pub(crate) const DECREASE: f64 = 0.9;
    /// Least probability.
    pub(crate) const BOTTOM: f64 = 0.01;
    /// Greatest probability.
    pub(crate) const TOP: f64 = 0.5;
    /// The target range leaves out this share of the distance of the thresholds at either end.
    pub(crate) const MARGIN: f64 = 0.4;
}

/// RED's parameters as numbers.
#[derive(Clone, Copy, Debug)]
struct Curve {
    min_threshold: f64,
    max_threshold: f64,
    gentle: bool,
}

impl Curve {
    /// Returns the probability `p_b` of a drop at this average.
    fn probability(self, average: f64, max_probability: f64) -> f64 {
        if average < self.max_threshold {
            return max_probability * (average - self.min_threshold) / (self.max_threshold - self.min_threshold);
        }
        let above = (average - self.max_threshold) / self.max_threshold;
        if self.gentle { (max_probability + (1.0 - max_probability) * above).min(1.0) } else { 1.0 }
    }
}

/// Spreads drops evenly: gives `p_a` from `p_b` and the number of packets since the last drop (Floyd and Jacobson §7, method
/// 2; with `wait` shifted so that none comes within 1/`p_b` packets).
fn spread(probability: f64, count: f64, wait: bool) -> f64 {
    let due = count * probability;
    let rest = if wait { 2.0 - due } else { 1.0 - due };
    if wait && due < 1.0 {
        0.0
    } else if rest > 0.0 {
        (probability / rest).min(1.0)
    } else {
        1.0
    }
}

/// The treatment of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Chosen at random.
    Early,
    /// The average is beyond the slope.
    Forced,
}

/// One queue under RED.
#[derive(Debug)]
pub(crate) struct Red {
    curve: Curve,
    weight: f64,
    max_probability: f64,
    wait: bool,
    is_adaptive: bool,
    ecn: bool,
    packets_per_second: f64,
    limit: QueueLimit,
    random: Random,
    fifo: Fifo,
    average: f64,
    /// Packets since the last drop.
    count: u64,
    /// Whether the average was above the lower threshold when the last packet arrived.
    was_above: bool,
    idle_since: Option<Instant>,
    adapted: Instant,
}

impl Red {
    pub(crate) fn new(settings: &RedSettings, limit: QueueLimit, rate: Rate, random: Random) -> Self {
        let packets_per_second = rate.bits_per_second() as f64 / (8.0 * f64::from(settings.mean_packet));
        let target = settings.target_delay.as_secs_f64() * packets_per_second;
        let min_threshold = settings.min_threshold.unwrap_or((target / 2.0).max(5.0));
        let max_threshold = settings.max_threshold.unwrap_or(3.0 * min_threshold);
        Self {
            curve: Curve { min_threshold, max_threshold, gentle: settings.gentle },
            weight: settings.weight.unwrap_or_else(|| 1.0 - libm::exp(-1.0 / packets_per_second)),
            max_probability: settings.max_probability,
            wait: settings.wait,
            is_adaptive: settings.adaptive,
            ecn: settings.ecn,
            packets_per_second,
            limit,
            random,
            fifo: Fifo::default(),
            average: 0.0,
            count: 0,
            was_above: false,
            idle_since: Some(Instant::ZERO),
            adapted: Instant::ZERO,
        }
    }

    /// Moves the average; an idle time counts as if that many packets had found the queue empty.
    fn update_average(&mut self, now: Instant) {
        if let Some(since) = self.idle_since.take() {
            // Whole packets, as ns-2 truncates to an `int`.
            let missing = ((now - since).as_secs_f64() * self.packets_per_second).floor();
            self.average *= libm::pow(1.0 - self.weight, missing);
        }
        self.average += self.weight * (self.fifo.len() as f64 - self.average);
        // Tested at arrivals only, as in ns-2: an idle queue keeps its probability.
        if self.is_adaptive && now > self.adapted + adaptive::INTERVAL {
            self.adapt(now);
        }
    }

    /// Keeps the average half way between the thresholds (ARED figure 1).
    fn adapt(&mut self, now: Instant) {
        let margin = adaptive::MARGIN * (self.curve.max_threshold - self.curve.min_threshold);
        if self.average > self.curve.max_threshold - margin && self.max_probability < adaptive::TOP {
            // Additive increase, multiplicative decrease (ARED figure 1).
            self.max_probability += adaptive::INCREASE.min(self.max_probability / 4.0);
            self.adapted = now;
        } else if self.average < self.curve.min_threshold + margin && self.max_probability > adaptive::BOTTOM {
            self.max_probability *= adaptive::DECREASE;
            self.adapted = now;
        }
    }

    fn judge(&mut self) -> Verdict {
        self.count += 1;
        // ns-2 never drops early from a queue of at most one packet, even with a high average.
        if self.average < self.curve.min_threshold || self.fifo.len() <= 1 {
            self.was_above = false;
            return Verdict::Pass;
        }
        let end_of_slope = if self.curve.gentle { 2.0 } else { 1.0 } * self.curve.max_threshold;
        if self.average >= end_of_slope {
            return Verdict::Forced;
        }
        if !self.was_above {
            // The first packet above the threshold passes: the count starts with it.
            (self.was_above, self.count) = (true, 1);
            return Verdict::Pass;
        }
        self.draw()
    }

    fn draw(&mut self) -> Verdict {
        let probability = self.curve.probability(self.average, self.max_probability);
        if self.random.unit() >= spread(probability, self.count as f64, self.wait) {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Early
    }

    /// Marks replace early drops below the upper threshold only (RFC 3168 §7; ns-2's `mark_p_`).
    fn may_mark(&self) -> bool {
        self.ecn && self.average < self.curve.max_threshold
    }
}

impl QueueSettings for RedSettings {
    fn queue(self, limit: QueueLimit, rate: Rate, random: Random) -> Box<dyn Queue> {
        Box::new(Red::new(&self, limit, rate, random))
    }
}

impl Queue for Red {
    fn enqueue(&mut self, now: Instant, mut packet: QueuedPacket, dropped: &mut Dropped) {
        // Before the packet is queued: the average is of the queue that it finds.
        self.update_average(now);
        let has_room = self.limit.has_room(self.fifo.len(), self.fifo.bytes(), packet.bytes);
        let passes = match self.judge() {
            Verdict::Pass => true,
            Verdict::Early => has_room && self.may_mark() && packet.mark(),
            Verdict::Forced => false,
        };
        if passes && has_room {
            self.fifo.push(packet);
        } else {
            dropped.push_back(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Dropped) -> Option<QueuedPacket> {
        let packet = self.fifo.pop();
        if packet.is_none() {
            // As in ns-2, idle time begins with a dequeue that finds nothing, not with the one that takes the last packet.
            self.idle_since = Some(now);
        }
        packet
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestQueue, millis, packet};
    use super::*;
    use earlybird_conformance::{Area, conforms};
    use earlybird_units::SeedTree;
    use earlybird_wire::Ecn;

    const SETTINGS: RedSettings = RedSettings {
        min_threshold: Some(5.0),
        max_threshold: Some(15.0),
        weight: Some(0.0042),
        max_probability: 0.1,
        gentle: true,
        wait: false,
        adaptive: false,
        target_delay: Duration::from_millis(5),
        mean_packet: 1000,
        ecn: false,
    };

    /// A queue in front of a link of 1000 packets of 1000 bytes per second.
    fn red(settings: RedSettings) -> TestQueue<Red> {
        let rate = Rate::from_bits_per_second(8_000_000).unwrap();
        TestQueue::new(Red::new(&settings, QueueLimit::Unlimited, rate, SeedTree::new(1).random()))
    }

    fn is_close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn the_probability_rises_to_its_maximum_and_gently_on_to_one() {
        let gentle = Curve { min_threshold: 5.0, max_threshold: 15.0, gentle: true };
        let points = [(5.0, 0.0), (10.0, 0.05), (14.0, 0.09), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0), (40.0, 1.0)];
        for (average, probability) in points {
            assert!(is_close(gentle.probability(average, 0.1), probability), "{average}");
        }
        let steep = Curve { gentle: false, ..gentle };
        assert!(is_close(steep.probability(14.0, 0.1), 0.09) && is_close(steep.probability(15.0, 0.1), 1.0));
        let compared = "probability at 7 averages between and above the thresholds 5 and 15";
        conforms(Area::Queue, "red", "Floyd and Jacobson 1993 §4; Floyd 2000 (gentle)", compared, "7 of 7 within 1e-9");
    }

    /// Floyd and Jacobson, equation (2): the average after a burst of L packets at an empty queue. A weight of 0.0042 is
    /// the largest that lets 50 packets pass below a threshold of 5.
    #[test]
    fn a_burst_of_50_packets_at_weight_0_0042_stays_below_the_threshold_5() {
        let mut bench = red(SETTINGS);
        // A packet does not count itself: the one after the burst finds it all.
        for number in 0..=50 {
            bench.put(packet(millis(0), number));
        }
        let (weight, length) = (0.0042_f64, 50.0);
        let expected = length + 1.0 + ((1.0 - weight).powf(length + 1.0) - 1.0) / weight;
        assert!(is_close(bench.queue.average, expected), "{} {expected}", bench.queue.average);
        assert!((4.9..5.1).contains(&expected) && bench.dropped().is_empty());
        let compared = "average after a burst of 50 packets at weight 0.0042 (equation 2)";
        conforms(Area::Queue, "red", "Floyd and Jacobson 1993 §6.1", compared, "equal within 1e-9: 4.97 packets");
    }

    /// 100 ms without packets count as 100 that found the queue empty.
    #[test]
    fn idle_time_decays_the_average_by_the_packets_that_could_have_come() {
        let mut bench = red(SETTINGS);
        for number in 0..30 {
            bench.put(packet(millis(0), number));
        }
        let before = bench.queue.average;
        while bench.take(millis(50)).is_some() {}
        bench.put(packet(millis(150), 99));
        assert!(is_close(bench.queue.average, before * (1.0 - 0.0042_f64).powi(101)));
    }

    fn gaps(probability: f64, wait: bool) -> Vec<u64> {
        let mut random = SeedTree::new(7).random();
        let (mut gaps, mut count) = (Vec::new(), 0);
        for _ in 0..500_000 {
            count += 1;
            if random.unit() < spread(probability, f64::from(count), wait) {
                gaps.push(u64::try_from(count).unwrap());
                count = 0;
            }
        }
        gaps
    }

    /// Figure 8 of the paper marks roughly 100 of 5000 packets with an initial probability of 0.01 and this method.
    #[test]
    fn drops_are_spread_evenly_over_1_to_100_packets_at_one_percent() {
        let even = gaps(0.01, false);
        assert!(even.iter().all(|gap| (1..=100).contains(gap)));
        let per_5000 = even.len() as f64 / 100.0;
        assert!((96.0..102.0).contains(&per_5000), "{per_5000} of 5000");
        let waiting = gaps(0.01, true);
        assert!(waiting.iter().all(|gap| (100..=200).contains(gap)));
        let mean = waiting.iter().sum::<u64>() as f64 / waiting.len() as f64;
        assert!((147.0..153.0).contains(&mean), "{mean}");
        let compared = "drops among 5000 packets at 0.01 with even gaps (method 2, figure 8)";
        conforms(Area::Queue, "red", "Floyd and Jacobson 1993 §7", compared, "about 100; gaps 1 to 100");
    }

    #[test]
    fn below_the_upper_threshold_capable_packets_are_marked_and_above_it_all_are_dropped() {
        let mut bench = red(RedSettings { weight: Some(1.0), max_probability: 1.0, ecn: true, ..SETTINGS });
        for number in 0..15 {
            bench.put(QueuedPacket { ecn: Ecn::Capable0, ..packet(millis(0), number) });
        }
        assert!(bench.dropped().is_empty());
        // At the threshold of 15 marks no longer help.
        for number in 15..100 {
            bench.put(QueuedPacket { ecn: Ecn::Capable0, ..packet(millis(0), number) });
        }
        assert!(bench.queue.len() == 15 && bench.dropped().len() == 85);
        let marked = std::iter::from_fn(|| bench.take(millis(1))).filter(|packet| packet.is_marked).count();
        assert!((3..10).contains(&marked), "{marked}");
    }

    #[test]
    fn an_adaptive_queue_raises_its_maximum_by_a_quarter_or_a_hundredth_and_lowers_it_by_a_tenth() {
        let mut red = red(RedSettings { adaptive: true, max_probability: 0.02, ..SETTINGS }).queue;
        let mut after = |average: f64, at: u64| {
            (red.average, red.weight) = (average, 0.0);
            red.update_average(millis(at));
            red.max_probability
        };
        // The target range is 9 … 11.
        assert!(is_close(after(11.5, 600), 0.025) && is_close(after(11.5, 700), 0.025));
        assert!(is_close(after(10.0, 1200), 0.025) && is_close(after(8.5, 1300), 0.0225));
        (red.max_probability, red.adapted) = (0.1, millis(0));
        let mut after = |average: f64, at: u64| {
            red.average = average;
            red.update_average(millis(at));
            red.max_probability
        };
        assert!(is_close(after(12.0, 2000), 0.11));
        conforms(Area::Queue, "red", "Adaptive RED 2001 figure 1", "4 steps of the maximum probability", "4 of 4");
    }

    #[test]
    fn thresholds_and_weight_follow_from_the_link() {
        let automatic = RedSettings { min_threshold: None, max_threshold: None, weight: None, ..SETTINGS };
        // ARED §4: 5 ms of 1000 packets per second are fewer than the least; of 12500 they are 62.5.
        let slow = red(automatic).queue;
        let rate = Rate::from_bits_per_second(100_000_000).unwrap();
        let fast = Red::new(&automatic, QueueLimit::Unlimited, rate, SeedTree::new(1).random());
        assert!(is_close(slow.curve.min_threshold, 5.0) && is_close(slow.curve.max_threshold, 15.0));
        assert!(is_close(fast.curve.min_threshold, 31.25) && is_close(fast.curve.max_threshold, 93.75));
        assert!(is_close(slow.weight, 1.0 - (-0.001_f64).exp()));
        conforms(Area::Queue, "red", "Adaptive RED 2001 §4", "automatic thresholds and weight of 2 links", "5 of 5");
    }
}
