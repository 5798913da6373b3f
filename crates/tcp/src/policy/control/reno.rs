//! Slow start, congestion avoidance and halving (RFC 5681; ns-2.35 `opencwnd` and `slowdown`).

use super::factory::{ControlFactory, ControlSetup, Halved};
use super::{CongestionControl, Flight, Progress, Window, trace_syn_ack};
use crate::trace::{Cx, TraceEvent};
use alloc::boxed::Box;

/// The factory of Reno, which has no parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenoFactory;

impl ControlFactory for RenoFactory {
    fn name(&self) -> &'static str {
        "reno"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Reno::of(setup))
    }
}

/// Additive increase and multiplicative decrease.
#[derive(Clone, Debug)]
pub(crate) struct Reno {
    cwnd: f64,
    ssthresh: f64,
    largest: f64,
    halved: Halved,
    /// Segments acknowledged since the last growth of an integer window (`snd_cwnd_cnt`).
    cwnd_cnt: f64,
}

/// The smallest slow-start threshold (RFC 5681 equation 4).
pub(crate) const SMALLEST_SSTHRESH: f64 = 2.0;

/// Returns the part of `growth` that belongs to slow start: a stretch ACK does not raise the window beyond the threshold (Linux's
/// `tcp_slow_start`, which leaves the rest to congestion avoidance). At least one segment counts undivided.
pub(crate) fn slow_start_share(growth: f64, cwnd: f64, ssthresh: f64) -> f64 {
    if cwnd < ssthresh { growth.min((ssthresh - cwnd).max(1.0)) } else { 0.0 }
}

impl Reno {
    /// Returns the control of a connection with these settings, for the handshake.
    pub(crate) fn of(setup: &ControlSetup) -> Self {
        Self::new(setup.largest_window, setup.ssthresh, setup.halved)
    }

    /// Returns a control with a window of one segment, for the handshake.
    ///
    /// `largest` is the largest usable window in segments.
    pub(crate) fn new(largest: u32, ssthresh: f64, halved: Halved) -> Self {
        Self { cwnd: 1.0, ssthresh, largest: f64::from(largest), halved, cwnd_cnt: 0.0 }
    }

    /// Returns the usable window as a real number.
    pub(crate) fn usable(&self) -> f64 {
        self.cwnd.min(self.largest)
    }

    /// Returns whether the window is below the slow-start threshold.
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

    /// Grows by up to `growth` segments in slow start, and returns the rest for congestion avoidance.
    pub(crate) fn slow_start(&mut self, growth: f64) -> f64 {
        let grown = slow_start_share(growth, self.cwnd, self.ssthresh);
        self.cwnd += grown;
        growth - grown
    }

    /// Grows by one segment per acknowledged window; an integer window as in `tcp_cong_avoid_ai`.
    fn congestion_avoidance(&mut self, growth: f64) {
        if self.halved != Halved::Segments {
            // RFC 5681 equation 3, in segments.
            self.cwnd += growth / self.cwnd;
            return;
        }
        if self.cwnd_cnt >= self.cwnd {
            // `tcp_cong_avoid_ai`: the count belongs to a larger window than the present one.
            self.cwnd_cnt = 0.0;
            self.cwnd += 1.0;
        }
        self.cwnd_cnt += growth;
        let windows = libm::floor(self.cwnd_cnt / self.cwnd);
        self.cwnd_cnt -= windows * self.cwnd;
        self.cwnd += windows;
    }

    /// Sets the window, and the threshold to its integer part but at least 2.
    pub(crate) fn reduce_to(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.ssthresh = libm::floor(cwnd).max(SMALLEST_SSTHRESH);
    }

    /// Sets the threshold to `half`, then the window, then the threshold to at least 2: ns-2 records these steps.
    fn reduce(&mut self, cx: &mut Cx<'_>, half: f64, cwnd: f64) {
        let ssthresh = libm::floor(half);
        if ssthresh < SMALLEST_SSTHRESH {
            for cwnd in [self.cwnd, cwnd] {
                cx.trace.record(cx.now, TraceEvent::Window { cwnd, ssthresh });
            }
        }
        self.set(cwnd, ssthresh.max(SMALLEST_SSTHRESH));
        self.cwnd_cnt = 0.0;
    }

    /// Returns half of the quantity that a loss halves.
    pub(crate) fn half(&self, flight: Flight) -> f64 {
        match self.halved {
            Halved::Window => self.usable() / 2.0,
            Halved::WholeWindow | Halved::Segments => libm::floor(libm::floor(self.usable()) / 2.0),
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
        trace_syn_ack(cx, self);
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, progress: &Progress) {
        let rest = self.slow_start(progress.growth);
        if rest > 0.0 {
            self.congestion_avoidance(rest);
        }
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        let half = self.half(*flight);
        let ssthresh = libm::floor(half).max(SMALLEST_SSTHRESH);
        let floors_cwnd = matches!(self.halved, Halved::Flight | Halved::Segments);
        // RFC 5681 sets cwnd to ssthresh; ns-2 keeps the fraction (`slowdown`, CLOSE_CWND_HALF).
        self.reduce(cx, half, if floors_cwnd { ssthresh } else { half });
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
        // Never below the present window, which may have grown since; RFC 4015 §3.1, step 9, sets it in any case.
        self.cwnd = self.cwnd.max(window.cwnd);
        self.ssthresh = self.ssthresh.max(window.ssthresh);
    }

    fn on_idle(&mut self, window: &Window) {
        self.set(window.cwnd, window.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn windows(halved: Halved, acks: usize) -> Vec<f64> {
        let mut reno = Reno::new(64, 2.0, halved);
        reno.set(3.0, 2.0);
        let mut cx = Cx { now: earlybird_units::Instant::ZERO, trace: &mut () };
        let mut grow = |_| {
            reno.on_progress(&mut cx, &Progress::new(1, 3, None));
            reno.cwnd()
        };
        (0..acks).map(&mut grow).collect()
    }

    /// Linux, `tcp_cong_avoid_ai`: a window of three is one of four when three are acknowledged; divided, it is not yet (3.94).
    #[test]
    fn whole_windows_grow_with_the_last_ack_of_a_window() {
        assert_eq!(windows(Halved::Segments, 7), [3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 5.0]);
        assert!(windows(Halved::Flight, 3)[2] < 4.0);
    }

    /// `tcp_cong_avoid_ai`: "if credits accumulated at a higher w, apply them gently now".
    #[test]
    fn what_was_counted_towards_a_larger_window_is_worth_one_segment() {
        let mut reno = Reno::new(64, 2.0, Halved::Segments);
        let mut cx = Cx { now: earlybird_units::Instant::ZERO, trace: &mut () };
        reno.set(20.0, 2.0);
        reno.on_progress(&mut cx, &Progress::new(19, 20, None));
        reno.set(6.0, 2.0);
        reno.on_progress(&mut cx, &Progress::new(1, 6, None));
        assert_eq!((reno.cwnd(), reno.cwnd_cnt), (7.0, 1.0));
    }

    /// Of seven segments three are in flight: `tcp_reno_ssthresh` halves seven, equation 4 of RFC 5681 three. What was counted is
    /// forgotten (`tcp_init_cwnd_reduction`).
    #[test]
    fn a_loss_halves_a_window_that_is_not_used_as_well() {
        for (halved, ssthresh) in [(Halved::Segments, 3.0), (Halved::Flight, 2.0)] {
            let mut reno = Reno::new(64, 2.0, halved);
            let mut cx = Cx { now: earlybird_units::Instant::ZERO, trace: &mut () };
            reno.set(7.0, 2.0);
            reno.on_progress(&mut cx, &Progress::new(1, 3, None));
            reno.on_loss(&mut cx, &Flight::new(3));
            assert_eq!((reno.cwnd(), reno.ssthresh(), reno.cwnd_cnt), (ssthresh, ssthresh, 0.0));
        }
    }
}
