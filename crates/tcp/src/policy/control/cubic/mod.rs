//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! RFC 9438 with real numbers, and three of Linux's integer forms: v2.1 (kernel 2.6.22, the one in ns-2.35's Linux agent),
//! v2.3 (kernels from 2.6.29 on), and v2.3 as it counts since kernel 4.0.

mod curve;
mod linux;
mod rfc9438;
mod root;

pub use curve::CubicCurve;

use super::CongestionControl;
use super::factory::{ControlFactory, ControlSetup};
use super::reno::Halved;
use super::slow_start::SlowStartRule;
use alloc::boxed::Box;
use linux::LinuxCubic;
use rfc9438::Cubic;

/// Which CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubicVersion {
    /// RFC 9438.
    Rfc9438,
    /// Linux 2.6.22, "TCP CUBIC v2.1".
    V21,
    /// Linux 2.6.38, "TCP CUBIC v2.3".
    V23,
    /// Linux 6.x, which still calls itself v2.3: the window grows by what is acknowledged, however many ACKs tell.
    Linux,
}

/// CUBIC's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubicConfig {
    /// Which CUBIC.
    pub version: CubicVersion,
    /// Give way to new flows: a window that shrinks twice in a row lowers the plateau too (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// How slow start ends.
    pub slow_start: SlowStartRule,
}

impl CubicConfig {
    /// Returns the standard.
    pub const RFC9438: Self =
        Self { version: CubicVersion::Rfc9438, fast_convergence: true, slow_start: SlowStartRule::Standard };
    /// Returns Linux 2.6.22.
    pub const V21: Self = Self { version: CubicVersion::V21, ..Self::RFC9438 };
    /// Returns Linux 2.6.38, which had `HyStart` on.
    pub const V23: Self = Self { version: CubicVersion::V23, slow_start: SlowStartRule::Hystart, ..Self::RFC9438 };
    /// Returns Linux 6.x, with a `HyStart` that leaves slow start less easily.
    pub const LINUX: Self =
        Self { version: CubicVersion::Linux, slow_start: SlowStartRule::HystartLinux, ..Self::RFC9438 };
}

impl ControlFactory for CubicConfig {
    fn name(&self) -> &'static str {
        "cubic"
    }

    /// Where the profile cuts what is in flight, so does CUBIC (RFC 9438 §4.6); else the usable window, as ns-2 does.
    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        let (largest, ssthresh) = (setup.largest_window, setup.ssthresh);
        match self.version {
            CubicVersion::Rfc9438 => Box::new(Cubic::new(*self, largest, ssthresh, setup.halved == Halved::Flight)),
            CubicVersion::V21 => Box::new(LinuxCubic::new(linux::V21, *self, ssthresh)),
            CubicVersion::V23 => Box::new(LinuxCubic::new(linux::V23, *self, ssthresh)),
            CubicVersion::Linux => Box::new(LinuxCubic::new(linux::V6, *self, ssthresh)),
        }
    }
}
