//! Tail loss probes (RFC 8985 §7): after two silent round trips a new segment, or the last one again, brings an ACK.

use super::super::Timing;
use super::RackConfig;
use crate::scoreboard::{Acknowledgement, DeliveredSegment, Scoreboard};
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(super) struct Probe {
    is_on: bool,
    longest_ack_delay: Duration,
    /// [`Instant::NEVER`] while the timer stands still.
    deadline: Instant,
    is_due: bool,
    /// The probe on its way.
    flying: Option<Flying>,
    /// A round trip was measured since the last probe; before the first one, the handshake's.
    is_measured: bool,
    knows_rtt: bool,
    /// The last segment sent was the probe.
    was_sent: bool,
}

#[derive(Clone, Copy, Debug)]
struct Flying {
    /// One past the highest segment when it was sent, and the stream position there (`TLP.end_seq`).
    end: u64,
    position: u64,
    /// It repeats a segment (`TLP.is_retrans`).
    is_retransmission: bool,
}

/// What an ACK tells about the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeNews {
    Nothing,
    /// Only one of the segment and its repetition arrived.
    RepairedLoss,
}

/// The shortest probe timeout, two ticks of a millisecond as in Linux (`TCP_TIMEOUT_MIN`).
const SHORTEST: Duration = Duration::from_millis(2);
/// Before a round trip is known (RFC 8985 §7.2).
const BEFORE_FIRST_SAMPLE: Duration = Duration::from_secs(1);

impl Probe {
    pub(super) fn new(config: &RackConfig) -> Self {
        Self {
            is_on: config.probes_tail,
            longest_ack_delay: config.longest_ack_delay,
            deadline: Instant::NEVER,
            is_due: false,
            flying: None,
            is_measured: true,
            knows_rtt: false,
            was_sent: false,
        }
    }

    /// Sets the timer after new data were sent or acknowledged (RFC 8985 §7.2). `in_flight` counts the segments; none count
    /// while something is being repaired.
    #[inline]
    pub(super) fn schedule(&mut self, now: Instant, timing: &Timing, in_flight: u64) {
        self.knows_rtt = timing.smoothed_rtt.is_some();
        let is_wanted = self.is_on && !core::mem::take(&mut self.was_sent) && !self.is_due && in_flight > 0;
        self.deadline = if is_wanted {
            let timeout = timing.smoothed_rtt.map_or(BEFORE_FIRST_SAMPLE, |smoothed| {
                smoothed * 2 + if in_flight == 1 { self.longest_ack_delay } else { Duration::ZERO }
            });
            timing.timeout_at.min(now + timeout.max(SHORTEST))
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

    /// Stops the timer and forgets a probe on its way: a recovery begins (RFC 8985 §7.1).
    pub(super) fn forget(&mut self) {
        self.cancel();
        self.flying = None;
    }

    /// The timer ran out: one probe at a time, and none before a round trip was measured since the last
    /// (RFC 8985 §7.3).
    pub(super) fn fire(&mut self, scoreboard: &Scoreboard) {
        self.deadline = Instant::NEVER;
        self.is_due = self.flying.is_none() && self.is_measured && self.knows_rtt && scoreboard.outstanding() > 0;
    }

    /// Learns that a segment arrived: one sent once measures the round trip.
    pub(super) fn on_delivered(&mut self, delivered: &DeliveredSegment) {
        self.is_measured |= delivered.transmissions == 1;
    }

    /// Learns that segments arrived that were sent once.
    pub(super) fn on_progress(&mut self) {
        self.is_measured = true;
    }

    /// Returns whether a probe is on its way, as far as is known.
    pub(super) fn is_flying(&self) -> bool {
        self.flying.is_some()
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// The probe that was due is sent.
    pub(super) fn on_sent(&mut self, is_new: bool, scoreboard: &Scoreboard) {
        self.is_due = false;
        self.flying =
            Some(Flying { end: scoreboard.smax(), position: scoreboard.end_position(), is_retransmission: !is_new });
        self.is_measured = false;
        self.was_sent = true;
    }

    /// Reads an ACK (RFC 8985 §7.4.2).
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard) -> ProbeNews {
        let Some(flying) = self.flying.filter(|flying| scoreboard.una() >= flying.end) else {
            return ProbeNews::Nothing;
        };
        let both_arrived = ack.duplicate.is_some_and(|duplicate| duplicate.end == flying.position);
        let repeats_ack = ack.has_no_blocks && ack.bytes == 0;
        if !flying.is_retransmission || both_arrived || scoreboard.una() > flying.end || repeats_ack {
            self.flying = None;
        }
        let is_repaired = flying.is_retransmission && !both_arrived && scoreboard.una() > flying.end;
        if is_repaired { ProbeNews::RepairedLoss } else { ProbeNews::Nothing }
    }
}
