//! `ProbeRTT`: a reduced flight for a short time, to measure the RTT without a queue (draft-ietf-ccwg-bbr, "`ProbeRTT`").

use super::arithmetic::volume;
use super::{Bbr, State};
use crate::policy::control::path::RateSample;
use earlybird_units::Instant;

/// The progress of the probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// The end of the probe, once the reduced flight is reached (`BBR.probe_rtt_done_stamp`).
    ends: Option<Instant>,
    is_round_done: bool,
}

impl Bbr {
    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, now: Instant, sample: &RateSample) {
        if self.state != State::ProbeRtt && self.min_rtt.is_expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt = ProbeRtt::default();
            // The reduced flight ends a bandwidth probe.
            self.probing.stop();
            self.rounds.restart();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(now, sample);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, now: Instant, sample: &RateSample) {
        if self.probe_rtt.ends.is_some() {
            self.probe_rtt.is_round_done |= self.rounds.is_start;
            if self.probe_rtt.is_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if volume(sample.in_flight) <= self.probe_rtt_cwnd() {
            // The time starts when the flight is low: until then the queue is still draining.
            let ends = now + self.parameters.probe_rtt_duration;
            self.probe_rtt = ProbeRtt { ends: Some(ends), is_round_done: false };
            self.rounds.restart();
        }
    }

    /// `CheckProbeRTTDone`, `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt.ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.min_rtt.on_probed(now);
        self.restore_cwnd();
        self.short_term.reset_shortterm_model();
        // Back to where the path is known; Startup continues if it was interrupted.
        if self.full_pipe.was_reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
