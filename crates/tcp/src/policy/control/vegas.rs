//! Vegas' window (Brakmo and Peterson 1995; ns-2.35 `tcp-vegas.cc`): once per round trip, the segments that stand in the
//! queue – expected rate less actual rate, times the smallest round trip – decide whether to grow.

use super::reno::{Reno, SMALLEST_SSTHRESH};
use super::{CongestionControl, Flight, Progress, Window};
use crate::policy::trigger::DUPLICATE_THRESHOLD;
use crate::trace::{Cx, TraceEvent};
use earlybird_units::{Duration, Instant};

/// Vegas' thresholds, in segments that stand in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasParameters {
    /// Grow below this many.
    pub alpha: u32,
    /// Shrink above this many.
    pub beta: u32,
    /// End slow start above this many.
    pub gamma: u32,
}

impl VegasParameters {
    /// ns-2.35's defaults.
    pub const NS2: Self = Self { alpha: 1, beta: 3, gamma: 1 };
    /// Linux's defaults (`tcp_vegas.c`).
    pub const LINUX: Self = Self { alpha: 2, beta: 4, gamma: 1 };
}

/// A loss that Vegas' fine timer or the third duplicate revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FineLoss {
    /// Duplicates counted so far.
    pub(crate) duplicates: u32,
    /// How often the missing segment was sent.
    pub(crate) transmissions: u32,
    /// When it was last sent.
    pub(crate) departed: Option<Instant>,
}

/// Where the sender stands after an ACK, in numbers of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
}

impl Place {
    /// Gives what ns-2 takes for the segments in flight: one more than there are.
    fn in_flight(self) -> f64 {
        (self.nxt + 1 - self.una) as f64
    }
}

/// Vegas' window.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: Reno,
    parameters: VegasParameters,
    /// ns-2's agent as a whole: its recovery tells of losses with [`Self::on_fine_loss`].
    is_agent: bool,
    /// The initial window, which ns-2 sets on the first ACK of data.
    initial_window: Option<f64>,
    round: Round,
    /// What each ACK of this round adds to the window.
    increment: f64,
    /// Slow start grows in every second round only.
    is_growing_round: bool,
    /// The window without inflation since the last loss.
    reduced: f64,
    changed: Option<Instant>,
}

/// One round trip: from the ACK of a segment to that of the one that was next then.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Smallest round-trip time ever, in seconds.
    shortest: f64,
    sum: f64,
    count: u32,
    begun: Option<Instant>,
    /// Number of the next segment when the round began.
    first: u64,
}

/// Vegas never goes below two segments.
const SMALLEST_WINDOW: f64 = 2.0;

/// ns-2 grows the window only while no more of it than this is unused, in segments.
const LARGEST_UNUSED: f64 = 2.0;

impl Round {
    /// Ends the round and gives how many segments stand in the queue.
    fn end(&mut self, now: Instant, place: Place) -> Option<i64> {
        let since_begin = || self.begun.map_or(0.0, |begun| (now - begun).as_secs_f64());
        let rtt = if self.count > 0 { self.sum / f64::from(self.count) } else { since_begin() };
        let sent = place.nxt - self.first;
        *self = Self { sum: 0.0, count: 0, begun: Some(now), first: place.nxt, ..*self };
        if rtt <= 0.0 {
            return None;
        }
        if rtt < self.shortest || sent <= 1 {
            self.shortest = rtt;
        }
        let (expected, actual) = (place.in_flight() / self.shortest, sent as f64 / rtt);
        Some(((expected - actual) * self.shortest + 0.5) as i64)
    }

    fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.sum += rtt;
        self.count += 1;
        self.shortest = self.shortest.min(rtt);
    }
}

impl Vegas {
    pub(crate) fn new(window: Reno, parameters: VegasParameters, is_agent: bool, initial_window: f64) -> Self {
        Self {
            window,
            parameters,
            is_agent,
            initial_window: Some(initial_window),
            round: Round { shortest: f64::INFINITY, sum: 0.0, count: 0, begun: None, first: 0 },
            increment: 0.0,
            is_growing_round: true,
            reduced: 0.0,
            changed: None,
        }
    }

    /// The opening segment came back after `rtt`: for ns-2, a round like any other.
    pub(crate) fn on_opened(&mut self, cx: &mut Cx<'_>, rtt: Duration) {
        self.round.on_sample(rtt);
        // The window stays as it is; others' traces show a step here.
        self.set(cx, self.cwnd(), self.ssthresh());
        self.on_ack(cx, Place { una: 1, nxt: 1 }, None);
    }

    /// An ACK moves the window forward: what ns-2 does before it takes the ACK in.
    pub(crate) fn before_progress(&mut self, cx: &mut Cx<'_>, duplicates: u32) {
        if let Some(initial_window) = self.initial_window.take() {
            self.set(cx, initial_window, self.ssthresh());
        }
        if duplicates > DUPLICATE_THRESHOLD && self.cwnd() > self.reduced {
            self.set(cx, self.reduced, self.ssthresh());
            self.set(cx, self.reduced, SMALLEST_SSTHRESH);
        }
    }

    /// An ACK moved the window forward, and measured a round trip perhaps.
    pub(crate) fn on_ack(&mut self, cx: &mut Cx<'_>, place: Place, rtt: Option<Duration>) {
        if place.una > self.round.first
            && let Some(queued) = self.round.end(cx.now, place)
        {
            self.on_round(cx, queued);
        }
        let is_doubling = self.increment.total_cmp(&1.0).is_eq();
        if is_doubling && !self.window.is_slow_start() {
            self.increment = 0.0;
        }
        if self.increment > 0.0 && self.cwnd() - place.in_flight() <= LARGEST_UNUSED {
            self.set(cx, self.cwnd() + self.increment, self.ssthresh());
        }
        if let Some(rtt) = rtt {
            self.round.on_sample(rtt);
        }
    }

    fn on_round(&mut self, cx: &mut Cx<'_>, queued: i64) {
        let VegasParameters { alpha, beta, gamma } = self.parameters;
        self.increment = if self.window.is_slow_start() {
            self.is_growing_round = !self.is_growing_round;
            if self.is_growing_round && queued > i64::from(gamma) {
                self.set(cx, self.cwnd(), SMALLEST_SSTHRESH);
                self.shrink(cx, self.cwnd() / 8.0);
            }
            let is_doubling = self.is_growing_round && queued <= i64::from(gamma);
            if is_doubling { 1.0 } else { 0.0 }
        } else if queued > i64::from(beta) {
            self.shrink(cx, 1.0);
            0.0
        } else if queued < i64::from(alpha) {
            1.0 / self.cwnd()
        } else {
            0.0
        };
    }

    fn shrink(&mut self, cx: &mut Cx<'_>, segments: f64) {
        self.set(cx, self.cwnd() - segments, self.ssthresh());
        if self.cwnd() < SMALLEST_WINDOW {
            self.set(cx, SMALLEST_WINDOW, self.ssthresh());
        }
    }

    /// A loss: the window shrinks unless it did since the missing segment was sent, and by less the first time. The
    /// duplicates inflate it.
    pub(crate) fn on_fine_loss(&mut self, cx: &mut Cx<'_>, loss: &FineLoss) {
        let is_newer = |departed| self.changed.is_none_or(|changed| changed < departed);
        if !loss.departed.is_some_and(is_newer) {
            return;
        }
        let usable = libm::floor(self.window.usable());
        self.reduced = if usable <= 3.0 {
            SMALLEST_WINDOW
        } else if loss.transmissions > 1 {
            libm::floor(usable / 2.0)
        } else {
            usable - libm::floor(usable / 4.0)
        };
        self.set(cx, self.reduced + f64::from(loss.duplicates), self.ssthresh());
        self.changed = Some(cx.now);
    }

    /// A duplicate after the loss inflates the window.
    pub(crate) fn inflate(&mut self) {
        self.window.grow_by(1.0);
    }

    fn set(&mut self, cx: &mut Cx<'_>, cwnd: f64, ssthresh: f64) {
        self.window.set(cwnd, ssthresh);
        cx.trace.record(cx.now, TraceEvent::Window { cwnd, ssthresh });
    }
}

impl CongestionControl for Vegas {
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn on_established(&mut self, initial_window: f64) {
        if !self.is_agent {
            self.window.on_established(initial_window);
        }
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        self.on_ack(cx, Place { una: progress.una, nxt: progress.smax }, progress.rtt);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.increment = 0.0;
        self.window.on_loss(cx, flight);
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        if !self.is_agent {
            self.increment = 0.0;
            return self.window.on_timeout(cx, flight);
        }
        let half = libm::floor(self.window.half(*flight));
        for (cwnd, ssthresh) in [(self.cwnd(), half), (1.0, half), (1.0, half.max(SMALLEST_SSTHRESH))] {
            self.set(cx, cwnd, ssthresh);
        }
        self.set(cx, SMALLEST_WINDOW, self.ssthresh());
        self.reduced = 0.0;
        self.changed = Some(cx.now);
    }

    fn deflate(&mut self, cx: &mut Cx<'_>, segments: f64) {
        self.window.deflate(cx, segments);
    }

    fn undo(&mut self, window: &Window) {
        self.window.undo(window);
    }

    fn on_idle(&mut self) {
        self.window.set(if self.is_agent { SMALLEST_WINDOW } else { 1.0 }, self.ssthresh());
    }

    fn vegas(&mut self) -> Option<&mut Vegas> {
        self.is_agent.then_some(self)
    }
}
