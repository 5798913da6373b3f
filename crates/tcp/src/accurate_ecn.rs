//! More accurate feedback of marks (RFC 9768): three flags of the header count marked packets modulo 8.

use crate::connection::{Connection, Transmit};
use crate::policy::acking::AckDue;
use crate::policy::control::Marks;
use crate::send::board::Acknowledgement;
use crate::send::sender::Sender;
use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags, Segment};

/// What is counted on one side; the packets that came marked (`r.cep`) are in the flags that leave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkCounter {
    /// Packets that the peer told of as marked, modulo 8 (`s.cep`).
    told: u8,
    /// The ECN field of the peer's opening segment.
    opening: Ecn,
    /// The peer told something after its opening segment.
    has_told: bool,
    /// The last data came marked.
    was_marked: bool,
}

/// The counter begins here, apart from zero, so that a zeroed field is noticed (RFC 9768 §3.2.1).
const FIRST_COUNT: u8 = 5;
/// The counter's size (`DIVACE`).
const COUNTS: u64 = 8;
/// Position of its lowest bit, ECE.
const SHIFT: u32 = Flags::ECE.bits().trailing_zeros();
/// What a handshake says of an opening segment that came marked (RFC 9768 tables 2 and 3).
const OPENING_MARKED: u8 = 0b110;

/// Reads the counter.
pub(crate) fn count_in(flags: Flags) -> u8 {
    ((flags & Flags::ACE).bits() >> SHIFT) as u8
}

fn flags_of(count: u8) -> Flags {
    Flags::from_bits_truncate(u16::from(count) << SHIFT) & Flags::ACE
}

/// Says in a handshake what the ECN field of the peer's opening segment was (RFC 9768 tables 2 and 3).
pub(crate) fn handshake_flags(opening: Ecn) -> Flags {
    flags_of(match opening {
        Ecn::NotCapable => 0b010,
        Ecn::Capable1 => 0b011,
        Ecn::Capable0 => 0b100,
        Ecn::Congested => OPENING_MARKED,
    })
}

/// Gives the marks that a change of the counter means, if the ACK delivered so many segments: as many as it may have
/// gone round (RFC 9768 §3.2.2.5.2 and appendix A.2).
fn safest_marks(before: u8, after: u8, delivered: u64) -> u64 {
    let change = (u64::from(after) + COUNTS - u64::from(before)) % COUNTS;
    delivered.checked_sub(change).map_or(change, |rest| delivered - rest % COUNTS)
}

impl MarkCounter {
    /// Begins after the peer's opening segment, which says in an answer what became of ours.
    pub(crate) fn new(syn: &Segment) -> Self {
        let mut counter = Self { opening: syn.ecn, told: FIRST_COUNT, ..Self::default() };
        if syn.flags.contains(Flags::ACK) {
            counter.on_handshake(syn);
        }
        counter
    }

    /// Gives the answer to an opening segment.
    pub(crate) fn answer(self) -> Flags {
        handshake_flags(self.opening)
    }

    /// Gives what leaves before any data came.
    pub(crate) fn first_flags(self) -> Flags {
        flags_of(FIRST_COUNT + u8::from(self.opening == Ecn::Congested))
    }

    fn on_handshake(&mut self, segment: &Segment) {
        self.told = FIRST_COUNT + u8::from(count_in(segment.flags) == OPENING_MARKED);
    }

    /// Gives the marks that are news. An ACK that delivers nothing may be old (RFC 9768 §3.2.2.5).
    fn on_ack(&mut self, flags: Flags, delivered: u64) -> u64 {
        if delivered == 0 {
            return 0;
        }
        let before = core::mem::replace(&mut self.told, count_in(flags));
        safest_marks(before, self.told, delivered)
    }
}

impl Sender {
    /// Tells a scalable control what an ACK says of marks.
    fn on_marks(&mut self, now: Instant, ack: &Acknowledgement, marked: u64) {
        let marks = Marks {
            delivered: ack.delivered,
            marked,
            rtt: ack.rtt,
            una: self.board.una(),
            smax: self.board.smax(),
            is_recovering: self.recovery.is_recovering(),
        };
        self.statistics.mark_responses += u64::from(self.control.on_marks(now, &marks));
    }
}

impl Connection {
    /// Counts a packet that came marked. The first after others without is told of at once (RFC 9768 §3.2.2.5.1).
    pub(crate) fn count_mark(&mut self, segment: &Segment) {
        let is_marked = segment.ecn == Ecn::Congested;
        if is_marked {
            self.echo = flags_of(count_in(self.echo) + 1);
        }
        if segment.len > 0 {
            let was_marked = core::mem::replace(&mut self.mark_counter.was_marked, is_marked);
            if is_marked && !was_marked {
                self.receiver.due = AckDue::Now;
            }
        }
    }

    /// Learns what an ACK tells of marks; says whether they are to be answered as one loss.
    ///
    /// A counter of zero in the first one after the handshake was zeroed on the way: nothing may be marked then
    /// (RFC 9768 §3.2.2.4).
    pub(crate) fn learn_marks(&mut self, now: Instant, segment: &Segment, ack: &Acknowledgement) -> bool {
        let is_first = !core::mem::replace(&mut self.mark_counter.has_told, true);
        if is_first && count_in(segment.flags) == 0 {
            self.sender.marks.codepoint = Ecn::NotCapable;
        }
        let marked = self.mark_counter.on_ack(segment.flags, ack.delivered);
        match self.sender.marks.codepoint {
            Ecn::NotCapable => false,
            Ecn::Capable1 => {
                self.sender.on_marks(now, ack, marked);
                false
            }
            Ecn::Capable0 | Ecn::Congested => marked > 0,
        }
    }

    /// Learns from a pure ACK of our answer whether that came marked (RFC 9768 §3.2.2.1).
    pub(crate) fn learn_handshake_mark(&mut self, segment: &Segment) {
        if self.counts_marks() && !segment.takes_sequence_space() && segment.options.sack.is_empty() {
            self.mark_counter.on_handshake(segment);
        }
    }

    /// Gives the ACK that ends the handshake: pure, even if there are data, for it tells of the answer's ECN field
    /// (RFC 9768 §3.2.2.1).
    pub(crate) fn emit_handshake_ack(&mut self, now: Instant) -> Transmit {
        let mut transmit = self.emit_bare(now, Flags::ACK);
        transmit.segment.flags = Flags::ACK | self.mark_counter.answer();
        transmit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    /// The change alone if fewer than eight segments came, and one round of the counter more for each eight of them.
    #[test]
    fn the_counter_is_taken_to_have_gone_round_as_often_as_it_can() {
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
