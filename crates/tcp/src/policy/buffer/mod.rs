//! The size of the receive buffer.

pub(crate) mod tuning;

use self::tuning::Autotuning;

/// Size of the receive buffer, which limits unread data and data behind holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// Offers the largest congestion window, [`WindowConfig::max`](crate::WindowConfig::max) full segments: one setting for both
    /// directions, as in simulations. With scaled windows the buffer is larger by 1/32, for the rounding of the advertised window.
    #[default]
    LikeWindow,
    /// A number of bytes. A peer with longer segments that cannot divide them, as with framing, is blocked.
    Fixed(u64),
    /// Autotuned: grows with the bytes that the application reads per RTT.
    Tuned {
        /// Bytes at first.
        initial: u64,
        /// Bytes at most.
        largest: u64,
    },
}

/// The largest window that a header can represent without scaling.
pub(crate) const LARGEST_UNSCALED: u64 = u16::MAX as u64;
/// The reciprocal of the share of a buffer that is not offered if windows are scaled: the advertised window is a multiple of the
/// scale, which may exceed the offer and yet must be accepted (RFC 7323 §2.4).
const RESERVED_SHARE: u64 = 32;

/// The capacity of a buffer, and the part of it that is never offered, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferSize {
    pub(crate) capacity: u64,
    pub(crate) reserved: u64,
}

impl BufferSize {
    /// Returns the size of a buffer of `capacity` bytes that may grow to `largest`.
    pub(crate) const fn holding(capacity: u64, largest: u64) -> Self {
        // The scale depends on the largest size: it is negotiated once, on the SYN.
        let reserved = if largest > LARGEST_UNSCALED { capacity / RESERVED_SHARE } else { 0 };
        Self { capacity, reserved }
    }

    /// Returns the size of a buffer that offers `bytes`.
    const fn offering(bytes: u64) -> Self {
        let reserved = if bytes > LARGEST_UNSCALED { bytes / RESERVED_SHARE } else { 0 };
        Self { capacity: bytes + reserved, reserved }
    }

    /// Returns the largest window that is offered.
    pub(crate) const fn offered(self) -> u64 {
        self.capacity - self.reserved
    }
}

impl ReceiveBuffer {
    /// The defaults of Linux 6.18 (`tcp_rmem`: 128 kB, of which half is offered, and 32 MB).
    pub const LINUX: Self = Self::Tuned { initial: 65_536, largest: 33_554_432 };

    /// Returns the initial and the largest size, for a largest congestion window of `window` bytes.
    pub(crate) fn sizes(self, window: u64) -> [BufferSize; 2] {
        match self {
            // Simulated receivers never limit the sender below its own largest window.
            Self::LikeWindow => [BufferSize::offering(window); 2],
            Self::Fixed(bytes) => [BufferSize::holding(bytes, bytes); 2],
            Self::Tuned { initial, largest } => {
                [initial.min(largest), largest].map(|capacity| BufferSize::holding(capacity, largest))
            }
        }
    }

    /// Returns the state of autotuning, if it is on.
    pub(crate) fn tuning(self, mss: u16) -> Option<Autotuning> {
        match self {
            Self::LikeWindow | Self::Fixed(_) => None,
            Self::Tuned { largest, .. } => Some(Autotuning::new(largest, u64::from(mss))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7323 §2.4: what a scaled field tells may be more than what is offered, by less than a step.
    #[test]
    fn a_32nd_is_kept_back_where_windows_are_scaled_and_nothing_where_they_are_not() {
        let size = |capacity, reserved| BufferSize { capacity, reserved };
        assert_eq!(ReceiveBuffer::LikeWindow.sizes(65_535), [size(65_535, 0); 2]);
        assert_eq!(ReceiveBuffer::LikeWindow.sizes(65_536), [size(67_584, 2048); 2]);
        assert_eq!(ReceiveBuffer::Fixed(65_535).sizes(1), [size(65_535, 0); 2]);
        assert_eq!(ReceiveBuffer::Fixed(65_536).sizes(1), [size(65_536, 2048); 2]);
        let tuned = ReceiveBuffer::Tuned { initial: 6400, largest: 64_000_000 };
        assert_eq!(tuned.sizes(1), [size(6400, 200), size(64_000_000, 2_000_000)]);
    }
}
