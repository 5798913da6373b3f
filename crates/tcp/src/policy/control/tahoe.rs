//! Tahoe: the window falls to one segment after every loss (Jacobson 1988; ns-2.35 `Agent/TCP`).

use super::factory::{ControlFactory, ControlSetup, Needs};
use super::reno::Reno;
use super::{CongestionControl, Flight, Progress, Window};
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::Cx;
use alloc::boxed::Box;

/// The factory of Tahoe, which has no parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TahoeRules;

impl ControlFactory for TahoeRules {
    fn name(&self) -> &'static str {
        "tahoe"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Tahoe { window: Reno::of(setup) })
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        // Fast recovery needs a window that does not fall to one segment.
        Needs { recovery: Some(Recovery::Tahoe), insists: true, ..Needs::default() }
    }
}

/// The window of Reno without fast recovery.
#[derive(Clone, Debug)]
struct Tahoe {
    window: Reno,
}

impl CongestionControl for Tahoe {
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        self.window.on_established(cx, initial_window);
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        self.window.on_progress(cx, progress);
    }

    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.window.on_timeout(cx, flight);
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.window.on_timeout(cx, flight);
    }

    fn on_idle(&mut self, window: &Window) {
        self.window.on_idle(window);
    }
}
