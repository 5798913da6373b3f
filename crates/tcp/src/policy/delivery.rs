//! Rules for the reader to skip a hole.

use earlybird_units::Duration;

/// The treatment of a hole in front of received data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Waits for ever until it is filled: ordinary TCP.
    #[default]
    InOrder,
    /// Skips it when the application reads and no data is in order (TCP-RTM; MTCP paper, rules R2 and R3).
    SkipWhenWaiting,
    /// Skips it when the first segment behind it has waited this long, whether or not the application reads (TCP-RC).
    SkipAtDeadline(Duration),
    /// Delivers each frame once, in order of arrival; a hole stays until its retransmission arrives (TCP Hollywood:
    /// `enqueue_hollywood_input_segment`). Needs framing; a stream without frames is read in order.
    Unordered,
}

impl Delivery {
    /// Returns whether holes may be skipped.
    pub const fn skips(self) -> bool {
        matches!(self, Self::SkipWhenWaiting | Self::SkipAtDeadline(_))
    }
}
