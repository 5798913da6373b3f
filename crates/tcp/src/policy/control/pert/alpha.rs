//! α, the increase of PERT per RTT: high-speed, safe and compete mode (`IWQoS` 2008; counters and ramps of the ports).

use super::curve::NO_QUEUE;
use earlybird_units::{Duration, Instant};

/// Bounds of α (ER thesis: at most 32).
const MIN_ALPHA: f64 = 1.0;
pub(super) const MAX_ALPHA: f64 = 32.0;
/// The share of the largest queueing delay from which compete mode applies (the ports).
const COMPETE_FROM: f64 = 0.5;
/// The share from which its target is 1 + p′/p (PERT-video paper).
const COMPETE_FULL: f64 = 0.65;
/// Smoothed RTTs between updates of α (the ports).
const RTTS_BETWEEN_UPDATES: u64 = 5;

/// The rule by which α approaches its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaRule {
    /// Set at once in compete mode.
    Direct,
    /// Raised by 0.1 per update (the ports).
    Ramped,
    /// The three modes as printed in the PERT-video paper, evaluated for every ACK without state.
    Literal,
}

/// The inputs of α at an ACK.
pub(super) struct Conditions {
    pub(super) queueing: Duration,
    pub(super) largest: Duration,
    pub(super) smoothed: Duration,
    pub(super) usable: f64,
    pub(super) response_rate: f64,
    pub(super) loss_rate: f64,
}

impl Conditions {
    fn fullness(&self) -> f64 {
        self.queueing.as_nanos() as f64 / self.largest.as_nanos() as f64
    }

    /// Returns 1 + p′/p; `None` before the first loss.
    fn balance(&self) -> Option<f64> {
        (self.loss_rate > 0.0).then(|| 1.0 + self.response_rate / self.loss_rate)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Alpha {
    rule: AlphaRule,
    value: f64,
    high_speed: u64,
    compete: u64,
    updated: Instant,
}

/// Returns the target of α in compete mode: `balance` = 1 + p′/p above a fullness of 0.65, and less on a steep hyperbola from 0.5
/// (the ports).
///
/// `fullness` is the queueing delay as a share of the largest one.
pub fn alpha_target(balance: f64, fullness: f64) -> f64 {
    if !(COMPETE_FROM..COMPETE_FULL).contains(&fullness) {
        return balance;
    }
    // The ports: k1 = (a − 1)·Q·16/1500, k2 = 1 + 100·k1/Q, target = k2 − k1/(q − 0.49·Q); here with k1 per Q.
    let steepness = (balance - 1.0) * 16.0 / 1500.0;
    1.0 + 100.0 * steepness - steepness / (fullness - 0.49)
}

impl Alpha {
    pub(super) fn new(rule: AlphaRule) -> Self {
        Self { rule, value: MIN_ALPHA, high_speed: 0, compete: 0, updated: Instant::ZERO }
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    pub(super) fn on_ack(&mut self, now: Instant, conditions: &Conditions) {
        if self.rule == AlphaRule::Literal {
            self.value = self.literal(conditions);
            return;
        }
        self.count(conditions);
        // The ports adapt rarely: α must see the effect of its last change.
        if now - self.updated >= conditions.smoothed * RTTS_BETWEEN_UPDATES {
            self.value = self.adapted(conditions);
            (self.high_speed, self.compete, self.updated) = (0, 0, now);
        }
    }

    fn count(&mut self, conditions: &Conditions) {
        if conditions.queueing <= NO_QUEUE {
            self.high_speed += 1;
        } else if conditions.fullness() >= COMPETE_FROM {
            self.compete += 1;
        } else {
            (self.high_speed, self.compete) = (0, 0);
        }
    }

    fn adapted(&self, conditions: &Conditions) -> f64 {
        if self.compete as f64 >= conditions.usable {
            self.compete_alpha(conditions)
        } else if self.high_speed as f64 >= conditions.usable {
            // High-speed mode: +0.5 per update while there is no queue (the ports).
            (self.value + 0.5).min(MAX_ALPHA)
        } else {
            // Safe mode: decay towards 1 (the ports).
            (0.9 * self.value).max(MIN_ALPHA)
        }
    }

    fn compete_alpha(&self, conditions: &Conditions) -> f64 {
        let ramped = (self.value + 0.1).min(MAX_ALPHA);
        let Some(balance) = conditions.balance() else {
            return ramped;
        };
        let target = alpha_target(balance, conditions.fullness()).min(MAX_ALPHA);
        if self.rule == AlphaRule::Direct { target } else { ramped.min(target) }
    }

    fn literal(&self, conditions: &Conditions) -> f64 {
        if conditions.queueing < NO_QUEUE {
            // One segment per RTT, spread over the ACKs of a window.
            (self.value + 1.0 / conditions.usable).min(MAX_ALPHA)
        } else if conditions.fullness() >= COMPETE_FULL {
            conditions.balance().unwrap_or(MIN_ALPHA).min(MAX_ALPHA)
        } else {
            MIN_ALPHA
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what is expected is computed the same way")]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn v9_a_3_at_0_5_0_51_0_52_0_55_0_6_0_65_gives_1_2_0667_2_4222_2_7778_2_9394_3() {
        for (fullness, expected) in
            [(0.5, 1.0), (0.51, 2.0667), (0.52, 2.4222), (0.55, 2.7778), (0.6, 2.9394), (0.65, 3.0)]
        {
            assert!(
                (alpha_target(3.0, fullness) - expected).abs() < 5e-5,
                "{fullness}: {}",
                alpha_target(3.0, fullness)
            );
        }
        conforms(Area::Control, "PERT", "students' ports for ns-3", "target of the increase (V9)", "6 of 6 to 1e-4");
    }

    /// A path with a round trip of 100 ms, a window of 4, a largest queueing delay of 40 ms and 1 + p′/p = 3.
    const PATH: Conditions = Conditions {
        queueing: Duration::ZERO,
        largest: Duration::from_millis(40),
        smoothed: Duration::from_millis(100),
        usable: 4.0,
        response_rate: 0.02,
        loss_rate: 0.01,
    };

    fn queueing(millis: u64) -> Conditions {
        Conditions { queueing: Duration::from_millis(millis), ..PATH }
    }

    /// Returns α after each of so many ACKs, one every 50 ms, from `value` on; the last update was at 0.
    fn after_acks(rule: AlphaRule, value: f64, conditions: &Conditions, count: u64) -> Vec<f64> {
        let mut alpha = Alpha { value, ..Alpha::new(rule) };
        let acks = (1..=count).map(|number| {
            alpha.on_ack(Instant::from_nanos(number * 50_000_000), conditions);
            alpha.value()
        });
        acks.collect()
    }

    /// High-speed mode: + 0.5 after each 5 · 100 ms, and not before.
    #[test]
    fn alpha_is_adapted_every_five_round_trips_and_not_every_one() {
        let values = after_acks(AlphaRule::Direct, 1.0, &PATH, 20);
        assert_eq!(values, [vec![1.0; 9], vec![1.5; 10], vec![2.0]].concat());
    }

    #[test]
    fn alpha_stops_at_32() {
        assert_eq!(after_acks(AlphaRule::Direct, 31.8, &PATH, 10).last(), Some(&32.0));
    }

    /// A queue above the first threshold and below half the largest is neither mode's: α falls by a tenth, to 1 at least.
    #[test]
    fn in_safe_mode_alpha_decays_to_one() {
        let safe = queueing(15);
        assert_eq!(after_acks(AlphaRule::Direct, 10.0, &safe, 20), [vec![10.0; 9], vec![9.0; 10], vec![8.1]].concat());
        assert_eq!(after_acks(AlphaRule::Direct, 1.05, &safe, 10).last(), Some(&1.0));
    }

    /// One ACK with such a queue between others empties the counters: fewer than a window of ACKs are left of either mode.
    #[test]
    fn one_ack_in_safe_mode_ends_the_count_of_the_others() {
        let mut alpha = Alpha { value: 10.0, ..Alpha::new(AlphaRule::Direct) };
        let queues = [0, 0, 0, 0, 0, 0, 15, 0, 0, 0];
        for (number, queue) in (1..).zip(queues) {
            alpha.on_ack(Instant::from_nanos(number * 50_000_000), &queueing(queue));
        }
        assert_eq!(alpha.value(), 9.0);
    }

    /// A window of ACKs is enough for high-speed mode, one fewer is not.
    #[test]
    fn as_many_acks_as_the_window_has_segments_make_a_mode() {
        for (usable, expected) in [(10.0, 10.5), (10.5, 9.0)] {
            let conditions = Conditions { usable, ..PATH };
            assert_eq!(after_acks(AlphaRule::Direct, 10.0, &conditions, 10).last(), Some(&expected));
        }
    }

    /// Compete mode with a queue of 26 of 40 ms: the target, 1 + p′/p, at once or 0.1 at a time; before the first loss always
    /// the latter.
    #[test]
    fn in_compete_mode_alpha_goes_to_one_plus_the_ratio_of_the_rates() {
        let compete = queueing(26);
        let last = |rule, value, conditions: &Conditions| after_acks(rule, value, conditions, 10)[9];
        assert_eq!(last(AlphaRule::Direct, 1.0, &compete), 3.0);
        assert_eq!(last(AlphaRule::Direct, 5.0, &compete), 3.0);
        assert_eq!(last(AlphaRule::Ramped, 1.0, &compete), 1.1);
        assert_eq!(last(AlphaRule::Ramped, 5.0, &compete), 3.0);
        let lossless = Conditions { loss_rate: 0.0, ..compete };
        assert_eq!(last(AlphaRule::Direct, 1.0, &lossless), 1.1);
        let responsive = Conditions { response_rate: 1.0, ..compete };
        assert_eq!(last(AlphaRule::Direct, 1.0, &responsive), 32.0);
    }

    /// The PERT-video paper's three modes: + 1 per window of ACKs below the first threshold, 1 + p′/p from 0.65 · Q on, else 1.
    #[test]
    fn word_by_word_alpha_has_no_memory() {
        let after_one = |value, millis| after_acks(AlphaRule::Literal, value, &queueing(millis), 1)[0];
        assert_eq!(after_one(7.0, 0), 7.25);
        assert_eq!(after_one(31.9, 0), 32.0);
        assert_eq!(after_one(7.0, 25), 1.0);
        assert_eq!(after_one(7.0, 26), 3.0);
        assert_eq!(after_one(7.0, 5), 1.0);
    }
}
