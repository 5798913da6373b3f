//! The default and the competitive mode (paper, §2.2).

use earlybird_units::{Duration, Instant};

/// The target number of segments in the queue, 1/δ of the paper: constant in the default mode; in the competitive mode it follows
/// additive increase and multiplicative decrease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    default: f64,
    /// 1/δ.
    target_queue: f64,
    raised: Instant,
    halved: Instant,
}

impl Mode {
    /// Returns the default mode with this δ.
    pub(super) fn new(delta: f64) -> Self {
        Self { default: 1.0 / delta, target_queue: 1.0 / delta, raised: Instant::ZERO, halved: Instant::ZERO }
    }

    pub(super) fn target_queue(&self) -> f64 {
        self.target_queue
    }

    /// Selects the default mode: no other flow fills the queue.
    pub(super) fn set_default(&mut self, now: Instant) {
        self.target_queue = self.default;
        self.raised = now;
    }

    /// Selects the competitive mode: one segment more per RTT (genericCC, `update_delta`).
    pub(super) fn compete(&mut self, now: Instant, rtt: Duration) {
        if now - self.raised > rtt {
            self.target_queue += 1.0;
            self.raised = now;
        }
    }

    /// Processes a loss: halves the target once per RTT (genericCC, `update_delta`), to that of the default mode at least.
    pub(super) fn on_lost(&mut self, now: Instant, rtt: Duration) {
        // Losses of one RTT are one event, as in AIMD.
        if now - self.halved > rtt {
            self.target_queue = (self.target_queue / 2.0).max(self.default);
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
        mode.set_default(at(100));
        (101..=355).for_each(|millis| mode.compete(at(millis), rtt));
        let after_five = mode.target_queue();
        mode.on_lost(at(360), rtt);
        mode.on_lost(at(400), rtt);
        let after_loss = mode.target_queue();
        mode.on_lost(at(411), rtt);
        let after_another = mode.target_queue();
        mode.compete(at(500), rtt);
        mode.set_default(at(501));
        // Round trips of 51 ms, as seen by one ACK each millisecond; once per round trip; not below the default mode.
        let seen = (after_five, after_loss, after_another, mode.target_queue());
        assert_eq!(seen, (7.0, 3.5, 2.0, 2.0));
        let source = "Arun and Balakrishnan, NSDI 2018, §2.2; genericCC, markoviancc.cc";
        conforms(Area::Control, "copa", source, "1/δ over five round trips, three losses and the way back", "4 of 4");
    }
}
