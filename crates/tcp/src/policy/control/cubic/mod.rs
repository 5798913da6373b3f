//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! RFC 9438 with real numbers, and three integer versions of Linux: v2.1 (kernel 2.6.22, as in ns-2.35's Linux agent), v2.3 (kernels
//! since 2.6.29), and v2.3 with the counting of kernels since 4.0.

mod curve;
mod linux;
mod rfc9438;
mod root;

pub use curve::CubicCurve;

use super::CongestionControl;
use super::factory::{ControlFactory, ControlSetup};
use super::factory::Halved;
use super::slow_start::SlowStartRule;
use alloc::boxed::Box;
use linux::LinuxCubic;
use rfc9438::Cubic;

/// The version of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubicVersion {
    /// RFC 9438.
    Rfc9438,
    /// Linux 2.6.22, "TCP CUBIC v2.1".
    V21,
    /// Linux 2.6.38, "TCP CUBIC v2.3".
    V23,
    /// Linux 6.x, also called v2.3: the window grows by acknowledged segments, not by ACKs.
    Linux,
}

/// Parameters of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubicConfig {
    /// The version.
    pub version: CubicVersion,
    /// Whether fast convergence is on: a second reduction in a row lowers `W_max`, for new flows (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// The rule that ends slow start.
    pub slow_start: SlowStartRule,
}

impl CubicConfig {
    /// RFC 9438.
    pub const RFC9438: Self =
        Self { version: CubicVersion::Rfc9438, fast_convergence: true, slow_start: SlowStartRule::Standard };
    /// Linux 2.6.22.
    pub const V21: Self = Self { version: CubicVersion::V21, ..Self::RFC9438 };
    /// Linux 2.6.38, with `HyStart`.
    pub const V23: Self = Self { version: CubicVersion::V23, slow_start: SlowStartRule::Hystart, ..Self::RFC9438 };
    /// Linux 6.x, with a less sensitive `HyStart`.
    pub const LINUX: Self =
        Self { version: CubicVersion::Linux, slow_start: SlowStartRule::HystartLinux, ..Self::RFC9438 };
}

impl ControlFactory for CubicConfig {
    fn name(&self) -> &'static str {
        "cubic"
    }

    /// Builds the control. It reduces the flight (RFC 9438 §4.6), or the usable window, as in ns-2, if the profile does so.
    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        let (largest, ssthresh) = (setup.largest_window, setup.ssthresh);
        match self.version {
            CubicVersion::Rfc9438 => Box::new(Cubic::new(*self, largest, ssthresh, setup.halved == Halved::Flight)),
            // The integer versions ignore the largest window, as Linux clamps it elsewhere (`snd_cwnd_clamp`).
            CubicVersion::V21 => Box::new(LinuxCubic::new(linux::V21, *self, ssthresh)),
            CubicVersion::V23 => Box::new(LinuxCubic::new(linux::V23, *self, ssthresh)),
            CubicVersion::Linux => Box::new(LinuxCubic::new(linux::V6, *self, ssthresh)),
        }
    }
}
