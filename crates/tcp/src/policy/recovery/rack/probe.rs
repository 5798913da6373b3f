//! Tail loss probes (RFC 8985 §7): after two RTTs without an ACK a new segment, or the last one again, is sent to cause one.

use super::super::Timing;
use super::RackConfig;
use crate::scoreboard::{Acknowledgement, DeliveredSegment, Scoreboard};
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(super) struct Probe {
    is_on: bool,
    longest_ack_delay: Duration,
    /// [`Instant::NEVER`] while the timer is stopped.
    deadline: Instant,
    is_due: bool,
    /// The outstanding probe.
    in_flight: Option<ProbeInFlight>,
    /// Whether an RTT was measured since the last probe; before the first one, that of the handshake.
    is_measured: bool,
    has_rtt: bool,
    /// Whether the last segment sent was the probe.
    was_sent: bool,
}

#[derive(Clone, Copy, Debug)]
struct ProbeInFlight {
    /// One past the highest segment when the probe was sent.
    end: u64,
    /// The stream position there (`TLP.end_seq`).
    position: u64,
    /// Whether it is a retransmission (`TLP.is_retrans`).
    is_retransmission: bool,
}

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeResult {
    Nothing,
    /// Only one of the segment and its retransmission arrived: the probe has repaired a loss.
    RepairedLoss,
}

/// The shortest probe timeout, two ticks of a millisecond as in Linux (`TCP_TIMEOUT_MIN`).
const MIN_PTO: Duration = Duration::from_millis(2);
/// The probe timeout before the first RTT sample (RFC 8985 §7.2).
const INITIAL_PTO: Duration = Duration::from_secs(1);

impl Probe {
    pub(super) fn new(config: &RackConfig) -> Self {
        Self {
            is_on: config.probes_tail,
            longest_ack_delay: config.longest_ack_delay,
            deadline: Instant::NEVER,
            is_due: false,
            in_flight: None,
            is_measured: true,
            has_rtt: false,
            was_sent: false,
        }
    }

    /// Sets the timer after new data was sent or acknowledged (RFC 8985 §7.2). `in_flight` is the number of segments, and 0 during
    /// recovery.
    #[inline]
    pub(super) fn schedule(&mut self, now: Instant, timing: &Timing, in_flight: u64) {
        self.has_rtt = timing.smoothed_rtt.is_some();
        let is_allowed = self.is_on && !core::mem::take(&mut self.was_sent) && !self.is_due && in_flight > 0;
        self.deadline = if is_allowed {
            let timeout = timing.smoothed_rtt.map_or(INITIAL_PTO, |smoothed| {
                // PTO = 2·SRTT, and the longest ACK delay for a single segment, which a receiver may hold back.
                smoothed * 2 + if in_flight == 1 { self.longest_ack_delay } else { Duration::ZERO }
            });
            // Never later than the RTO (RFC 8985 §7.2).
            timing.timeout_at.min(now + timeout.max(MIN_PTO))
        } else {
            Instant::NEVER
        };
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Stops the timer.
    pub(super) fn cancel(&mut self) {
        self.deadline = Instant::NEVER;
        self.is_due = false;
    }

    /// Stops the timer and drops an outstanding probe: a recovery starts (RFC 8985 §7.1).
    pub(super) fn forget(&mut self) {
        self.cancel();
        self.in_flight = None;
    }

    /// Processes the expiry of the timer. There is one probe at a time, and none before an RTT was measured since the last (RFC 8985
    /// §7.3).
    pub(super) fn fire(&mut self, scoreboard: &Scoreboard) {
        self.deadline = Instant::NEVER;
        self.is_due = self.in_flight.is_none() && self.is_measured && self.has_rtt && scoreboard.outstanding() > 0;
    }

    /// Processes a delivered segment: one sent once measures the RTT.
    pub(super) fn on_delivered(&mut self, delivered: &DeliveredSegment) {
        self.is_measured |= delivered.transmissions == 1;
    }

    /// Processes delivered segments that were sent once.
    pub(super) fn on_progress(&mut self) {
        self.is_measured = true;
    }

    /// Returns whether a probe is outstanding.
    pub(super) fn is_outstanding(&self) -> bool {
        self.in_flight.is_some()
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Processes the transmission of the probe.
    pub(super) fn on_sent(&mut self, is_new: bool, scoreboard: &Scoreboard) {
        self.is_due = false;
        self.in_flight = Some(ProbeInFlight {
            end: scoreboard.snd_max(),
            position: scoreboard.end_position(),
            is_retransmission: !is_new,
        });
        self.is_measured = false;
        self.was_sent = true;
    }

    /// Processes an ACK (RFC 8985 §7.4.2).
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard) -> ProbeResult {
        let Some(in_flight_probe) = self.in_flight.filter(|in_flight_probe| scoreboard.una() >= in_flight_probe.end)
        else {
            return ProbeResult::Nothing;
        };
        let both_arrived = ack.duplicate.is_some_and(|duplicate| duplicate.end == in_flight_probe.position);
        // A bare duplicate ACK beyond the probe means that both copies arrived (§7.4.2, without DSACK).
        let repeats_ack = ack.has_no_blocks && ack.bytes == 0;
        if !in_flight_probe.is_retransmission || both_arrived || scoreboard.una() > in_flight_probe.end || repeats_ack {
            self.in_flight = None;
        }
        let is_repaired = in_flight_probe.is_retransmission && !both_arrived && scoreboard.una() > in_flight_probe.end;
        if is_repaired { ProbeResult::RepairedLoss } else { ProbeResult::Nothing }
    }
}
