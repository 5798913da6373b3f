//! The interface by which a connection builds its congestion control, one of this crate or from outside.

use super::CongestionControl;
use crate::policy::control::registry::CUSTOM_PARAMETERS;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;
use earlybird_units::SeedTree;

/// The parameters of a congestion control, which build it for a connection.
///
/// `docs/own-control.md` shows how to add one from outside this crate.
pub trait ControlFactory: Any + Debug + Send + Sync {
    /// Returns its name, for messages.
    fn name(&self) -> &'static str;
    /// Builds the control of one connection, with a window of one segment for the handshake.
    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl>;
    /// Returns its requirements for other policies, in a connection that follows these rules.
    fn needs(&self, _rules: RecoveryRules) -> Needs {
        Needs::default()
    }
}

/// The settings of a connection that a congestion control is built from; see
/// [`Config::control_setup`](crate::Config::control_setup).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ControlSetup {
    /// Largest payload of a segment in bytes, before the MSS of the peer is known.
    pub mss: u16,
    /// Largest usable window in segments.
    pub largest_window: u32,
    /// Window after the handshake in segments.
    pub initial_window: u32,
    /// The initial slow-start threshold in segments; infinite if unbounded.
    pub ssthresh: f64,
    /// The quantity that a loss halves.
    pub halved: Halved,
    /// The scheme of recovery.
    pub recovery: Recovery,
    /// The source of its random numbers: `seeds.child("name").random()`.
    pub seeds: SeedTree,
    /// The parameters of a control from outside this crate, see [`Control::custom_with`](crate::Control::custom_with).
    pub parameters: [f64; CUSTOM_PARAMETERS],
}

/// The quantity that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halved {
    /// The usable window min(cwnd, wnd), as in ns-2.
    Window,
    /// The usable window in whole segments, as with ns-2's `precisionReduce_ 0`.
    WholeWindow,
    /// The segments in flight (RFC 5681 equation 4).
    Flight,
    /// The whole segments of the usable window, used or not (Linux's `tcp_reno_ssthresh`).
    Segments,
}

/// Requirements of a congestion control for other policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The default recovery with this control; `None`: that of the profile.
    pub recovery: Option<Recovery>,
    /// Whether no other recovery is allowed.
    pub insists: bool,
    /// Whether it sets a pacing rate, so that retransmissions may be deferred.
    pub has_rate: bool,
    /// Whether it sets the window during recovery, so that no other reduction applies.
    pub shapes_recovery: bool,
    /// Its response to ECN marks.
    pub marks: MarkAnswer,
}

/// The response of a congestion control to ECN marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkAnswer {
    /// The same as to a loss (RFC 3168).
    #[default]
    AsLoss,
    /// In proportion to the share of marks, which needs accurate feedback (RFC 9331).
    ByShare,
    /// Ignores ECN marks.
    None,
}
