//! How much a receiver holds for an application that does not read.

pub(crate) mod tuning;

use self::tuning::Tuning;

/// Size of the receive buffer: what was not read and what waits behind holes are never more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// As much is offered as the sender's largest window, [`WindowConfig::max`](crate::WindowConfig::max) full segments: one
    /// setting for both directions, as simulations have it. Where windows are scaled a 32nd more is held, so that what rounding
    /// tells beyond that has its room.
    #[default]
    LikeWindow,
    /// So many bytes. A peer whose segments are longer, and which must not cut them as one of frames must not, gets none through.
    Fixed(u64),
    /// So many bytes at first, and more once the application has read more in a round trip: what it reads, its sender may
    /// send.
    Tuned {
        /// Bytes at first.
        initial: u64,
        /// Bytes at most.
        largest: u64,
    },
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
    /// Returns the buffer that has so many bytes in all, of which `largest` are offered at some time.
    pub(crate) const fn holding(capacity: u64, largest: u64) -> Self {
        let kept_back = if largest > LARGEST_UNSCALED { capacity / KEPT_BACK } else { 0 };
        Self { capacity, kept_back }
    }

    /// Returns the buffer of which so many bytes can be offered.
    const fn offering(bytes: u64) -> Self {
        let kept_back = if bytes > LARGEST_UNSCALED { bytes / KEPT_BACK } else { 0 };
        Self { capacity: bytes + kept_back, kept_back }
    }

    /// Returns the largest window that is offered.
    pub(crate) const fn offered(self) -> u64 {
        self.capacity - self.kept_back
    }
}

impl ReceiveBuffer {
    /// What Linux 6.18 does by default (`tcp_rmem`: 128 kB, half of which are offered, and 32 MB).
    pub const LINUX: Self = Self::Tuned { initial: 65_536, largest: 33_554_432 };

    /// Returns the size that the buffer has at first, and the one that it may grow to, beside a largest window of so many bytes.
    pub(crate) fn sizes(self, window: u64) -> [BufferSize; 2] {
        match self {
            Self::LikeWindow => [BufferSize::offering(window); 2],
            Self::Fixed(bytes) => [BufferSize::holding(bytes, bytes); 2],
            Self::Tuned { initial, largest } => {
                [initial.min(largest), largest].map(|capacity| BufferSize::holding(capacity, largest))
            }
        }
    }

    /// Makes what decides how the buffer grows, if it does.
    pub(crate) fn tuning(self, mss: u16) -> Option<Tuning> {
        match self {
            Self::LikeWindow | Self::Fixed(_) => None,
            Self::Tuned { largest, .. } => Some(Tuning::new(largest, u64::from(mss))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7323 §2.4: what a scaled field tells may be more than what is offered, by less than a step.
    #[test]
    fn a_32nd_is_kept_back_where_windows_are_scaled_and_nothing_where_they_are_not() {
        let size = |capacity, kept_back| BufferSize { capacity, kept_back };
        assert_eq!(ReceiveBuffer::LikeWindow.sizes(65_535), [size(65_535, 0); 2]);
        assert_eq!(ReceiveBuffer::LikeWindow.sizes(65_536), [size(67_584, 2048); 2]);
        assert_eq!(ReceiveBuffer::Fixed(65_535).sizes(1), [size(65_535, 0); 2]);
        assert_eq!(ReceiveBuffer::Fixed(65_536).sizes(1), [size(65_536, 2048); 2]);
        let tuned = ReceiveBuffer::Tuned { initial: 6400, largest: 64_000_000 };
        assert_eq!(tuned.sizes(1), [size(6400, 200), size(64_000_000, 2_000_000)]);
    }
}
