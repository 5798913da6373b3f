//! Acknowledgement of data: passes arrivals and reads to the policy.

use crate::config::Config;
use crate::policy::acking::adaptive::{Adaptive, DataArrival, IsLast};
use crate::policy::acking::spaced::Spaced;
use crate::policy::acking::{AckDue, Acking};
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};

/// Context of a data segment, for ACK policies that use it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckContext {
    /// Whether the segment has PSH.
    pub(crate) is_pushed: bool,
    /// Our own retransmission timeout.
    pub(crate) timeout: Duration,
    /// Our own smoothed round-trip time.
    pub(crate) srtt: Option<Duration>,
    /// The round-trip time by the timestamp that the segment echoes.
    pub(crate) echoed: Option<Duration>,
}

/// The ACK policy, and the segment sizes that it depends on.
#[derive(Clone, Debug)]
pub(super) struct AckScheduler {
    acking: Acking,
    /// RCV.NXT when the last segment was sent (RFC 7323: Last.ACK.sent).
    last_ack_sent: u64,
    /// Bytes of a full segment of the peer: the longest that arrived (Linux: `rcv_mss`).
    rcv_mss: u64,
    mss: u64,
    /// Present if the policy has a state.
    state: Option<Box<PolicyState>>,
}

/// The state of a policy.
#[derive(Clone, Debug)]
enum PolicyState {
    Adaptive(Adaptive),
    Spaced(Spaced),
}

impl PolicyState {
    fn of(acking: Acking) -> Option<Self> {
        match acking {
            Acking::Adaptive => Some(Self::Adaptive(Adaptive::default())),
            Acking::Spaced { least, most } => Some(Self::Spaced(Spaced::new(least, most))),
            Acking::EverySegment | Acking::SecondSegment(_) | Acking::Delayed(_) => None,
        }
    }
}

/// Bytes of a full segment before any arrived (RFC 9293 §3.7.1: the default MSS of IPv4).
const INITIAL_RCV_MSS: u64 = 536;

impl AckScheduler {
    pub(super) fn new(config: &Config) -> Self {
        let mss = u64::from(config.segments.mss);
        let state = PolicyState::of(config.acks.policy).map(Box::new);
        Self { acking: config.acks.policy, last_ack_sent: 0, rcv_mss: mss.min(INITIAL_RCV_MSS), mss, state }
    }

    /// Returns whether the policy has a state and uses [`AckContext`].
    #[inline]
    pub(super) fn is_stateful(&self) -> bool {
        self.state.is_some()
    }

    fn adaptive(&mut self) -> Option<&mut Adaptive> {
        match self.state.as_deref_mut()? {
            PolicyState::Adaptive(adaptive) => Some(adaptive),
            PolicyState::Spaced(_) => None,
        }
    }

    fn spaced(&mut self) -> Option<&mut Spaced> {
        match self.state.as_deref_mut()? {
            PolicyState::Spaced(spaced) => Some(spaced),
            PolicyState::Adaptive(_) => None,
        }
    }

    /// Returns whether the policy is that of ns-2's sink.
    pub(super) fn is_ns2_sink(&self) -> bool {
        matches!(self.acking, Acking::SecondSegment(_))
    }

    /// Returns whether ACKs are spaced, also while there is a hole.
    pub(super) fn is_spaced(&self) -> bool {
        matches!(self.acking, Acking::Spaced { .. })
    }

    /// Returns whether the ACK of a stored segment is spaced.
    pub(super) fn keeps_spacing(&mut self, now: Instant, opens_hole: bool) -> bool {
        self.spaced().is_some_and(|spaced| spaced.keeps_spacing(now, opens_hole))
    }

    /// Returns the adaptive delay.
    pub(super) fn delay(&self) -> Option<Duration> {
        match self.state.as_deref()? {
            PolicyState::Adaptive(adaptive) => adaptive.delay(),
            PolicyState::Spaced(_) => None,
        }
    }

    fn exceeds_segment(&self, nxt: u64) -> bool {
        // RFC 5681 §4.2: at least every second full-sized segment. Linux compares the same way
        // (`__tcp_ack_snd_check`).
        nxt.saturating_sub(self.last_ack_sent) > self.rcv_mss
    }

    /// Decides about the ACK of `len` bytes in order up to `nxt`, with no hole before or after, for a policy without state.
    #[inline]
    pub(super) fn on_plain_data(&mut self, now: Instant, due: AckDue, nxt: u64, len: u64) -> AckDue {
        let acking = self.acking;
        acking.on_data(now, due, || {
            self.note_length(len);
            self.exceeds_segment(nxt)
        })
    }

    #[inline]
    fn note_length(&mut self, len: u64) {
        // No more than our own MSS: segments merged by GRO are no larger segments.
        self.rcv_mss = self.rcv_mss.max(len.min(self.mss));
    }

    /// Decides the same for a policy with state; `window` is the advertised one.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        due: AckDue,
        (nxt, len, window): (u64, u64, u64),
        ack_context: &AckContext,
    ) -> AckDue {
        let AckContext { timeout, srtt, is_pushed, .. } = *ack_context;
        if let Some(spaced) = self.spaced() {
            return spaced.on_data(now, due, srtt);
        }
        // Compared with the size before this segment, which may raise it.
        let is_short = len < self.rcv_mss;
        self.note_length(len);
        let exceeds_segment = self.exceeds_segment(nxt);
        let is_last = match (is_short, is_pushed) {
            // A short segment ends a write, whether or not it has PSH.
            (true, _) => IsLast::Short,
            (false, true) => IsLast::Pushed,
            (false, false) => IsLast::No,
        };
        let window = window / self.rcv_mss;
        let arrived = DataArrival { now, is_last, exceeds_segment, window, timeout, srtt };
        self.adaptive().map_or(due, |adaptive| adaptive.on_data(due, &arrived))
    }

    /// Processes a duplicate.
    pub(super) fn on_duplicate(&mut self, window: u64) {
        let window = window / self.rcv_mss;
        if let Some(adaptive) = self.adaptive() {
            adaptive.on_duplicate(window);
        }
    }

    /// Processes the expiry of the delayed-ACK timer.
    pub(super) fn on_delay_expired(&mut self) {
        if let Some(adaptive) = self.adaptive() {
            adaptive.on_delay_expired();
        }
    }

    /// Processes a sent segment that acknowledges everything before `nxt`.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, due: AckDue, nxt: u64, has_data: bool) {
        self.last_ack_sent = nxt;
        match self.state.as_deref_mut() {
            None => {}
            Some(PolicyState::Adaptive(adaptive)) => adaptive.on_sent(now, due, has_data),
            Some(PolicyState::Spaced(spaced)) => spaced.on_sent(now),
        }
    }

    /// Returns whether a read makes an ACK due now.
    #[inline]
    pub(super) fn on_read(&self, nxt: u64, has_emptied: bool) -> bool {
        let Some(PolicyState::Adaptive(adaptive)) = self.state.as_deref() else { return false };
        adaptive.on_read(has_emptied, self.exceeds_segment(nxt))
    }

    pub(super) fn set_interactive(&mut self, is_interactive: bool) {
        if let Some(adaptive) = self.adaptive() {
            adaptive.set_interactive(is_interactive);
        }
    }
}
