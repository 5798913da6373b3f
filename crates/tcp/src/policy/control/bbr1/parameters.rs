//! Parameters of BBR version 1.

use super::Bbr1;
use crate::policy::control::CongestionControl;
use crate::policy::control::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
use crate::policy::recovery::dupack_common::RecoveryRules;
use alloc::boxed::Box;
use earlybird_units::Duration;

/// Parameters of BBR version 1. In Linux they are constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr1Parameters {
    /// The window of the minimal RTT, and the time between RTT probes (`bbr_min_rtt_win_sec`).
    pub min_rtt_window: Duration,
    /// Duration of an RTT probe (`bbr_probe_rtt_mode_ms`).
    pub probe_rtt_duration: Duration,
    /// Whether it looks for a policer in losses (`bbr_lt_bw_sampling`).
    pub detects_policers: bool,
}

impl Bbr1Parameters {
    /// Linux's values: 10 s, 200 ms, true.
    pub const LINUX: Self = Self {
        min_rtt_window: Duration::from_secs(10),
        probe_rtt_duration: Duration::from_millis(200),
        detects_policers: true,
    };
}

impl ControlFactory for Bbr1Parameters {
    fn name(&self) -> &'static str {
        "bbr1"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Bbr1::new(*self, setup.mss, setup.seeds.child("bbr1").random()))
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        Needs { has_rate: true, shapes_recovery: true, marks: MarkAnswer::None, ..Needs::default() }
    }
}
