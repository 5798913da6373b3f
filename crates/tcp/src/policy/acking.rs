//! When the receiver acknowledges.

use earlybird_units::{Duration, Instant};

/// When to acknowledge data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acking {
    /// Every segment at once.
    #[default]
    EverySegment,
    /// Every second segment at once, a single one after this delay at the latest (RFC 1122 §4.2.3.2).
    Delayed(Duration),
}

/// Whether an ACK is owed, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckDue {
    #[default]
    Nothing,
    Now,
    By(Instant),
}

impl Acking {
    /// Decides after an arrival. `is_plain` means: in order, no hole filled or left, no FIN.
    ///
    /// What is not plain is acknowledged at once (RFC 5681 §4.2).
    pub(crate) fn on_data(self, now: Instant, due: AckDue, is_plain: bool) -> AckDue {
        match (self, due) {
            (Self::Delayed(delay), AckDue::Nothing) if is_plain => AckDue::By(now + delay),
            _ => AckDue::Now,
        }
    }
}
