//! The schemes of recovery, and how each is built.

use super::dupack_common::RecoveryRules;
use super::newreno::{NewReno, NewRenoFlags};
use super::rack::{Rack, RackConfig};
use super::rfc6675::Rfc6675;
use super::sack1::Sack1;
use super::scheme::Scheme;
use super::{reno, tahoe, vegas};
use alloc::boxed::Box;

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// ns-2's Sack1.
    Sack1,
    /// RFC 6675.
    Rfc6675,
    /// RACK-TLP, RFC 8985; `NewReno` if the peer knows no SACK.
    Rack,
    /// A fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery, to the first ACK that goes forward.
    Reno {
        /// Any run of three duplicates begins a recovery, even within a window that was already reduced (ns-2's
        /// `bugFix_ 0`).
        second_fast_retransmit: bool,
    },
    /// Fast recovery, until everything sent before it is acknowledged.
    NewReno(NewRenoFlags),
    /// Vegas' fine timer; goes with that control only.
    Vegas,
}

/// What a recovery is made from, beside parameters of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoverySetup {
    /// Send new data on the first two duplicate ACKs.
    pub(crate) limited_transmit: bool,
    /// No new data outside recovery while a hole is known.
    pub(crate) hold_new_data: bool,
    /// Largest usable window in segments.
    pub(crate) largest_window: u32,
    /// Whose rules the schemes without SACK follow.
    pub(crate) rules: RecoveryRules,
    /// Parameters of RACK-TLP.
    pub(crate) rack: RackConfig,
}

impl Recovery {
    pub(crate) fn build(self, setup: &RecoverySetup) -> Scheme {
        let limited_transmit = setup.limited_transmit;
        match self {
            Self::Sack1 => Scheme::Sack1(Sack1::new(limited_transmit, setup.hold_new_data)),
            Self::Rack => Scheme::Rack(Box::new(Rack::new(setup.rack, limited_transmit))),
            Self::Rfc6675 => Scheme::Rfc6675(Rfc6675::new(limited_transmit)),
            Self::Tahoe => Scheme::other(tahoe::Tahoe::new(limited_transmit)),
            Self::Reno { second_fast_retransmit } => {
                Scheme::other(reno::Reno::new(setup.rules, limited_transmit, second_fast_retransmit))
            }
            Self::Vegas => Scheme::other(vegas::Vegas::new(setup.largest_window)),
            Self::NewReno(flags) => Scheme::other(NewReno::new(setup.rules, flags, limited_transmit)),
        }
    }

    /// Returns whether it belongs to a control, and works with that alone.
    pub(crate) const fn belongs_to_control(self) -> bool {
        matches!(self, Self::Tahoe | Self::Vegas)
    }

    /// Returns whether it reads SACK: senders without get none, their peers are not asked for it.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack1 | Self::Rfc6675 | Self::Rack)
    }

    /// Returns whether it knows which segments are lost and which in the network, so that a retransmission may wait. Where
    /// segments leave at a rate, an ACK often comes before the retransmission that an earlier one asked for: schemes made to
    /// send at once forget it then.
    pub(crate) const fn remembers_waiting(self) -> bool {
        matches!(self, Self::Rfc6675 | Self::Rack)
    }

    /// Returns the scheme for a peer without SACK.
    pub(crate) fn without_sack() -> Self {
        Self::NewReno(NewRenoFlags::default())
    }

    /// Returns whether a loss halves the flight; else it halves the window.
    pub(crate) fn halves_flight(self, rules: RecoveryRules) -> bool {
        match self {
            Self::Sack1 | Self::Vegas => false,
            Self::Rfc6675 | Self::Rack => true,
            Self::Tahoe | Self::Reno { .. } | Self::NewReno(_) => rules == RecoveryRules::Rfc,
        }
    }
}
