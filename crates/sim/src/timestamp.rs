//! Points in simulated time that break ties as ns-2 does.

use earlybird_units::{Duration, Instant};

/// A point in time.
///
/// Time is counted in whole nanoseconds. Packets of one size on links of fixed rates often meet to the nanosecond, and
/// whether a queue serves before or after it accepts then decides about a drop. No rule is right; ns-2 leaves it to the
/// rounding of its floating-point clock. That clock runs along here and is asked only in such a tie, so that runs can be
/// compared with ns-2 packet for packet. Additions in double precision give the same bits on every platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timestamp {
    pub(crate) at: Instant,
    ns2: f64,
}

impl Timestamp {
    /// Bits of ns-2's clock that order timestamps of the same nanosecond.
    pub(crate) const TIE_BITS: u32 = 24;
    pub(crate) const ZERO: Self = Self { at: Instant::ZERO, ns2: 0.0 };

    /// Makes a timestamp whose ns-2 clock reading is the exact time.
    pub(crate) fn from_instant(at: Instant) -> Self {
        Self { at, ns2: at.as_secs_f64() }
    }

    /// Makes the timestamp of a reading of ns-2's clock.
    pub(crate) fn from_seconds(seconds: f64) -> Self {
        // ns-2's scripts schedule in seconds of double precision: rounding them to nanoseconds would reorder ties.
        Self { at: Instant::ZERO + Duration::from_secs_f64(seconds), ns2: seconds }
    }

    /// Returns a later timestamp: `span` in nanoseconds, and as the seconds that ns-2 would add.
    pub(crate) fn after(self, span: Duration, seconds: f64) -> Self {
        Self { at: self.at + span, ns2: self.ns2 + seconds }
    }

    /// Returns the low bits of ns-2's clock: they order timestamps of the same nanosecond, which differ by a few units in the
    /// last place.
    pub(crate) fn tie_break(self) -> u32 {
        self.ns2.to_bits() as u32 & ((1 << Self::TIE_BITS) - 1)
    }

    /// Returns the timestamp with this time and tie break.
    pub(crate) fn from_tie_break(at: Instant, tie_break: u32) -> Self {
        // The exact time and ns-2's reading differ by far less than 2^24 units in the last place, so the low bits
        // identify the reading.
        let rough = at.as_secs_f64().to_bits();
        // The difference of the last bits as a signed number: they may have wrapped around.
        let unused = 32 - Self::TIE_BITS;
        let units = (tie_break.wrapping_sub(rough as u32) << unused).cast_signed() >> unused;
        Self { at, ns2: f64::from_bits(rough.wrapping_add_signed(i64::from(units))) }
    }

    /// Returns the timestamp of a later time as ns-2 would compute it: by adding the time until then.
    pub(crate) fn until(self, at: Instant) -> Self {
        let span = at - self.at;
        self.after(span, span.as_secs_f64())
    }

    /// Returns whether this timestamp is not after `other`.
    ///
    /// So do those of one tie order: where a rate does not give whole nanoseconds, ns-2's clock strays further from ours than
    /// these bits tell, an event comes back with another reading of it, and what was to happen then must be due anyway.
    #[inline]
    pub(crate) fn is_not_after(self, other: Self) -> bool {
        // Nearly all comparisons are decided by whole nanoseconds; the slow part is not inlined.
        self.at < other.at || (self.at == other.at && self.is_not_after_ns2(other))
    }

    #[inline(never)]
    fn is_not_after_ns2(self, other: Self) -> bool {
        self.ns2 <= other.ns2 || self.tie_break() == other.tie_break()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 bytes at 12 and at 7 Mb/s take 26 666.67 and 45 714.29 ns; the second came back earlier than due, for ever.
    #[test]
    fn a_timestamp_between_whole_nanoseconds_is_due_with_its_event() {
        for (nanos, seconds) in [(26_667, 320.0 / 12e6), (45_714, 320.0 / 7e6)] {
            let due =
                Timestamp::from_instant(Instant::from_nanos(20_000_000)).after(Duration::from_nanos(nanos), seconds);
            let back = Timestamp::from_tie_break(due.at, due.tie_break());
            assert!(back != due && due.is_not_after(back), "{nanos}");
            assert!(!due.after(Duration::from_nanos(1), 1e-9).is_not_after(back));
        }
    }

    #[test]
    fn the_tie_order_restores_the_exact_timestamp() {
        let mut timestamp = Timestamp::from_instant(Instant::from_nanos(7));
        for step in 1..200_000_u64 {
            let span = Duration::from_nanos(832_000 + step % 7 * 6_400);
            timestamp = timestamp.after(span, span.as_secs_f64());
            assert_eq!(Timestamp::from_tie_break(timestamp.at, timestamp.tie_break()), timestamp);
        }
    }
}
