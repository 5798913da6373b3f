//! The schemes of recovery, and their construction.

use super::dupack_common::RecoveryRules;
use super::newreno::{NewReno, NewRenoFlags};
use super::rack::{Rack, RackConfig};
use super::rfc6675::Rfc6675;
use super::sack1::Sack1;
use super::scheme::Scheme;
use super::{reno, tahoe, vegas};
use alloc::boxed::Box;

/// The scheme of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// ns-2's Sack1.
    Sack1,
    /// RFC 6675.
    Rfc6675,
    /// RACK-TLP, RFC 8985; `NewReno` if the peer does not support SACK.
    Rack,
    /// A fast retransmit, then slow start.
    Tahoe,
    /// Fast recovery until the first ACK of new data.
    Reno {
        /// Whether three duplicates always start a recovery, even within a window that was already reduced (ns-2's `bugFix_ 0`).
        second_fast_retransmit: bool,
    },
    /// Fast recovery until all data sent before it is acknowledged.
    NewReno(NewRenoFlags),
    /// The fine-grained timer of Vegas; works with that control only.
    Vegas,
}

/// Settings that the schemes are built from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoverySetup {
    /// Whether the first two duplicate ACKs send new data.
    pub(crate) limited_transmit: bool,
    /// Whether no new data is sent outside recovery while a hole is known.
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
            // Boxed: its state is large, and the enum would grow for every other scheme.
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

    /// Returns whether it works with one control only.
    pub(crate) const fn belongs_to_control(self) -> bool {
        matches!(self, Self::Tahoe | Self::Vegas)
    }

    /// Returns whether it uses SACK; senders without do not offer SACK.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Sack1 | Self::Rfc6675 | Self::Rack)
    }

    /// Returns whether a retransmission may be deferred because the scheme tracks lost segments and the flight. With pacing the next
    /// ACK often arrives before the retransmission is sent; schemes that retransmit at once lose it then.
    pub(crate) const fn can_defer(self) -> bool {
        matches!(self, Self::Rfc6675 | Self::Rack)
    }

    /// Returns the scheme for a peer without SACK.
    pub(crate) fn without_sack() -> Self {
        Self::NewReno(NewRenoFlags::default())
    }

    /// Returns whether a loss halves the flight; else it halves the window.
    pub(crate) fn halves_flight(self, rules: RecoveryRules) -> bool {
        match self {
            // ns-2 halves the window (`slowdown`), whether it is used or not.
            Self::Sack1 | Self::Vegas => false,
            Self::Rfc6675 | Self::Rack => true,
            Self::Tahoe | Self::Reno { .. } | Self::NewReno(_) => rules == RecoveryRules::Rfc,
        }
    }
}
