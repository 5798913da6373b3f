//! A congestion control from outside earlybird: AIMD(a, b) of Yang and Lam, "General AIMD Congestion Control", ICNP 2000.
//!
//! This file is all of it: the window, the parameters that make it, and its table in scenarios. `docs/own-control.md` goes
//! through it step by step.

use earlybird_tcp::{CongestionControl, Control, ControlFactory, ControlSetup, Cx, Flight, Progress, Window};
use earlybird_transport::{ControlTable, Profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// AIMD's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Aimd {
    /// The segments that a round trip adds to the window (default 0.2, which with `decrease = 0.125` is TCP's share).
    #[schemars(range(min = 0.01, max = 100))]
    pub increase: f64,
    /// The share of the window that a loss takes (default 0.125).
    #[schemars(range(min = 0.01, max = 0.99))]
    pub decrease: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self { increase: 0.2, decrease: 0.125 }
    }
}

/// Makes the window of a connection.
#[derive(Debug)]
struct AimdFactory;

impl ControlFactory for AimdFactory {
    fn name(&self) -> &'static str {
        Aimd::NAME
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        let [increase, decrease, ..] = setup.parameters;
        Box::new(AimdWindow { aimd: Aimd { increase, decrease }, cwnd: 1.0, ssthresh: setup.ssthresh })
    }
}

impl Aimd {
    /// Returns the control with these parameters.
    pub const fn control(&self) -> Control {
        Control::custom_with(&AimdFactory, [self.increase, self.decrease])
    }
}

/// The name in scenarios: `transport = "aimd-example"`, with its parameters in `endpoint.aimd-example`.
impl ControlTable for Aimd {
    const NAME: &'static str = "aimd-example";
    const TITLE: &'static str = "Additive increase and multiplicative decrease by any two numbers";
    const SOURCE: &'static str = "Yang and Lam, ICNP 2000";

    fn control(&self, _profile: Profile) -> Control {
        Self::control(self)
    }
}

/// The window of one connection, in segments.
#[derive(Debug)]
struct AimdWindow {
    aimd: Aimd,
    cwnd: f64,
    ssthresh: f64,
}

/// RFC 5681 equation 4.
const SMALLEST_SSTHRESH: f64 = 2.0;

impl AimdWindow {
    /// Returns what a loss leaves of what was in flight, or of the window where that is less.
    ///
    /// While a hole stays open, segments that have arrived behind it pile up and are outstanding: 0.875 of ten windows is no
    /// reduction at all.
    fn left(&self, flight: &Flight) -> f64 {
        ((1.0 - self.aimd.decrease) * self.cwnd.min(flight.outstanding as f64)).max(SMALLEST_SSTHRESH)
    }
}

impl CongestionControl for AimdWindow {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_established(&mut self, _cx: &mut Cx<'_>, initial_window: f64) {
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, progress: &Progress) {
        if !progress.is_cwnd_used(self.cwnd) {
            return;
        }
        // An ACK of many – a hole is filled – does not carry the window beyond the threshold (RFC 3465 §2.1).
        let of_slow_start = progress.growth.min((self.ssthresh - self.cwnd).max(0.0));
        self.cwnd += of_slow_start;
        self.cwnd += self.aimd.increase * (progress.growth - of_slow_start) / self.cwnd;
    }

    fn on_loss(&mut self, _cx: &mut Cx<'_>, flight: &Flight) {
        self.ssthresh = self.left(flight);
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_>, flight: &Flight) {
        // A second timeout of the same segment holds the threshold (RFC 5681 §3.1).
        if self.cwnd > 1.0 {
            self.ssthresh = self.left(flight);
        }
        self.cwnd = 1.0;
    }

    fn undo(&mut self, window: &Window) {
        self.cwnd = self.cwnd.max(window.cwnd);
        self.ssthresh = self.ssthresh.max(window.ssthresh);
    }

    fn on_idle(&mut self, window: &Window) {
        (self.cwnd, self.ssthresh) = (window.cwnd, window.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_tcp::Config;
    use earlybird_units::{Instant, SeedTree};

    fn window(aimd: &Aimd) -> Box<dyn CongestionControl> {
        let config = Config::rfc().with_control(aimd.control());
        let mut window = config.control.factory().build(&config.control_setup(SeedTree::new(1)));
        window.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 10.0);
        window
    }

    #[test]
    fn a_loss_takes_its_share_and_a_round_trip_adds_the_increase() {
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let mut window = window(&Aimd { increase: 0.5, decrease: 0.25 });
        window.on_loss(cx, &Flight::new(8));
        assert_eq!((window.cwnd(), window.ssthresh()), (6.0, 6.0));
        window.on_progress(cx, &Progress::new(6, 6, None));
        assert_eq!((window.cwnd(), window.ssthresh()), (6.5, 6.0));
    }

    #[test]
    fn what_piled_up_behind_a_hole_made_a_reduction_that_was_none() {
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let mut window = window(&Aimd { increase: 0.5, decrease: 0.25 });
        window.on_loss(cx, &Flight::new(100));
        assert_eq!((window.cwnd(), window.ssthresh()), (7.5, 7.5));
        for _ in 0..2 {
            window.on_timeout(cx, &Flight::new(100));
            assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 5.625));
        }
        window.on_progress(cx, &Progress::new(100, 100, None));
        assert!(window.cwnd() < 15.0, "the rest of an ACK of many is not slow start's: {}", window.cwnd());
    }

    #[test]
    fn a_window_that_is_not_used_up_stays_as_it_is() {
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let mut window = window(&Aimd::default());
        window.on_progress(cx, &Progress::new(1, 3, None));
        assert_eq!((window.cwnd(), window.ssthresh()), (10.0, f64::INFINITY));
        window.on_progress(cx, &Progress::new(1, 10, None));
        assert_eq!((window.cwnd(), window.ssthresh()), (11.0, f64::INFINITY), "slow start");
    }
}
