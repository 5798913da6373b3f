//! How much may be in flight: one file per congestion control.

pub(crate) mod factory;
pub(crate) mod path;
#[macro_use]
pub(crate) mod registry;
pub(crate) mod slow_start;

use crate::trace::{Cx, TraceEvent};
use core::fmt::Debug;
use earlybird_units::{Duration, Instant};
use factory::ControlFactory;

controls! {
    plain {
        /// Slow start, congestion avoidance, halving.
        reno: Reno: RenoRules,
        /// Slow start, congestion avoidance; one segment after every loss.
        tahoe: Tahoe: TahoeRules,
    }
    with parameters {
        /// Probabilistic early response.
        pert: Pert(PertFlags),
        /// BBR version 3.
        bbr: Bbr(BbrParameters),
        /// Copa: the rate 1/(δ·dq).
        copa: Copa(CopaParameters),
        /// A cubic function of the time since the last loss.
        cubic: Cubic(CubicConfig),
        /// Vegas: as many segments in the queue as its thresholds say.
        vegas: Vegas(VegasParameters),
        /// Prague: by the share of marks. Without [`EcnMode::Accurate`](crate::EcnMode::Accurate) it is Reno with pacing.
        prague: Prague(PragueParameters),
        /// Reno's window, which tells congestion from noise by delay.
        tolerant: Tolerant(TolerantParameters),
    }
}

/// What one ACK that moved the window forward tells a congestion control.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Segments that this ACK newly acknowledged.
    pub acked: u64,
    /// Exact round-trip time of the newest of them; `None` if any had been retransmitted.
    pub rtt: Option<Duration>,
    /// Number of the lowest segment not acknowledged yet.
    pub una: u64,
    /// Number of the segment that goes next: below [`Self::smax`] while lost ones go out again.
    pub nxt: u64,
    /// One past the highest segment ever sent.
    pub smax: u64,
    /// Segments that were outstanding when the ACK came.
    pub flight: u64,
    /// Segments that the window grows by in slow start, and in avoidance in each round trip of so many: those that were
    /// acknowledged (RFC 3465), or one per ACK as in ns-2; none where the window was not used (RFC 7661).
    pub growth: f64,
    /// Whether the window was used in the last round trip, where the sender watches that.
    pub(crate) is_used: Option<bool>,
}

impl Progress {
    /// Makes the ACK of the first `acked` of a connection's `flight` segments, which measures `rtt`, of a window that is used.
    pub const fn new(acked: u64, flight: u64, rtt: Option<Duration>) -> Self {
        Self { acked, rtt, una: acked, nxt: flight, smax: flight, flight, growth: acked as f64, is_used: None }
    }

    /// Returns whether a window of `cwnd` segments was used, for a control that asks for that even where the sender does not.
    pub fn used_up(&self, cwnd: f64) -> bool {
        self.is_used.unwrap_or(self.flight >= cwnd as u64)
    }
}

/// What is in flight when the window must shrink.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Flight {
    /// Segments sent and not acknowledged.
    pub outstanding: u64,
    /// Transmissions so far, repetitions included.
    pub sent: u64,
    /// Segments known to have arrived so far.
    pub arrived: u64,
    /// What is known of the segment that is missing; `None` where none was found lost.
    pub missing: Option<Missing>,
}

/// A segment that was found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The duplicate ACKs that told of it; 0 if time did.
    pub duplicates: u32,
    /// How often it was sent.
    pub transmissions: u32,
    /// When it was last sent; `None` if recovery does not know.
    pub sent: Option<Instant>,
}

impl Flight {
    /// Makes the first so many segments of a connection.
    pub const fn new(outstanding: u64) -> Self {
        Self { outstanding, sent: outstanding, arrived: 0, missing: None }
    }
}

/// What one ACK tells of marks, in segments (RFC 9768).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Marks {
    /// Segments that this ACK newly delivered, in order or not.
    pub delivered: u64,
    /// Segments newly known to be marked.
    pub marked: u64,
    /// Exact round-trip time of the newest of them; `None` if any had been retransmitted.
    pub rtt: Option<Duration>,
    /// Number of the lowest segment not acknowledged yet.
    pub una: u64,
    /// One past the highest segment ever sent.
    pub smax: u64,
    /// Whether a loss is being repaired.
    pub is_recovering: bool,
}

impl Marks {
    /// Makes the ACK of the first `delivered` segments of a connection, all that were sent, `marked` of them marked.
    pub const fn new(delivered: u64, marked: u64) -> Self {
        Self { delivered, marked, rtt: None, una: delivered, smax: delivered, is_recovering: false }
    }
}

/// What the handshake tells a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handshake {
    /// How long its last attempt took.
    pub rtt: Duration,
    /// There was more than one attempt, so that the answer may be to an earlier one.
    pub was_repeated: bool,
}

impl Handshake {
    /// Makes one that took `rtt`.
    pub const fn new(rtt: Duration) -> Self {
        Self { rtt, was_repeated: false }
    }
}

/// A window to return to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Window {
    /// What may be in flight at least.
    pub cwnd: f64,
    /// The slow-start threshold, at least.
    pub ssthresh: f64,
}

impl Window {
    /// Makes one.
    pub const fn new(cwnd: f64, ssthresh: f64) -> Self {
        Self { cwnd, ssthresh }
    }
}

/// How much may be in flight. Windows count segments and are real numbers.
///
/// A connection has one of its own, made by a [`ControlFactory`](factory::ControlFactory). It is told what happens in this
/// order: [`Self::on_established`] and [`Self::on_handshake`] once; then, ACK by ACK, [`Self::on_marks`] if it asks for
/// shares of marks, and one of [`Self::on_progress`], [`Self::on_loss`], [`Self::inflate`] and [`Self::deflate`];
/// [`Self::on_timeout`] and [`Self::on_idle`] when the timer runs out.
pub trait CongestionControl: Debug + Send {
    /// Returns the congestion window.
    fn cwnd(&self) -> f64;
    /// Returns the slow-start threshold; infinite before the first loss where the profile has no initial one.
    fn ssthresh(&self) -> f64;
    /// Starts with the given window once the handshake is done.
    ///
    /// What a trace shows between two events are the steps that a control tells with [`TraceEvent::Window`]; one that tells none
    /// is seen to go at once.
    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64);
    /// Learns how long the handshake took.
    fn on_handshake(&mut self, _cx: &mut Cx<'_>, _handshake: &Handshake) {}
    /// Returns how many times what was used of the window it may be: beyond, it does not grow (RFC 7661; in slow start Linux's
    /// `tcp_is_cwnd_limited`, so that one round trip can double what it uses).
    fn headroom(&self) -> f64 {
        if self.cwnd() < self.ssthresh() { 2.0 } else { 1.0 }
    }
    /// Grows the window by [`Progress::growth`]: an ACK outside recovery moved it forward.
    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress);
    /// Shrinks the window: a loss was found by duplicate ACKs.
    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight);
    /// Shrinks the window: a queue marked a segment (RFC 3168 §6.1.2: as after a loss).
    fn on_congestion_mark(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.on_loss(cx, flight);
    }
    /// Returns whether it answers shares of marks: its segments are then for the L4S service (RFC 9331 §4.1), and
    /// [`Self::on_marks`] hears of every ACK.
    fn is_scalable(&self) -> bool {
        false
    }
    /// Takes note of an ACK and its marks, before it grows the window; says whether that shrank it.
    fn on_marks(&mut self, _now: Instant, _marks: &Marks) -> bool {
        false
    }
    /// Shrinks the window: the retransmission timer ran out.
    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight);
    /// Takes so many segments more for a time: duplicates tell that they have left the network (RFC 5681 §3.2 (4)), and
    /// recovery leaves it to the control to count them.
    fn inflate(&mut self, _cx: &mut Cx<'_>, _segments: f64) {}
    /// Ends that, or gives back other segments that recovery finds too many, down to a window of one.
    fn deflate(&mut self, _cx: &mut Cx<'_>, _segments: f64) {}
    /// Takes the last reduction back: the loss it was for was none (RFC 4015 §3.2). A control that does not say how keeps its
    /// reductions.
    fn undo(&mut self, _window: &Window) {}
    /// Lowers the window to this one: nothing was sent for a time (RFC 5681 §4.1), or ns-2's idle timer ran out.
    fn on_idle(&mut self, window: &Window);
    /// Returns whether segments leave at [`Self::pacing_rate`].
    fn is_paced(&self) -> bool {
        false
    }
    /// Returns the rate at which segments leave, in full segments per second; `None` as long as it is not known.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Returns the control as one that models the path, if it does.
    fn path_model(&mut self) -> Option<&mut dyn path::PathModel> {
        None
    }
    /// Learns that a segment is sent after a time in which nothing was outstanding.
    fn on_resumed(&mut self, _now: Instant) {}
    /// Shows the inner values worth plotting.
    fn gauges(&self) -> Gauges {
        Gauges::default()
    }
}

/// Tells that the ACK of the opening segment counts as any other before the initial window is set, as in ns-2.
pub(crate) fn tell_opening(cx: &mut Cx<'_>, control: &dyn CongestionControl) {
    let (cwnd, ssthresh) = (control.cwnd() + 1.0, control.ssthresh());
    cx.trace.record(cx.now, TraceEvent::Window { cwnd, ssthresh });
}

/// Named values of a congestion control, for time series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Queueing delay, smoothed (PERT) or not (Copa, tolerant).
    pub queueing_delay: Option<Duration>,
    /// Increase per round trip in segments (PERT), or change up or down (Copa).
    pub alpha: Option<f64>,
    /// Probability of an early response (PERT).
    pub probability: Option<f64>,
    /// Smoothed share of segments that are marked (Prague).
    pub mark_share: Option<f64>,
    /// Early responses so far (PERT).
    pub early_responses: u64,
    /// Bandwidth of the path in full segments per second (BBR).
    pub bandwidth: Option<f64>,
    /// What it is doing (BBR).
    pub bbr_state: Option<bbr::State>,
}
