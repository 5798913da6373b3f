//! Slow start, congestion avoidance and halving (RFC 5681; ns-2.35 `opencwnd` and `slowdown`).

use super::factory::{ControlFactory, ControlSetup};
use super::{CongestionControl, Flight, Progress, Window, tell_opening};
use crate::trace::{Cx, TraceEvent};
use alloc::boxed::Box;

/// What is halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halved {
    /// The usable window min(cwnd, wnd), as ns-2 does.
    Window,
    /// The usable window cut down to whole segments first, as ns-2's `precisionReduce_ 0` does.
    WholeWindow,
    /// The segments in flight (RFC 5681 equation 4).
    Flight,
}

/// Reno's rules, which have no parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenoRules;

impl ControlFactory for RenoRules {
    fn name(&self) -> &'static str {
        "reno"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(setup.reno())
    }
}

/// Additive increase and multiplicative decrease.
#[derive(Clone, Debug)]
pub(crate) struct Reno {
    cwnd: f64,
    ssthresh: f64,
    largest: f64,
    halved: Halved,
}

/// The smallest slow-start threshold (RFC 5681 equation 4).
pub(crate) const SMALLEST_SSTHRESH: f64 = 2.0;

/// Gives how many of `growth` segments are slow start's: an ACK of many does not carry the window beyond the threshold
/// (RFC 3465 §2.1; Linux's `tcp_slow_start`), and the first of them is never divided.
pub(crate) fn slow_start_share(growth: f64, cwnd: f64, ssthresh: f64) -> f64 {
    if cwnd < ssthresh { growth.min((ssthresh - cwnd).max(1.0)) } else { 0.0 }
}

impl Reno {
    /// Makes a control with a window of one segment, for the handshake.
    ///
    /// `largest` is the largest usable window in segments.
    pub(crate) fn new(largest: u32, ssthresh: f64, halved: Halved) -> Self {
        Self { cwnd: 1.0, ssthresh, largest: f64::from(largest), halved }
    }

    /// Gives the usable window as a real number.
    pub(crate) fn usable(&self) -> f64 {
        self.cwnd.min(self.largest)
    }

    /// Says whether the window still doubles every round trip.
    pub(crate) fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Sets window and threshold.
    pub(crate) fn set(&mut self, cwnd: f64, ssthresh: f64) {
        self.cwnd = cwnd;
        self.ssthresh = ssthresh;
    }

    /// Adds to the window.
    pub(crate) fn grow_by(&mut self, segments: f64) {
        self.cwnd += segments;
    }

    /// Grows by so many segments in slow start, and gives what is left of them for avoidance.
    pub(crate) fn start_slowly(&mut self, growth: f64) -> f64 {
        let grown = slow_start_share(growth, self.cwnd, self.ssthresh);
        self.cwnd += grown;
        growth - grown
    }

    /// Sets the window, and the threshold to its whole part but at least 2.
    pub(crate) fn shrink_to(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.ssthresh = libm::floor(cwnd).max(SMALLEST_SSTHRESH);
    }

    /// Sets the threshold to `half`, then the window, then the threshold to its smallest: ns-2 does it in these steps.
    fn reduce(&mut self, cx: &mut Cx<'_>, half: f64, cwnd: f64) {
        let ssthresh = libm::floor(half);
        if ssthresh < SMALLEST_SSTHRESH {
            for cwnd in [self.cwnd, cwnd] {
                cx.trace.record(cx.now, TraceEvent::Window { cwnd, ssthresh });
            }
        }
        self.set(cwnd, ssthresh.max(SMALLEST_SSTHRESH));
    }

    /// Gives half of what the profile halves.
    pub(crate) fn half(&self, flight: Flight) -> f64 {
        match self.halved {
            Halved::Window => self.usable() / 2.0,
            Halved::WholeWindow => libm::floor(libm::floor(self.usable()) / 2.0),
            Halved::Flight => flight.outstanding as f64 / 2.0,
        }
    }
}

impl CongestionControl for Reno {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        tell_opening(cx, self);
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, progress: &Progress) {
        let rest = self.start_slowly(progress.growth);
        if rest > 0.0 {
            self.cwnd += rest / self.cwnd;
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        let half = self.half(*flight);
        let ssthresh = libm::floor(half).max(SMALLEST_SSTHRESH);
        self.reduce(cx, half, if self.halved == Halved::Flight { ssthresh } else { half });
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        let half = self.half(*flight);
        self.reduce(cx, half, 1.0);
    }

    fn deflate(&mut self, cx: &mut Cx<'_>, segments: f64) {
        self.cwnd -= segments;
        cx.trace.record(cx.now, TraceEvent::Window { cwnd: self.cwnd, ssthresh: self.ssthresh });
        self.cwnd = self.cwnd.max(1.0);
    }

    fn undo(&mut self, window: &Window) {
        self.cwnd = self.cwnd.max(window.cwnd);
        self.ssthresh = self.ssthresh.max(window.ssthresh);
    }

    fn on_idle(&mut self, window: &Window) {
        self.set(window.cwnd, window.ssthresh);
    }
}
