//! Points in simulated time, with ns-2's opinion about which of two simultaneous ones comes first.

use earlybird_units::{Duration, Instant};

/// A point in time.
///
/// Time is counted in whole nanoseconds. Packets of one size on links of fixed rates often meet to the nanosecond, and
/// whether a queue serves before or after it accepts then decides about a drop. No rule is right; ns-2 leaves it to the
/// rounding of its floating-point clock. That clock runs along here and is asked only in such a tie, so that runs can be
/// compared with ns-2 packet for packet. Additions in double precision give the same bits on every platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    ns2: f64,
}

impl Moment {
    pub(crate) const ZERO: Self = Self { at: Instant::ZERO, ns2: 0.0 };

    /// Gives a moment whose history does not matter.
    pub(crate) fn fresh(at: Instant) -> Self {
        Self { at, ns2: at.as_secs_f64() }
    }

    /// Gives a later moment: `span` in nanoseconds and as the number of seconds that ns-2 would add.
    pub(crate) fn after(self, span: Duration, seconds: f64) -> Self {
        Self { at: self.at + span, ns2: self.ns2 + seconds }
    }

    /// Says whether this moment is not later than `other`; equal ones count as not later.
    pub(crate) fn is_by(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && self.ns2 <= other.ns2)
    }
}
