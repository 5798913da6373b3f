//! How much a receiver holds for an application that does not read.

/// Size of the receive buffer: what was not read and what waits behind holes are never more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// As much is offered as the sender's largest window, [`Config::window`](crate::Config::window) full segments: one
    /// setting for both directions, as simulations have it.
    #[default]
    LikeWindow,
    /// So many bytes. A peer whose segments are longer, and which must not cut them as one of frames must not, gets none through.
    Fixed(u64),
}

/// The largest window that a header can tell without scaling.
pub(crate) const LARGEST_UNSCALED: u64 = u16::MAX as u64;
/// Part of a buffer that is not offered where windows are scaled: what is told is then a multiple of the scale, which may
/// be more than what is offered, and yet has to be taken (RFC 7323 §2.4).
const KEPT_BACK: u64 = 32;

/// The bytes of a buffer, and those of them that are never offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferSize {
    pub(crate) capacity: u64,
    pub(crate) kept_back: u64,
}

impl BufferSize {
    /// Gives the buffer that has so many bytes in all.
    pub(crate) const fn holding(capacity: u64) -> Self {
        let kept_back = if capacity > LARGEST_UNSCALED { capacity / KEPT_BACK } else { 0 };
        Self { capacity, kept_back }
    }

    /// Gives the buffer of which so many bytes can be offered.
    pub(crate) const fn offering(bytes: u64) -> Self {
        let kept_back = if bytes > LARGEST_UNSCALED { bytes / KEPT_BACK } else { 0 };
        Self { capacity: bytes + kept_back, kept_back }
    }

    /// Gives the largest window that is ever offered.
    pub(crate) const fn offered(self) -> u64 {
        self.capacity - self.kept_back
    }
}

impl ReceiveBuffer {
    /// Gives the size of the buffer beside a largest window of so many bytes.
    pub(crate) const fn size(self, window: u64) -> BufferSize {
        match self {
            Self::LikeWindow => BufferSize::offering(window),
            Self::Fixed(bytes) => BufferSize::holding(bytes),
        }
    }
}
