//! The recovery scheme of a sender: methods called for every packet are dispatched statically, others by the trait.

use super::rack::Rack;
use super::rfc6675::Rfc6675;
use super::sack1::Sack1;
use super::{AckInput, LossRecovery, Outcome, SendAllowance, Timing};
use crate::scoreboard::Scoreboard;
use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};
use earlybird_units::{Duration, Instant};

/// A scheme of recovery. Those of the profiles are variants of their own, so that the compiler inlines them into the hot path.
#[derive(Debug)]
#[repr(u8)] // Without it the discriminant is stored in a niche, which costs four instructions per match.
pub(crate) enum Scheme {
    Sack1(Sack1),
    Rfc6675(Rfc6675),
    Rack(Box<Rack>),
    Other(Box<dyn LossRecovery>),
}

/// Calls a method of the variant.
macro_rules! dispatch {
    ($self:ident, $scheme:ident => $call:expr) => {
        match $self {
            Self::Sack1($scheme) => $call,
            Self::Rfc6675($scheme) => $call,
            Self::Rack($scheme) => $call,
            Self::Other($scheme) => $call,
        }
    };
}

/// The hot methods of [`LossRecovery`].
impl Scheme {
    pub(crate) fn other(scheme: impl LossRecovery + 'static) -> Self {
        Self::Other(Box::new(scheme))
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome {
        dispatch!(self, scheme => scheme.on_ack(input, scoreboard))
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        dispatch!(self, scheme => scheme.is_open())
    }

    #[inline]
    pub(crate) fn on_plain_progress(
        &mut self,
        now: Instant,
        before: u64,
        rtt: Option<Duration>,
        scoreboard: &mut Scoreboard,
    ) {
        dispatch!(self, scheme => scheme.on_plain_progress(now, before, rtt, scoreboard));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every segment")]
    pub(crate) fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
        dispatch!(self, scheme => scheme.next(scoreboard, allowance))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every segment")]
    pub(crate) fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        dispatch!(self, scheme => scheme.on_sent(now, number, scoreboard));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for every ACK, mostly without a loss")]
    pub(crate) fn visit_lost(&self, scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        dispatch!(self, scheme => scheme.visit_lost(scoreboard, visit));
    }

    #[inline]
    pub(crate) fn is_recovering(&self) -> bool {
        dispatch!(self, scheme => scheme.is_recovering())
    }
}

/// Methods of RACK-TLP alone, which detects losses by time.
impl Scheme {
    /// Returns whether losses are detected by time. Then [`Scoreboard::delivered`] lists the segments that each ACK delivered, and
    /// DSACKs and timestamp echoes are used.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self, Self::Rack(_))
    }

    /// Returns whether a repeated ACK without SACK blocks, with nothing outstanding, has no effect.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        if let Self::Rack(rack) = self { rack.is_idle() } else { false }
    }

    /// Sets the timer after new data was sent or acknowledged.
    #[inline]
    pub(crate) fn schedule(&mut self, now: Instant, timing: Timing, scoreboard: &Scoreboard) {
        if let Self::Rack(rack) = self {
            rack.schedule(now, timing, scoreboard);
        }
    }

    /// Returns the time at which to call [`Self::on_deadline`], beside the retransmission timer; [`Instant::NEVER`] if there is
    /// none.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        // A match on the variant, not a virtual call: read for every packet.
        if let Self::Rack(rack) = self { rack.deadline() } else { Instant::NEVER }
    }

    /// Processes the deadline: a loss by time, or a probe.
    pub(crate) fn on_deadline(&mut self, now: Instant, scoreboard: &Scoreboard) -> Outcome {
        if let Self::Rack(rack) = self { rack.on_deadline(now, scoreboard) } else { Outcome::Nothing }
    }
}

impl Deref for Scheme {
    type Target = dyn LossRecovery;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Sack1(scheme) => scheme,
            Self::Rfc6675(scheme) => scheme,
            Self::Rack(scheme) => &**scheme,
            Self::Other(scheme) => &**scheme,
        }
    }
}

impl DerefMut for Scheme {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Sack1(scheme) => scheme,
            Self::Rfc6675(scheme) => scheme,
            Self::Rack(scheme) => &mut **scheme,
            Self::Other(scheme) => &mut **scheme,
        }
    }
}
