//! Whether others fill the queue, and how much of it to claim then (paper, §2.2).

use earlybird_units::{Duration, Instant};

/// The segments that a flow means to have in the queue, the paper's 1/δ: few in the default mode; beside a flow that fills the
/// queue as many as additive increase and multiplicative decrease find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    default: f64,
    /// 1/δ.
    queued: f64,
    raised: Instant,
    halved: Instant,
}

impl Mode {
    /// In the default mode with this δ.
    pub(super) fn new(delta: f64) -> Self {
        Self { default: 1.0 / delta, queued: 1.0 / delta, raised: Instant::ZERO, halved: Instant::ZERO }
    }

    pub(super) fn queued(&self) -> f64 {
        self.queued
    }

    /// Nobody else fills the queue.
    pub(super) fn be_default(&mut self, now: Instant) {
        self.queued = self.default;
        self.raised = now;
    }

    /// Somebody does: a segment more in each round trip (genericCC, `update_delta`).
    pub(super) fn compete(&mut self, now: Instant, rtt: Duration) {
        if now - self.raised > rtt {
            self.queued += 1.0;
            self.raised = now;
        }
    }

    /// A segment got lost: half as many, once per round trip (genericCC, `update_delta`), and never less than in the default mode.
    pub(super) fn on_lost(&mut self, now: Instant, rtt: Duration) {
        if now - self.halved > rtt {
            self.queued = (self.queued / 2.0).max(self.default);
            self.halved = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn beside_others_it_claims_a_segment_more_per_round_trip_and_half_after_a_loss() {
        let rtt = Duration::from_millis(50);
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut mode = Mode::new(0.5);
        mode.be_default(at(100));
        (101..=355).for_each(|millis| mode.compete(at(millis), rtt));
        let after_five = mode.queued();
        mode.on_lost(at(360), rtt);
        mode.on_lost(at(400), rtt);
        let after_loss = mode.queued();
        mode.on_lost(at(411), rtt);
        let after_another = mode.queued();
        mode.compete(at(500), rtt);
        mode.be_default(at(501));
        // Round trips of 51 ms, as seen by one ACK each millisecond; once per round trip; not below the default mode.
        let seen = (after_five, after_loss, after_another, mode.queued());
        assert_eq!(seen, (7.0, 3.5, 2.0, 2.0));
        let source = "Arun and Balakrishnan, NSDI 2018, §2.2; genericCC, markoviancc.cc";
        conforms(Area::Control, "copa", source, "1/δ over five round trips, three losses and the way back", "4 of 4");
    }
}
