//! The age of the packets around the first hole.

use earlybird_units::Duration;

/// The time since the packets around the first hole were last sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Age {
    /// The first missing packet.
    pub(crate) missing: Duration,
    /// The last packet acknowledged in order.
    pub(crate) last_in_order: Duration,
}
