//! The modes and their gains (`bbr_update_gains`, `bbr_check_drain`).

use super::Bbr1;
use crate::policy::control::bbr::State;
use crate::policy::control::path::RateSample;
use earlybird_units::Instant;

/// The mode (`enum bbr_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Doubles the rate per RTT until the pipe is full.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// Probes for bandwidth and drains the queue of the probe, in turns.
    ProbeBw,
    /// Reduces the flight to four segments, to measure the RTT without a queue.
    ProbeRtt,
}

/// `bbr_high_gain`, in the kernel's 256ths: 2/ln 2, the smallest gain that doubles the rate per RTT.
pub(super) const HIGH_GAIN: f64 = 739.0 / 256.0;
/// `bbr_drain_gain`, in the kernel's 256ths: its inverse drains in one RTT what Startup has queued in one.
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// `bbr_pacing_gain`: probes for bandwidth, drains the queue of the probe, and sends at the bandwidth for six phases.
pub(super) const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `bbr_cwnd_gain`: room for ACKs that are late or cover many segments.
const CWND_GAIN: f64 = 2.0;

impl Mode {
    /// Returns it as a state of version 3, which has one for each kind of phase, when it paces at this gain.
    pub(super) const fn state(self, pacing_gain: f64) -> State {
        match self {
            Self::Startup => State::Startup,
            Self::Drain => State::Drain,
            Self::ProbeBw if pacing_gain > 1.0 => State::Up,
            Self::ProbeBw if pacing_gain < 1.0 => State::Down,
            Self::ProbeBw => State::Cruise,
            Self::ProbeRtt => State::ProbeRtt,
        }
    }
}

impl Bbr1 {
    /// `bbr_update_gains`.
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            // More than the rate of a policer would be lost.
            Mode::ProbeBw if self.long_term.policed().is_some() => (1.0, CWND_GAIN),
            Mode::ProbeBw => (GAINS[self.cycle.index], CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// `bbr_check_drain`.
    pub(super) fn check_drain(&mut self, now: Instant, sample: &RateSample) {
        if self.mode == Mode::Startup && self.full_pipe.was_reached {
            self.mode = Mode::Drain;
            self.ssthresh = self.inflight(self.bandwidth.max(), 1.0) as f64;
        }
        let is_drained =
            || self.in_network(sample.in_flight, sample.pacing_delay) <= self.inflight(self.bandwidth.max(), 1.0);
        if self.mode == Mode::Drain && is_drained() {
            self.start_probe_bw(now);
        }
    }

    /// `bbr_reset_mode`, after an RTT probe: back to where the path is known.
    pub(super) fn resume(&mut self, now: Instant) {
        if self.full_pipe.was_reached {
            self.start_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
