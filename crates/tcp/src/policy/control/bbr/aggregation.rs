//! ACK aggregation (draft-ietf-ccwg-bbr, "`BBR.extra_acked`").

use super::arithmetic::Bounds;
use super::filter::SlotMax;
use earlybird_units::Instant;

/// The volume acknowledged beyond what the bandwidth explains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    start: Instant,
    delivered: f64,
    /// The maximum, with a slot per RTT (`BBR.ExtraAckedFilterLen`).
    extra: SlotMax<10>,
}

impl Aggregation {
    pub(super) fn new(now: Instant) -> Self {
        Self { start: now, delivered: 0.0, extra: SlotMax::default() }
    }

    /// Restarts the interval after an idle period.
    pub(super) fn restart(&mut self, now: Instant) {
        self.start = now;
    }

    /// `UpdateACKAggregation`, for `acked` segments at bandwidth `bw`, limited to `most`.
    pub(super) fn on_ack(&mut self, now: Instant, acked: f64, bw: f64, most: f64, is_round_start: bool) {
        if is_round_start {
            self.extra.advance();
        }
        let mut expected = bw * (now - self.start).as_secs_f64();
        // The ACKs are no longer ahead of the bandwidth: start a new interval.
        if self.delivered <= expected {
            (self.start, self.delivered, expected) = (now, 0.0, 0.0);
        }
        self.delivered += acked;
        self.extra.note((self.delivered - expected).at_most(most));
    }

    /// Returns `BBR.extra_acked`: of the last ten rounds, or of the present one before the pipe was full.
    pub(super) fn extra(&self, was_full: bool) -> f64 {
        if was_full { self.extra.max() } else { self.extra.present() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 segments/s, acknowledged in fours every 4 ms, and once twelve at once.
    #[test]
    fn a_bunch_is_remembered_for_ten_rounds() {
        let mut aggregation = Aggregation::new(Instant::ZERO);
        let mut ack = |at: u64, acked: f64, is_round_start: bool| {
            aggregation.on_ack(Instant::from_nanos(at * 1_000_000), acked, 1000.0, 100.0, is_round_start);
            (aggregation.extra(true), aggregation.extra(false))
        };
        let near = |(ten, one): (f64, f64), expected: (f64, f64)| {
            assert!((ten - expected.0).abs() < 1e-9 && (one - expected.1).abs() < 1e-9, "{ten}, {one}");
        };
        near(ack(4, 4.0, true), (4.0, 4.0));
        near(ack(8, 4.0, false), (4.0, 4.0));
        near(ack(9, 12.0, false), (15.0, 15.0));
        for round in 1..10 {
            near(ack(9 + 20 * round, 4.0, true), (15.0, 4.0));
        }
        near(ack(300, 4.0, true), (4.0, 4.0));
    }

    #[test]
    fn there_is_never_more_than_the_window() {
        let mut aggregation = Aggregation::new(Instant::ZERO);
        aggregation.on_ack(Instant::from_nanos(1), 500.0, 1000.0, 100.0, true);
        assert!((aggregation.extra(true) - 100.0).abs() < 1e-9);
    }
}
