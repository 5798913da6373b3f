//! Congestion control: one file per algorithm.

pub(crate) mod factory;
pub(crate) mod path;
#[macro_use]
pub(crate) mod registry;
pub(crate) mod slow_start;

use crate::policy::recovery::LostSegmentInfo;
use crate::policy::send_quantum::send_quantum;
use crate::trace::{Cx, TraceEvent};
use core::fmt::Debug;
use earlybird_units::{Duration, Instant};
use factory::ControlFactory;

controls! {
    plain {
        /// Slow start, congestion avoidance, halving.
        reno: Reno: RenoFactory,
        /// Slow start, congestion avoidance; one segment after every loss.
        tahoe: Tahoe: TahoeRules,
    }
    with parameters {
        /// Probabilistic early response.
        pert: Pert(PertFlags),
        /// BBR version 3.
        bbr: Bbr(BbrParameters),
        /// BBR version 1, as in Linux.
        bbr1: Bbr1(Bbr1Parameters),
        /// Copa: the rate 1/(δ·dq).
        copa: Copa(CopaParameters),
        /// A cubic function of the time since the last loss.
        cubic: Cubic(CubicConfig),
        /// Vegas: as many segments in the queue as its thresholds say.
        vegas: Vegas(VegasParameters),
        /// Prague: by the share of marks. Without [`EcnMode::Accurate`](crate::EcnMode::Accurate) it is Reno with pacing.
        prague: Prague(PragueParameters),
        /// Reno that ignores losses without queueing delay.
        tolerant: Tolerant(TolerantParameters),
    }
}

/// An ACK of new data, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Segments that this ACK newly acknowledged.
    pub acked: u64,
    /// RTT of the newest of them; `None` if any was retransmitted.
    pub rtt: Option<Duration>,
    /// Number of the lowest unacknowledged segment (SND.UNA).
    pub una: u64,
    /// Number of the next segment to send (SND.NXT): below [`Self::snd_max`] during retransmissions.
    pub nxt: u64,
    /// One past the highest segment ever sent.
    pub snd_max: u64,
    /// Segments that were outstanding when the ACK arrived.
    pub flight: u64,
    /// Growth in segments: slow start adds it to the window, congestion avoidance its share of a window. The acknowledged segments
    /// (RFC 3465), or one per ACK as in ns-2; zero if the window was not used (RFC 7661).
    pub growth: f64,
    /// Whether the window was used in the last RTT; `None` without congestion window validation.
    pub(crate) is_used: Option<bool>,
}

impl Progress {
    /// Returns an ACK of the first `acked` of the `flight` segments of a connection whose window is used.
    pub const fn new(acked: u64, flight: u64, rtt: Option<Duration>) -> Self {
        Self { acked, rtt, una: acked, nxt: flight, snd_max: flight, flight, growth: acked as f64, is_used: None }
    }

    /// Returns whether a window of `cwnd` segments was used, also without congestion window validation.
    pub fn is_cwnd_used(&self, cwnd: f64) -> bool {
        self.is_used.unwrap_or(self.flight >= cwnd as u64)
    }
}

/// The flight at a reduction of the window.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Flight {
    /// Segments sent and not acknowledged.
    pub outstanding: u64,
    /// Transmissions so far, retransmissions included.
    pub sent: u64,
    /// Segments acknowledged or `SACKed` so far.
    pub arrived: u64,
    /// The lost segment; `None` if none is known.
    pub missing: Option<LostSegmentInfo>,
}

impl Flight {
    /// Returns the flight of the first `outstanding` segments of a connection.
    pub const fn new(outstanding: u64) -> Self {
        Self { outstanding, sent: outstanding, arrived: 0, missing: None }
    }
}

/// The ECN feedback of an ACK, in segments (RFC 9768).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Marks {
    /// Segments that this ACK newly delivered, in order or not.
    pub delivered: u64,
    /// Segments newly reported as marked.
    pub marked: u64,
    /// Exact round-trip time of the newest of them; `None` if any had been retransmitted.
    pub rtt: Option<Duration>,
    /// Number of the lowest segment not acknowledged yet.
    pub una: u64,
    /// One past the highest segment ever sent.
    pub snd_max: u64,
    /// Whether a recovery is in progress.
    pub is_recovering: bool,
}

impl Marks {
    /// Returns the feedback for the first `delivered` segments of a connection, of which `marked` are marked.
    pub const fn new(delivered: u64, marked: u64) -> Self {
        Self { delivered, marked, rtt: None, una: delivered, snd_max: delivered, is_recovering: false }
    }
}

/// The handshake, as a congestion control sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handshake {
    /// RTT of its last attempt.
    pub rtt: Duration,
    /// Whether there was more than one attempt, so that the RTT is ambiguous.
    pub was_retransmitted: bool,
}

impl Handshake {
    /// Returns a handshake that took `rtt`.
    pub const fn new(rtt: Duration) -> Self {
        Self { rtt, was_retransmitted: false }
    }
}

/// A window to restore.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Window {
    /// The congestion window, at least.
    pub cwnd: f64,
    /// The slow-start threshold, at least.
    pub ssthresh: f64,
}

impl Window {
    /// Returns a window.
    pub const fn new(cwnd: f64, ssthresh: f64) -> Self {
        Self { cwnd, ssthresh }
    }
}

/// A congestion control. Windows are real numbers in segments.
///
/// Each connection has one, built by a [`ControlFactory`](factory::ControlFactory). Calls have this order:
/// [`Self::on_established`] and [`Self::on_handshake`] once; then for each ACK [`Self::on_marks`] if it
/// [is scalable](Self::is_scalable), and one of [`Self::on_progress`], [`Self::on_loss`], [`Self::inflate`] and [`Self::deflate`];
/// [`Self::on_timeout`] and [`Self::on_idle`] when the timer expires.
pub trait CongestionControl: Debug + Send {
    /// Returns the congestion window.
    fn cwnd(&self) -> f64;
    /// Returns the slow-start threshold; infinite before the first loss where the profile has no initial one.
    fn ssthresh(&self) -> f64;
    /// Starts with the given window once the handshake is done.
    ///
    /// A trace shows the steps between two events that the control records by [`TraceEvent::Window`].
    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64);
    /// Processes the RTT of the handshake.
    fn on_handshake(&mut self, _cx: &mut Cx<'_>, _handshake: &Handshake) {}
    /// Returns the limit of the window as a multiple of its used part: beyond it does not grow (RFC 7661; in slow start twice, as in
    /// Linux's `tcp_is_cwnd_limited`, so that an RTT can double the flight).
    fn headroom(&self) -> f64 {
        if self.cwnd() < self.ssthresh() { 2.0 } else { 1.0 }
    }
    /// Grows the window by [`Progress::growth`] after an ACK of new data outside recovery.
    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress);
    /// Reduces the window after a loss that duplicate ACKs or time revealed.
    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight);
    /// Reduces the window after an ECN mark (RFC 3168 §6.1.2: as after a loss).
    fn on_congestion_mark(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.on_loss(cx, flight);
    }
    /// Returns whether it responds to the share of marks. Then its segments are ECT(1), for the L4S service (RFC 9331 §4.1), and
    /// [`Self::on_marks`] is called for every ACK.
    fn is_scalable(&self) -> bool {
        false
    }
    /// Processes the marks of an ACK, before it grows the window. Returns whether the window was reduced.
    fn on_marks(&mut self, _now: Instant, _marks: &Marks) -> bool {
        false
    }
    /// Reduces the window after a retransmission timeout.
    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight);
    /// Inflates the window by segments that duplicates show to have left the network (RFC 5681 §3.2 (4)), if the recovery does not
    /// count them itself.
    fn inflate(&mut self, _cx: &mut Cx<'_>, _segments: f64) {}
    /// Deflates the window by `segments`, to one segment at least.
    fn deflate(&mut self, _cx: &mut Cx<'_>, _segments: f64) {}
    /// Processes an ACK of frames that left the sender at a timeout, as they were too old to be sent again, and have arrived all the same.
    fn on_abandoned_arrival(&mut self) {}
    /// Undoes the last reduction, which was spurious (RFC 4015 §3.1, step 9). By default the reduction stays.
    fn undo(&mut self, _window: &Window) {}
    /// Reduces the window after an idle period (RFC 5681 §4.1), or when ns-2's idle timer expires.
    fn on_idle(&mut self, window: &Window);
    /// Returns whether segments are paced at [`Self::pacing_rate`].
    fn is_paced(&self) -> bool {
        false
    }
    /// Returns the pacing rate in full segments per second; `None` while it is unknown.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Returns how many segments leave at once at this pacing rate (draft-ietf-ccwg-bbr, "Send Quantum").
    fn send_quantum(&self, rate: f64) -> f64 {
        send_quantum(rate)
    }
    /// Returns the control as a model of the path, if it is one.
    fn path_model(&mut self) -> Option<&mut dyn path::PathModel> {
        None
    }
    /// Processes a transmission after an idle period.
    fn on_resumed(&mut self, _now: Instant) {}
    /// Returns internal values for time series.
    fn gauges(&self) -> Gauges {
        Gauges::default()
    }
}

/// Records that the ACK of the SYN grows the window as any other before the initial window is set, as in ns-2.
pub(crate) fn trace_syn_ack(cx: &mut Cx<'_>, control: &dyn CongestionControl) {
    let (cwnd, ssthresh) = (control.cwnd() + 1.0, control.ssthresh());
    cx.trace.record(cx.now, TraceEvent::Window { cwnd, ssthresh });
}

/// Named values of a congestion control, for time series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Queueing delay, smoothed (PERT) or not (Copa, tolerant).
    pub queueing_delay: Option<Duration>,
    /// Increase per RTT in segments (PERT), or change in either direction (Copa).
    pub alpha: Option<f64>,
    /// Probability of an early response (PERT).
    pub probability: Option<f64>,
    /// Smoothed share of segments that are marked (Prague).
    pub mark_share: Option<f64>,
    /// Early responses so far (PERT).
    pub early_responses: u64,
    /// Bandwidth of the path in full segments per second (BBR).
    pub bandwidth: Option<f64>,
    /// State of BBR.
    pub bbr_state: Option<bbr::State>,
}
