//! Random Early Detection: drops at the entrance with a probability that grows with the average queue.
//!
//! Floyd and Jacobson, "Random Early Detection gateways for congestion avoidance", 1993; the *gentle* slope above the
//! upper threshold: Floyd, "Recommendation on using the gentle_ variant of RED", 2000; *adaptive*: Floyd, Gummadi and
//! Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue management", 2001. Details
//! as in ns-2.35's `red.cc` with the queue measured in packets.

use super::fifo::Fifo;
use super::{Dropped, Queue, QueueLimit, Waiting};
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
    /// Above the upper threshold the probability rises to 1 at twice the threshold, in place of a jump.
    pub gentle: bool,
    /// Two drops are at least 1/p packets apart, as ns-2's `wait_` has it.
    pub wait: bool,
    /// `max_probability` follows the average.
    pub adaptive: bool,
    /// Average waiting time at which the automatic thresholds aim (ARED §4.2).
    pub target_delay: Duration,
    /// Bytes of a usual packet, by which C and the packets missing in idle times are counted.
    pub mean_packet: u32,
    /// Packets of senders that understand marks are marked in place of being dropped.
    pub ecn: bool,
}

/// How an adaptive queue moves its probability (ARED figure 1).
mod adaptive {
    use super::Duration;

    /// Time from change to change.
    pub(super) const INTERVAL: Duration = Duration::from_millis(500);
    /// Largest step up; never more than a quarter.
    pub(super) const INCREASE: f64 = 0.01;
    /// Factor on the way down.
    pub(super) const DECREASE: f64 = 0.9;
    /// Least probability.
    pub(super) const BOTTOM: f64 = 0.01;
    /// Greatest probability.
    pub(super) const TOP: f64 = 0.5;
    /// The target range leaves out this share of the distance of the thresholds at either end.
    pub(super) const MARGIN: f64 = 0.4;
}

/// RED's parameters as numbers.
#[derive(Clone, Copy, Debug)]
struct Curve {
    min_threshold: f64,
    max_threshold: f64,
    gentle: bool,
}

impl Curve {
    /// Gives the probability `p_b` of a drop at this average.
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

/// What happens to an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Chosen by chance.
    Early,
    /// The average is beyond the slope.
    Forced,
}

/// One queue under RED.
#[derive(Debug)]
pub(super) struct Red {
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
    /// Whether the average was above the lower threshold when the last packet came.
    was_above: bool,
    idle_since: Option<Instant>,
    adapted: Instant,
}

impl Red {
    pub(super) fn new(settings: &RedSettings, limit: QueueLimit, rate: Rate, random: Random) -> Self {
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
            let missing = ((now - since).as_secs_f64() * self.packets_per_second).floor();
            self.average *= libm::pow(1.0 - self.weight, missing);
        }
        self.average += self.weight * (self.fifo.len() as f64 - self.average);
        if self.is_adaptive && now > self.adapted + adaptive::INTERVAL {
            self.adapt(now);
        }
    }

    /// Keeps the average half way between the thresholds (ARED figure 1).
    fn adapt(&mut self, now: Instant) {
        let margin = adaptive::MARGIN * (self.curve.max_threshold - self.curve.min_threshold);
        if self.average > self.curve.max_threshold - margin && self.max_probability < adaptive::TOP {
            self.max_probability += adaptive::INCREASE.min(self.max_probability / 4.0);
            self.adapted = now;
        } else if self.average < self.curve.min_threshold + margin && self.max_probability > adaptive::BOTTOM {
            self.max_probability *= adaptive::DECREASE;
            self.adapted = now;
        }
    }

    fn judge(&mut self) -> Verdict {
        self.count += 1;
        if self.average < self.curve.min_threshold || self.fifo.len() <= 1 {
            self.was_above = false;
            return Verdict::Pass;
        }
        let end_of_slope = if self.curve.gentle { 2.0 } else { 1.0 } * self.curve.max_threshold;
        if self.average >= end_of_slope {
            return Verdict::Forced;
        }
        if !self.was_above {
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

    /// Marks stand for early drops below the upper threshold only (RFC 3168 §7; ns-2's `mark_p_`).
    fn may_mark(&self) -> bool {
        self.ecn && self.average < self.curve.max_threshold
    }
}

impl Queue for Red {
    fn enqueue(&mut self, now: Instant, mut packet: Waiting, dropped: &mut Dropped) {
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

    fn dequeue(&mut self, now: Instant, _dropped: &mut Dropped) -> Option<Waiting> {
        let packet = self.fifo.pop();
        if packet.is_none() {
            self.idle_since = Some(now);
        }
        packet
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}
