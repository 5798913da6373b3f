//! ACK aggregation (`bbr_update_ack_aggregation`).

use earlybird_units::Instant;

/// `bbr_extra_acked_win_rtts`: rounds of each of the two windows.
const WINDOW_ROUNDS: u32 = 5;
/// `bbr_ack_epoch_acked_reset_thresh`.
const LONGEST_EPOCH: u64 = 1 << 20;
/// `bbr_extra_acked_max_us` in seconds: the time at the bandwidth that bounds the addition to the window.
const MOST_SECONDS: f64 = 0.1;

/// Segments acknowledged beyond what the bandwidth explains.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// The start of the interval, and the segments acknowledged since.
    epoch: Instant,
    acked: u64,
    /// The maximum of each window.
    extra: [u64; 2],
    present: usize,
    /// Rounds of the present window.
    rounds: u32,
}

impl Aggregation {
    /// Restarts the interval.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.epoch, self.acked) = (now, 0);
    }

    /// Records that `acked` segments were acknowledged, at bandwidth `bw` and with a window of `cwnd`.
    pub(super) fn on_ack(&mut self, now: Instant, acked: u64, bw: f64, cwnd: u64, is_round_start: bool) {
        if is_round_start {
            self.count_round();
        }
        let mut expected = (bw * (now - self.epoch).as_secs_f64()) as u64;
        // The ACKs are no longer ahead of the bandwidth, or the interval is too long: start a new one.
        if self.acked <= expected || self.acked + acked >= LONGEST_EPOCH {
            self.restart(now);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(LONGEST_EPOCH - 1);
        let extra = (self.acked - expected).min(cwnd);
        self.extra[self.present] = self.extra[self.present].max(extra);
    }

    fn count_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            (self.rounds, self.present) = (0, 1 - self.present);
            self.extra[self.present] = 0;
        }
    }

    /// `bbr_ack_aggregation_cwnd`: the maximum of both windows, limited to 100 ms at bandwidth `bw`.
    pub(super) fn extra(&self, bw: f64) -> u64 {
        self.extra[0].max(self.extra[1]).min((bw * MOST_SECONDS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// 1000 segments/s, acknowledged in fours every 4 ms, and once twelve at once.
    #[test]
    fn a_bunch_is_remembered_for_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        let mut ack = |millis: u64, acked: u64, is_round_start: bool| {
            aggregation.on_ack(at(millis), acked, 1000.0, 100, is_round_start);
            aggregation.extra(1000.0)
        };
        assert_eq!(ack(4, 4, true), 4);
        assert_eq!(ack(8, 4, false), 4);
        assert_eq!(ack(9, 12, false), 15);
        // The window of the bunch is over after four more rounds, the next one after nine.
        let later: [u64; 10] = core::array::from_fn(|round| ack(29 + 20 * round as u64, 4, true));
        assert_eq!(later, [15, 15, 15, 15, 15, 15, 15, 15, 4, 4]);
    }

    #[test]
    fn there_is_never_more_than_the_window_or_100_ms() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(at(1), 500, 1000.0, 200, true);
        assert_eq!((aggregation.extra(1e4), aggregation.extra(1000.0)), (200, 100));
    }
}
