//! When the reader steps over what is missing.

use earlybird_units::Duration;

/// What the receiver does about a hole in front of data that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Waits until it is filled, for ever: ordinary TCP.
    #[default]
    InOrder,
    /// Steps over it when the application reads and nothing is there in order (TCP-RTM; MTCP paper, rules R2 and R3).
    SkipWhenWaiting,
    /// Steps over it when the first segment behind it has waited this long, reader or not (TCP-RC).
    SkipAtDeadline(Duration),
    /// Hands over what comes as it comes, and each frame once: a hole stays, and is filled when its repair comes (TCP Hollywood:
    /// `enqueue_hollywood_input_segment`). It needs frames; a stream without them is read in order.
    Unordered,
}

impl Delivery {
    /// Returns whether anything may be stepped over.
    pub const fn skips(self) -> bool {
        matches!(self, Self::SkipWhenWaiting | Self::SkipAtDeadline(_))
    }
}
