//! The door through which every congestion control comes, those of this crate and those of others.

use super::CongestionControl;
use super::reno::{Halved, Reno};
use crate::policy::control::registry::CUSTOM_PARAMETERS;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;
use earlybird_units::SeedTree;

/// A congestion control's parameters, which know how to make it for a connection.
///
/// `docs/own-control.md` brings one from outside this crate, step by step.
pub trait ControlFactory: Any + Debug + Send + Sync {
    /// Returns its name, for messages.
    fn name(&self) -> &'static str;
    /// Makes the control of one connection, with a window of one segment for the handshake.
    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl>;
    /// Says what it asks of the policies beside it, in a connection that follows these rules.
    fn needs(&self, _rules: RecoveryRules) -> Needs {
        Needs::default()
    }
}

/// What a congestion control is made from, beside parameters of its own;
/// [`Config::control_setup`](crate::Config::control_setup) gives it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ControlSetup {
    /// Largest payload of a segment in bytes, before the peer says what it takes.
    pub mss: u16,
    /// Largest usable window in segments.
    pub largest_window: u32,
    /// Window after the handshake in segments.
    pub initial_window: u32,
    /// The first slow-start threshold in segments; infinite if there is none.
    pub ssthresh: f64,
    /// What a loss halves.
    pub halved: Halved,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Where its draws come from: `seeds.child("name").random()`.
    pub seeds: SeedTree,
    /// The parameters of a control from outside this crate, see [`Control::custom_with`](crate::Control::custom_with).
    pub parameters: [f64; CUSTOM_PARAMETERS],
}

impl ControlSetup {
    pub(crate) fn reno(&self) -> Reno {
        Reno::new(self.largest_window, self.ssthresh, self.halved)
    }
}

/// What a congestion control asks of the policies beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The recovery that comes with it unless another is chosen; `None`: any that the profile has.
    pub recovery: Option<Recovery>,
    /// No other recovery will do.
    pub insists: bool,
    /// Segments leave at a rate of its own, so that a retransmission may have to wait.
    pub has_rate: bool,
    /// It has a window of its own while losses are repaired, beside which no other reduction has a place.
    pub shapes_recovery: bool,
    /// How it answers marks.
    pub marks: MarkAnswer,
}

/// How a congestion control answers the marks of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkAnswer {
    /// As a loss (RFC 3168).
    #[default]
    AsLoss,
    /// By their share, which only accurate feedback tells (RFC 9331).
    ByShare,
    /// Not at all.
    None,
}
