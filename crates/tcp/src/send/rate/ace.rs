//! The counter of marked packets that the peer reports: three flags of the header, modulo 8 (ACE, RFC 9768).

use earlybird_wire::Flags;

/// Reads the peer's counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AceReader {
    /// The packets reported as marked, modulo 8 (`s.cep`).
    count: u8,
    /// Whether the counter was read after the handshake.
    was_read: bool,
}

/// The counter's first value: not zero, so that a zeroed field is noticed (RFC 9768 §3.2.1).
pub(crate) const INITIAL_COUNT: u8 = 5;
/// The counter's modulus (`DIVACE`).
const MODULUS: u64 = 8;
/// Position of its lowest bit, ECE.
const SHIFT: u32 = Flags::ECE.bits().trailing_zeros();
/// The value by which a handshake reports that the SYN arrived marked (RFC 9768 tables 2 and 3).
pub(crate) const SYN_MARKED: u8 = 0b110;

/// Returns the counter in the flags.
pub(crate) fn count_in(flags: Flags) -> u8 {
    ((flags & Flags::ACE).bits() >> SHIFT) as u8
}

/// Returns the flags of a counter.
pub(crate) fn flags_of(count: u8) -> Flags {
    Flags::from_bits_truncate(u16::from(count) << SHIFT) & Flags::ACE
}

/// Returns the marks that a change of the counter means if the ACK delivered so many segments (RFC 9768 §3.2.2.5.2 and
/// appendix A.2).
fn safest_marks(before: u8, after: u8, delivered: u64) -> u64 {
    let change = (u64::from(after) + MODULUS - u64::from(before)) % MODULUS;
    // The safe assumption: the counter has wrapped as often as the delivered segments allow.
    delivered.checked_sub(change).map_or(change, |rest| delivered - rest % MODULUS)
}

impl AceReader {
    /// Makes a reader of the counter's first value.
    pub(super) fn new() -> Self {
        Self { count: INITIAL_COUNT, was_read: false }
    }

    /// Reads whether our SYN or SYN-ACK arrived marked.
    pub(super) fn on_handshake(&mut self, flags: Flags) {
        self.count = INITIAL_COUNT + u8::from(count_in(flags) == SYN_MARKED);
    }

    /// Returns, for the first segment after the handshake, whether its counter was zeroed on the path.
    pub(super) fn is_zeroed(&mut self, flags: Flags) -> bool {
        !core::mem::replace(&mut self.was_read, true) && count_in(flags) == 0
    }

    /// Returns the marks that are newly reported.
    pub(super) fn on_ack(&mut self, flags: Flags, delivered: u64) -> u64 {
        // An ACK that delivers nothing may be old (RFC 9768 §3.2.2.5).
        if delivered == 0 {
            return 0;
        }
        let before = core::mem::replace(&mut self.count, count_in(flags));
        safest_marks(before, self.count, delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    /// The change alone if fewer than eight segments came, and one round of the counter more for each eight of them.
    #[test]
    fn the_counter_is_assumed_to_have_wrapped_as_often_as_possible() {
        let cases = [
            (5, 5, 1, 0),
            (5, 6, 1, 1),
            (7, 1, 2, 2),
            (5, 5, 7, 0),
            (5, 4, 7, 7),
            (5, 7, 10, 10),
            (5, 5, 8, 8),
            (5, 6, 8, 1),
            (5, 6, 16, 9),
            (5, 7, 1, 2),
        ];
        for (before, after, delivered, marks) in cases {
            assert_eq!(safest_marks(before, after, delivered), marks, "{before} to {after} with {delivered}");
        }
        let compared = "marks by change of the counter and segments delivered, at 10 points";
        conforms(Area::Control, "accurate ecn", "RFC 9768 appendix A.2", compared, "10 of 10");
    }
}
