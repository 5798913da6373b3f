//! Proportional Integral controller Enhanced (Pan, Natarajan, Baker and White, RFC 8033): drops on arrival. A
//! controller sets the drop probability so that the queueing delay moves towards the target delay.

use crate::fifo::Fifo;
use crate::{Dropped, Queue, QueueLimit, QueueSettings, QueuedPacket};
use earlybird_units::{Duration, Instant, Random, Rate};

/// The parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSettings {
    /// Target queueing delay (RFC 8033 §4.2: 15 ms).
    pub target: Duration,
    /// Time from one change of the probability to the next (§4.2: 15 ms).
    pub update: Duration,
    /// Burst allowance: no drops for this long after an idle period (§4.4: 150 ms).
    pub burst: Duration,
    /// Gain for the distance from the target, in Hz (§4.2: 0.125).
    pub alpha: f64,
    /// Gain for the change since the last time, in Hz (§4.2: 1.25).
    pub beta: f64,
    /// Packets of ECN-capable senders are marked instead of dropped.
    pub ecn: bool,
    /// Up to this probability: above it they are dropped (§5.1: 0.1).
    pub mark_limit: f64,
}

/// The usual packet in bytes (RFC 8033 §4.1): two of them may always wait.
const MEAN_PACKET: u64 = 1500;
/// Sums of probabilities up to which none, and from which on every packet is dropped (§5.4).
const SURE_PASS: f64 = 0.85;
const SURE_DROP: f64 = 8.5;

/// One queue under PIE. Queueing delays are measured by timestamps (§4.3), at each update.
#[derive(Debug)]
pub(crate) struct Pie {
    settings: PieSettings,
    limit: QueueLimit,
    random: Random,
    fifo: Fifo,
    probability: f64,
    /// Queueing delay of the first packet at the last update …
    delay: Duration,
    /// … and at the previous one.
    old_delay: Duration,
    burst_left: Duration,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    next_update: Instant,
}

impl Pie {
    pub(crate) fn new(settings: PieSettings, limit: QueueLimit, random: Random) -> Self {
        Self {
            limit,
            random,
            fifo: Fifo::default(),
            probability: 0.0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            burst_left: settings.burst,
            accumulated: 0.0,
            next_update: Instant::ZERO + settings.update,
            settings,
        }
    }

    /// Makes the updates that were due since the last call: the queue has not changed in between, so none is late.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            self.update(self.fifo.delay(self.next_update));
            if self.is_at_rest() {
                // Nothing changes until a packet waits.
                let missed = (now - self.next_update).as_nanos() / self.settings.update.as_nanos();
                // In one step: an idle link of hours would otherwise cost millions of updates.
                self.next_update += self.settings.update * missed;
            }
            self.next_update += self.settings.update;
        }
    }

    fn is_at_rest(&self) -> bool {
        let is_quiet = self.probability == 0.0 && self.burst_left == self.settings.burst;
        self.fifo.len() == 0 && is_quiet && self.delay.max(self.old_delay) == Duration::ZERO
    }

    /// Moves the probability (RFC 8033 §4.2, with the cap of §5.5).
    fn update(&mut self, delay: Duration) {
        self.old_delay = std::mem::replace(&mut self.delay, delay);
        let [delay, old, target] = [self.delay, self.old_delay, self.settings.target].map(Duration::as_secs_f64);
        let change = self.settings.alpha * (delay - target) + self.settings.beta * (delay - old);
        // By the probability before the change, as in the RFC.
        let change = change / tuning(self.probability);
        let is_capped = self.probability >= 0.1;
        // Falls are not capped, only rises.
        self.probability += if is_capped { change.min(0.02) } else { change };
        if self.delay == Duration::ZERO && self.old_delay == Duration::ZERO {
            // Exponential decay while the queue stays empty (§4.2).
            self.probability *= 0.98;
        }
        // Clamped only now: the decay applies to the sum.
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = self.burst_left.saturating_sub(self.settings.update);
        if self.is_quiet() {
            // Restored at rest only: the allowance is for the first burst after it (§4.4).
            self.burst_left = self.settings.burst;
        }
    }

    /// Returns whether a burst is allowed (§4.4).
    fn is_quiet(&self) -> bool {
        let half = self.settings.target / 2;
        self.probability == 0.0 && self.delay < half && self.old_delay < half
    }

    /// Returns whether a packet is to be dropped before the queue is full (§4.1, §4.4, §5.4).
    fn is_unlucky(&mut self) -> bool {
        let is_short = self.old_delay < self.settings.target / 2 && self.probability < 0.2;
        if self.burst_left > Duration::ZERO || is_short || self.fifo.bytes() <= 2 * MEAN_PACKET {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        // No random number is drawn below the bound.
        if self.accumulated < SURE_PASS {
            return false;
        }
        // Derandomization: the sum bounds the distance between drops at both ends (§5.4).
        let is_unlucky = self.accumulated >= SURE_DROP || self.random.unit() < self.probability;
        if is_unlucky {
            self.accumulated = 0.0;
        }
        is_unlucky
    }

    fn may_mark(&self) -> bool {
        self.settings.ecn && self.probability <= self.settings.mark_limit
    }
}

/// By how much a change is made smaller while the probability is small (RFC 8033 §4.2: auto-tuning).
fn tuning(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
}

impl QueueSettings for PieSettings {
    fn queue(self, limit: QueueLimit, _rate: Rate, random: Random) -> Box<dyn Queue> {
        Box::new(Pie::new(self, limit, random))
    }
}

impl Queue for Pie {
    fn enqueue(&mut self, now: Instant, mut packet: QueuedPacket, dropped: &mut Dropped) {
        self.catch_up(now);
        let has_room = self.limit.has_room(self.fifo.len(), self.fifo.bytes(), packet.bytes);
        // A full queue draws no random number: `&&` does not change the sum of probabilities.
        if has_room && (!self.is_unlucky() || (self.may_mark() && packet.mark())) {
            self.fifo.push(packet);
        } else {
            dropped.push_back(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Dropped) -> Option<QueuedPacket> {
        self.catch_up(now);
        self.fifo.pop()
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

    const SETTINGS: PieSettings = PieSettings {
        target: Duration::from_millis(15),
        update: Duration::from_millis(15),
        burst: Duration::from_millis(150),
        alpha: 0.125,
        beta: 1.25,
        ecn: false,
        mark_limit: 0.1,
    };

    fn pie() -> TestQueue<Pie> {
        TestQueue::new(Pie::new(SETTINGS, QueueLimit::Unlimited, SeedTree::new(3).random()))
    }

    #[test]
    fn small_probabilities_move_in_small_steps() {
        let rows = [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (5e-2, 2.0), (0.5, 1.0)];
        for (probability, divisor) in rows {
            assert!((tuning(probability) - divisor).abs() < 1e-9);
            let mut pie = pie().queue;
            (pie.probability, pie.delay) = (probability, Duration::from_millis(20));
            pie.update(Duration::from_millis(25));
            // 0.125·(25 − 15) ms + 1.25·(25 − 20) ms.
            assert!((pie.probability - probability - 0.0075 / divisor).abs() < 1e-12, "{probability}");
        }
        conforms(Area::Queue, "pie", "RFC 8033 §4.2", "auto-tuning: 7 rows of the table", "7 of 7 within 1e-12");
    }

    #[test]
    fn steps_up_are_capped_and_a_high_probability_decays_without_a_queue() {
        let mut pie = pie().queue;
        (pie.probability, pie.delay) = (0.5, Duration::from_millis(15));
        pie.update(Duration::from_millis(100));
        assert!((pie.probability - 0.52).abs() < 1e-12);
        for _ in 0..3 {
            pie.update(Duration::ZERO);
        }
        // Twice −0.125·15 ms and 2 %, after the step down from 100 ms.
        let first = 0.52 - 0.125 * 0.015 - 1.25 * 0.1;
        let expected = ((first - 0.001_875) * 0.98 - 0.001_875) * 0.98;
        assert!((pie.probability - expected).abs() < 1e-12);
    }

    /// Two packets arrive and one leaves every millisecond.
    #[test]
    fn a_burst_of_150_ms_goes_unpunished() {
        let mut bench = pie();
        let mut first = None;
        for now in 0..1000 {
            for _ in 0..2 {
                bench.put(packet(millis(now), 0));
            }
            bench.take(millis(now));
            first = first.or((!bench.dropped.is_empty()).then_some(now));
        }
        // The allowance runs from the first update that sees half the target, at 15 or 30 ms.
        let first = first.unwrap();
        assert!((165..300).contains(&first), "first drop at {first} ms");
        let compared = "no drop before 150 ms of overload are over";
        conforms(Area::Queue, "pie", "RFC 8033 §4.4", compared, "first drop after 165 ms or more");
    }

    #[test]
    fn drops_at_one_eighth_are_7_to_68_packets_apart() {
        let mut bench = pie();
        for number in 0..4 {
            bench.put(packet(millis(0), number));
        }
        let pie = &mut bench.queue;
        (pie.probability, pie.old_delay, pie.burst_left) = (0.125, Duration::from_millis(30), Duration::ZERO);
        let (mut gaps, mut count) = (Vec::new(), 0);
        for _ in 0..100_000 {
            count += 1;
            if pie.is_unlucky() {
                gaps.push(count);
                count = 0;
            }
        }
        assert!(gaps.iter().all(|gap| (7..=68).contains(gap)), "{:?}", gaps.iter().max());
        assert!(gaps.contains(&7) && gaps.len() > 4000);
        conforms(Area::Queue, "pie", "RFC 8033 §5.4", "gaps between drops at probability 0.125", "7 to 68 packets");
    }

    /// The skipped updates of a quiet hour change nothing.
    #[test]
    fn updates_are_made_up_for_whatever_the_time_between_calls() {
        let mut bench = pie();
        bench.put(packet(millis(0), 0));
        bench.take(millis(100));
        bench.take(millis(3_600_001));
        assert_eq!(bench.queue.next_update, millis(3_600_015));
        assert_eq!(bench.queue.burst_left, SETTINGS.burst);
    }
}
