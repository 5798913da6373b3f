use core::fmt;

/// A 32-bit sequence number as it stands on the wire, modulo 2³² (RFC 9293 §3.4).
///
/// It has no order of its own: compare positions in the stream, which [`SeqNum::unwrap_near`] recovers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNum(pub u32);

impl SeqNum {
    /// Returns the number `position` bytes after this one.
    #[must_use]
    pub const fn at(self, position: u64) -> Self {
        Self(self.0.wrapping_add(position as u32))
    }

    /// Returns the stream position nearest to `reference` that `self` can stand for, if `origin` is position 0.
    ///
    /// Positions before the origin give `None`.
    pub const fn unwrap_near(self, origin: Self, reference: u64) -> Option<u64> {
        // As a signed 32-bit difference, the number is at most 2³¹ away from the reference: windows are far smaller
        // (RFC 7323 §2.3).
        let distance = self.0.wrapping_sub(origin.at(reference).0).cast_signed() as i64;
        reference.checked_add_signed(distance)
    }
}

impl fmt::Display for SeqNum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_the_wrap() {
        let origin = SeqNum(u32::MAX - 10);
        for position in [0, 5, 11, 12, 1 << 31, (1 << 40) + 7] {
            assert_eq!(origin.at(position).unwrap_near(origin, position.saturating_sub(3)), Some(position));
        }
    }

    #[test]
    fn a_number_before_the_origin_has_no_position() {
        assert_eq!(SeqNum(99).unwrap_near(SeqNum(100), 0), None);
    }
}
