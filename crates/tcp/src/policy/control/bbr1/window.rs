//! Pacing rate and congestion window (`bbr_set_pacing_rate`, `bbr_set_cwnd`).

use super::Bbr1;
use super::mode::{HIGH_GAIN, Mode};
use crate::policy::control::path::RateSample;
use earlybird_units::Duration;

/// `bbr_cwnd_min_target`: two segments in flight, and ACKs of two.
pub(super) const SMALLEST_CWND: u64 = 4;
/// `bbr_pacing_margin_percent` of 1: pacing slightly below the bandwidth keeps queues short.
pub(super) const PACING_MARGIN: f64 = 0.99;
/// `TCP_INIT_CWND`: the window without an RTT sample, and the segments after which the model limits Startup.
const DEFAULT_CWND: u64 = 10;
/// The RTT before the first sample (`bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// `bbr_min_tso_rate` in bytes per second: below it segments leave one by one.
const SLOW_RATE: f64 = 1_200_000.0 / 8.0;
/// `sk_pacing_shift` of 10: a burst covers the rate's 1024th of a second.
const BURST_SECONDS: f64 = 1.0 / 1024.0;
/// `GSO_LEGACY_MAX_SIZE` − 1 − `MAX_TCP_HEADER`, which is 320 with 64-byte cache lines and tunnels (`include/net/tcp.h`).
const LARGEST_BURST: f64 = 65_536.0 - 1.0 - 320.0;
/// The most segments of a burst (`0x7F` in `bbr_tso_segs_goal`).
const MOST_SEGMENTS: u64 = 127;
/// Bursts in the sender's queue, in its network card, and in the receiver's.
const BURSTS: u64 = 3;
/// Linux's fixed-point numbers are truncated, so that what is a whole number is not rounded up.
const ROUNDING: f64 = 1e-6;

impl Bbr1 {
    /// `bbr_init_pacing_rate_from_rtt`.
    pub(super) fn init_pacing_rate(&mut self, rtt: Option<Duration>) {
        let rtt = rtt.filter(|rtt| *rtt > Duration::ZERO);
        self.has_seen_rtt = rtt.is_some();
        let bw = self.cwnd as f64 / rtt.unwrap_or(NOMINAL_RTT).as_secs_f64();
        self.pacing_rate = PACING_MARGIN * HIGH_GAIN * bw;
    }

    /// `bbr_set_pacing_rate`: before the pipe is full the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = PACING_MARGIN * gain * self.bw();
        if rate > 0.0 && (self.full_pipe.was_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `bbr_tso_segs_goal`: segments that leave at once.
    pub(super) fn quantum(&self) -> u64 {
        let rate = self.pacing_rate * self.mss;
        let least = if rate < SLOW_RATE { 1 } else { 2 };
        (((rate * BURST_SECONDS).min(LARGEST_BURST) / self.mss) as u64).max(least).min(MOST_SEGMENTS)
    }

    /// `bbr_bdp`.
    fn bdp(&self, bw: f64, gain: f64) -> u64 {
        self.min_rtt.value.map_or(DEFAULT_CWND, |min_rtt| {
            libm::ceil(bw * min_rtt.as_secs_f64() * gain * (1.0 - ROUNDING)) as u64
        })
    }

    /// `bbr_quantization_budget`.
    fn with_quanta(&self, volume: u64) -> u64 {
        // An even number, so that the last ACK is not delayed.
        let even = (volume + BURSTS * self.quantum()).next_multiple_of(2);
        // A probe must exceed the BDP even if that is small.
        let is_probe = self.mode == Mode::ProbeBw && self.cycle.index == 0;
        if is_probe { even + 2 } else { even }
    }

    /// `bbr_inflight`: the volume that fills the path at bandwidth `bw`, times `gain`.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.with_quanta(self.bdp(bw, gain))
    }

    /// `bbr_set_cwnd`, after an ACK that found `losses`.
    pub(super) fn set_cwnd(&mut self, sample: &RateSample, losses: u64) {
        let (cwnd, is_final) = self.recovered_cwnd(sample, losses);
        self.cwnd = if is_final { cwnd } else { self.grown_cwnd(cwnd, sample) };
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(SMALLEST_CWND);
        }
    }

    /// Returns the window on its way to the volume that the model allows.
    fn grown_cwnd(&self, cwnd: u64, sample: &RateSample) -> u64 {
        let bw = self.bw();
        let extra = if self.full_pipe.was_reached { self.aggregation.extra(bw) } else { 0 };
        let target = self.with_quanta(self.bdp(bw, self.cwnd_gain) + extra);
        let grown = cwnd + sample.newly_acked;
        let cwnd = if self.full_pipe.was_reached {
            grown.min(target)
        // Before the pipe is full the window may exceed the model, which is still an underestimate.
        } else if cwnd < target || sample.total_delivered < DEFAULT_CWND {
            grown
        } else {
            cwnd
        };
        cwnd.max(SMALLEST_CWND)
    }
}
