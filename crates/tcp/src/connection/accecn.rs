//! More accurate feedback of marks, on the side that they come to (RFC 9768).

use super::{Connection, SegmentMeta};
use crate::policy::acking::AckDue;
use crate::send::rate::ace::{INITIAL_COUNT, SYN_MARKED, count_in, flags_of};
use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags, Segment};

/// What every segment tells of the marks that came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnEcho {
    /// The flags that leave; with the more accurate feedback, the packets that came marked (`r.cep`).
    pub(super) flags: Flags,
    /// The ECN field of the peer's opening segment.
    opening: Ecn,
    /// The last data came marked.
    was_marked: bool,
}

/// Says in a handshake what the ECN field of the peer's opening segment was (RFC 9768 tables 2 and 3).
fn handshake_flags(opening: Ecn) -> Flags {
    flags_of(match opening {
        Ecn::NotCapable => 0b010,
        Ecn::Capable1 => 0b011,
        Ecn::Capable0 => 0b100,
        Ecn::Congested => SYN_MARKED,
    })
}

impl EcnEcho {
    /// Begins after the peer's opening segment, with what leaves before any data came.
    fn new(opening: Ecn) -> Self {
        let flags = flags_of(INITIAL_COUNT + u8::from(opening == Ecn::Congested));
        Self { flags, opening, was_marked: false }
    }

    /// Returns the answer to an opening segment.
    pub(super) fn answer(self) -> Flags {
        handshake_flags(self.opening)
    }
}

impl Connection {
    /// Begins to count. The peer's opening segment says in an answer what became of ours.
    pub(super) fn begin_counting(&mut self, syn: &Segment) {
        self.echo = EcnEcho::new(syn.ecn);
        if syn.flags.contains(Flags::ACK) {
            self.sender.on_ace_handshake(syn.flags);
        }
    }

    /// Counts a packet that came marked. The first after others without is told of at once (RFC 9768 §3.2.2.5.1).
    pub(super) fn count_mark(&mut self, segment: &Segment) {
        let is_marked = segment.ecn == Ecn::Congested;
        if is_marked {
            self.echo.flags = flags_of(count_in(self.echo.flags) + 1);
        }
        if segment.len > 0 {
            let was_marked = core::mem::replace(&mut self.echo.was_marked, is_marked);
            if is_marked && !was_marked {
                self.receiver.due = AckDue::Now;
            }
        }
    }

    /// Learns from a pure ACK of our answer whether that came marked (RFC 9768 §3.2.2.1).
    pub(super) fn learn_handshake_mark(&mut self, segment: &Segment) {
        if self.counts_marks() && !segment.takes_sequence_space() && segment.options.sack.is_empty() {
            self.sender.on_ace_handshake(segment.flags);
        }
    }

    /// Returns the ACK that ends the handshake: pure, even if there are data, for it tells of the answer's ECN field
    /// (RFC 9768 §3.2.2.1).
    pub(super) fn emit_handshake_ack(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        let carried = self.emit_bare(now, Flags::ACK, segment);
        segment.flags = Flags::ACK | self.echo.answer();
        carried
    }
}
