//! How old the packets around the first hole are.

use earlybird_units::Duration;

/// How long ago the packets around the hole were last sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Age {
    /// The first missing packet.
    pub(crate) missing: Duration,
    /// The last packet acknowledged in order.
    pub(crate) last_in_order: Duration,
}
