//! The rate of a policer, which losses reveal (`bbr_lt_bw_sampling`; Flach et al., "An Internet-Wide Analysis of Traffic Policing",
//! SIGCOMM 2016).

use super::Bbr1;
use super::mode::Mode;
use super::window::PACING_MARGIN;
use earlybird_units::{Duration, Instant};

/// `bbr_lt_intvl_min_rtts`; an interval has no more than four times as many rounds.
const INTERVAL_ROUNDS: u32 = 4;
/// `bbr_lt_loss_thresh`, in 256ths: losses per delivered segment.
const LOSS_SHARE: f64 = 50.0 / 256.0;
/// `bbr_lt_bw_ratio`: rates of two intervals that differ by no more are the same.
const SAME_RATE_SHARE: f64 = 0.125;
/// `bbr_lt_bw_diff` in bytes per second: the same, for low rates.
const SAME_RATE: f64 = 500.0;
/// `bbr_lt_bw_max_rtts`: rounds after which the path is probed again.
const POLICED_ROUNDS: u32 = 48;
/// An interval that is shorter measures no rate: Linux counts its time in whole milliseconds (`bbr_lt_bw_sampling`).
const SHORTEST: Duration = Duration::from_millis(1);

/// Segments delivered and lost so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Time of the last delivery.
    pub(super) at: Instant,
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// The sampling of intervals that end with losses: two with the same rate and many losses are those of a policer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// `lt_bw`: the rate of the last interval.
    bw: Option<f64>,
    /// `lt_use_bw`.
    is_policed: bool,
    is_sampling: bool,
    /// `lt_rtt_cnt`: rounds of the interval, or since there is a policer.
    rounds: u32,
    start: Totals,
}

impl LongTerm {
    /// Returns the rate of the policer, if there seems to be one.
    pub(super) fn policed(&self) -> Option<f64> {
        self.bw.filter(|_| self.is_policed)
    }

    /// `bbr_reset_lt_bw_sampling`.
    pub(super) fn reset(&mut self, totals: Totals) {
        *self = Self { start: totals, ..Self::default() };
    }

    fn start_interval(&mut self, totals: Totals) {
        (self.start, self.rounds) = (totals, 0);
    }

    /// Returns the rate of an interval that ends now, if enough of it was lost.
    fn rate(&self, totals: Totals) -> Option<f64> {
        let [lost, delivered] = [totals.lost - self.start.lost, totals.delivered - self.start.delivered];
        let time = totals.at - self.start.at;
        let counts = delivered > 0 && lost as f64 >= LOSS_SHARE * delivered as f64 && time >= SHORTEST;
        counts.then(|| delivered as f64 / time.as_secs_f64())
    }

    /// `bbr_lt_bw_interval_done`: returns whether there is a policer. Segments have `mss` bytes.
    fn end_interval(&mut self, rate: f64, totals: Totals, mss: f64) -> bool {
        let is_same = |before: &f64| {
            let apart = (rate - before).abs();
            apart <= SAME_RATE_SHARE * before || PACING_MARGIN * apart * mss <= SAME_RATE
        };
        if let Some(before) = self.bw.filter(is_same) {
            *self = Self { bw: Some(rate.midpoint(before)), is_policed: true, rounds: 0, ..*self };
            return true;
        }
        self.bw = Some(rate);
        self.start_interval(totals);
        false
    }

    /// Continues the interval with an ACK that found `losses`; returns its rate if it ends.
    fn continue_interval(&mut self, totals: Totals, losses: u64, is_round_start: bool) -> Option<f64> {
        if !self.is_sampling {
            // Before the first loss the policer still has tokens, and lets more pass than its rate.
            if losses == 0 {
                return None;
            }
            self.start_interval(totals);
            self.is_sampling = true;
        }
        self.rounds += u32::from(is_round_start);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            self.reset(totals);
            return None;
        }
        // It ends with a loss, too, which shows that there are no tokens.
        if self.rounds >= INTERVAL_ROUNDS && losses > 0 { self.rate(totals) } else { None }
    }
}

impl Bbr1 {
    /// `bbr_lt_bw_sampling`, for an ACK that found `losses`.
    pub(super) fn sample_long_term(&mut self, now: Instant, losses: u64, is_app_limited: bool) {
        if !self.parameters.detects_policers {
            return;
        }
        if self.long_term.is_policed {
            return self.count_policed_round(now);
        }
        let is_waiting = !self.long_term.is_sampling && losses == 0;
        if is_app_limited && !is_waiting {
            // Less was sent than the path takes.
            return self.long_term.reset(self.totals);
        }
        let (totals, starts) = (self.totals, self.bandwidth.is_round_start);
        if let Some(rate) = self.long_term.continue_interval(totals, losses, starts)
            && self.long_term.end_interval(rate, totals, self.mss)
        {
            self.pacing_gain = 1.0;
        }
    }

    /// Counts a round at the rate of the policer; after the last one the path is probed again.
    fn count_policed_round(&mut self, now: Instant) {
        if self.mode != Mode::ProbeBw || !self.bandwidth.is_round_start {
            return;
        }
        self.long_term.rounds += 1;
        if self.long_term.rounds >= POLICED_ROUNDS {
            self.long_term.reset(self.totals);
            self.start_probe_bw(now);
        }
    }
}
