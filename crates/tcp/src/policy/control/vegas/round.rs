//! The measurement of Vegas: the number of segments in the queue, by the RTTs of a round.

use earlybird_units::{Duration, Instant};

/// SND.UNA and SND.NXT after an ACK, in numbers of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequenceState {
    pub(super) una: u64,
    pub(super) nxt: u64,
}

impl SequenceState {
    /// Returns the flight as ns-2 computes it: one segment too many.
    pub(super) fn in_flight(self) -> f64 {
        (self.nxt + 1 - self.una) as f64
    }
}

/// A round: from the ACK of a segment to that of the next one sent then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// The smallest RTT of the connection in seconds (`baseRTT`).
    base_rtt: f64,
    sum: f64,
    count: u32,
    started: Option<Instant>,
    /// Number of the next segment at the start of the round.
    pub(super) first: u64,
}

impl Round {
    pub(super) const FIRST: Self = Self { base_rtt: f64::INFINITY, sum: 0.0, count: 0, started: None, first: 0 };

    /// Ends the round, and returns the number of segments in the queue (`diff`).
    pub(super) fn end(&mut self, now: Instant, state: SequenceState) -> Option<i64> {
        let since_start = || self.started.map_or(0.0, |started| (now - started).as_secs_f64());
        let rtt = if self.count > 0 { self.sum / f64::from(self.count) } else { since_start() };
        let sent = state.nxt - self.first;
        *self = Self { sum: 0.0, count: 0, started: Some(now), first: state.nxt, ..*self };
        if rtt <= 0.0 {
            return None;
        }
        // ns-2: with one segment per round there is no queue of its own, so the sample is a new baseRTT.
        if rtt < self.base_rtt || sent <= 1 {
            self.base_rtt = rtt;
        }
        // Brakmo and Peterson: expected = window/baseRTT, actual = segments sent/RTT.
        let (expected, actual) = (state.in_flight() / self.base_rtt, sent as f64 / rtt);
        Some(((expected - actual) * self.base_rtt + 0.5) as i64)
    }

    pub(super) fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.sum += rtt;
        self.count += 1;
        self.base_rtt = self.base_rtt.min(rtt);
    }
}
