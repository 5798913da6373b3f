use crate::Duration;
use core::fmt;

/// A data rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Makes a rate from bits per second; `None` for zero.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// Returns the bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Returns the time to send `bytes`, carrying the part below one nanosecond in `remainder` from call to call.
    ///
    /// With the remainder kept per link, a thousand seconds of back-to-back packets lose no time to rounding.
    pub const fn transmission_time(self, bytes: u64, remainder: &mut u64) -> Duration {
        // Bits times nanoseconds per second: the quotient by the rate is in nanoseconds.
        let total = bytes * 8_000_000_000 + *remainder;
        *remainder = total % self.0;
        Duration::from_nanos(total / self.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Only whole units, so that the text parses back to the same rate.
            bits if bits % 1_000_000 == 0 => write!(formatter, "{}Mb/s", bits / 1_000_000),
            bits if bits % 1_000 == 0 => write!(formatter, "{}kb/s", bits / 1_000),
            bits => write!(formatter, "{bits}b/s"),
        }
    }
}
