//! The RTT without a queue, and the mode that probes for it (`bbr_update_min_rtt`).

use super::Bbr1;
use super::mode::Mode;
use super::window::SMALLEST_CWND;
use crate::policy::control::path::RateSample;
use earlybird_units::{Duration, Instant};

/// The shortest RTT of a window, after which it is probed for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// `min_rtt_us`; `None` before the first sample.
    pub(super) value: Option<Duration>,
    stamp: Instant,
}

/// The progress of a probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// `probe_rtt_done_stamp`: the end of the probe, once the reduced flight is reached.
    ends: Option<Instant>,
    is_round_done: bool,
}

impl MinRtt {
    pub(super) fn new(now: Instant, value: Option<Duration>) -> Self {
        Self { value, stamp: now }
    }

    /// Processes an ACK; returns whether the minimum had expired.
    fn on_sample(&mut self, now: Instant, sample: &RateSample, window: Duration) -> bool {
        let is_expired = now > self.stamp + window;
        // The delay of an ACK is no part of the path: it replaces no minimum, not even an old one.
        let replaces = |rtt: &Duration| {
            self.value.is_none_or(|value| *rtt <= value) || (is_expired && !sample.may_be_delayed)
        };
        if let Some(rtt) = sample.rtt.filter(replaces) {
            *self = Self::new(now, Some(rtt));
        }
        is_expired
    }
}

impl Bbr1 {
    /// `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, now: Instant, sample: &RateSample) {
        let is_expired = self.min_rtt.on_sample(now, sample, self.parameters.min_rtt_window);
        if is_expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt = ProbeRtt::default();
        }
        if self.mode == Mode::ProbeRtt {
            self.continue_probe_rtt(now, sample);
        }
        self.idle_restart &= sample.delivered == 0;
    }

    fn continue_probe_rtt(&mut self, now: Instant, sample: &RateSample) {
        if self.probe_rtt.ends.is_some() {
            self.probe_rtt.is_round_done |= self.bandwidth.is_round_start;
            if self.probe_rtt.is_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if sample.in_flight <= SMALLEST_CWND {
            // The time starts when the flight is low: until then the queue is still draining.
            let ends = now + self.parameters.probe_rtt_duration;
            self.probe_rtt = ProbeRtt { ends: Some(ends), is_round_done: false };
            self.bandwidth.restart_round(self.totals.delivered);
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt.ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.min_rtt.stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.resume(now);
    }
}
