//! Explicit congestion notification (RFC 3168): what both sides offer and agree on, the echo of marks that came, and which
//! segments a queue may mark.

use super::Connection;
use crate::policy::ecn::EcnMode;
use crate::send::rate::ace::count_in;
use crate::send::rate::ecn::Feedback;
use earlybird_wire::{Ecn, Flags, Segment};

/// RFC 3168 §6.1.1: ECE and CWR offer, ECE alone accepts.
fn classic_feedback(flags: Flags) -> Feedback {
    let expected = if flags.contains(Flags::ACK) { Flags::ECE } else { Flags::ECE | Flags::CWR };
    if flags & (Flags::ECE | Flags::CWR) == expected { Feedback::Classic } else { Feedback::None }
}

/// RFC 9768 table 2; a SYN with other flags is a later version's (§3.1).
fn agreed_feedback(flags: Flags) -> Feedback {
    match (flags.contains(Flags::ACK), count_in(flags)) {
        (_, 0b000) | (true, 0b111) => Feedback::None,
        (false, 0b011) | (true, 0b001 | 0b101) => Feedback::Classic,
        _ => Feedback::Accurate,
    }
}

impl Connection {
    /// Returns the flags of an opening segment that offer ECN, or accept it (RFC 3168 §6.1.1).
    pub(super) fn ecn_offer(&self, is_answer: bool) -> Flags {
        match (self.config.ecn, is_answer, self.sender.rate().ecn().feedback()) {
            (EcnMode::Classic, false, _) => Flags::ECE | Flags::CWR,
            (EcnMode::Accurate, false, _) => Flags::ACE,
            (_, true, Feedback::Classic) => Flags::ECE,
            (_, true, Feedback::Accurate) => self.echo.answer(),
            (EcnMode::Off, false, _) | (_, true, Feedback::None) => Flags::empty(),
        }
    }

    /// Learns from the peer's opening segment whether it takes part. An answer with both flags is an old host's, which
    /// reflects what it does not know (RFC 3168 §6.1.1).
    pub(super) fn learn_ecn(&mut self, syn: &Segment) {
        let feedback = match self.config.ecn {
            EcnMode::Off => Feedback::None,
            EcnMode::Classic => classic_feedback(syn.flags),
            EcnMode::Accurate => agreed_feedback(syn.flags),
        };
        self.sender.negotiate_ecn(feedback);
        if feedback == Feedback::Accurate {
            self.begin_counting(syn);
        }
    }

    /// Returns whether both sides count marks.
    pub(super) fn counts_marks(&self) -> bool {
        self.sender.rate().ecn().feedback() == Feedback::Accurate
    }

    /// Takes note of a mark on a segment.
    pub(super) fn note_mark(&mut self, segment: &Segment) {
        match self.sender.rate().ecn().feedback() {
            Feedback::None => {}
            Feedback::Classic => self.note_echo(segment),
            Feedback::Accurate => self.count_mark(segment),
        }
    }

    /// A mark on data is echoed until the peer says that it reduced its window. A mark on that very segment is news
    /// (RFC 3168 §6.1.3).
    fn note_echo(&mut self, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        if segment.ecn == Ecn::Congested {
            self.echo.flags = Flags::ECE;
        } else if segment.flags.contains(Flags::CWR) {
            self.echo.flags = Flags::empty();
        }
    }

    /// Lets a queue mark a segment: new data only, not retransmissions, window probes and pure ACKs (RFC 3168 §6.1.4 to
    /// §6.1.6). The first one after a reduction tells of it.
    pub(super) fn make_markable(&mut self, segment: &mut Segment, end: u64) {
        let is_probe =
            end > self.sender.buffer().scoreboard().acknowledged() + self.sender.buffer().peer_window().size();
        if self.sender.rate().ecn().codepoint() == Ecn::NotCapable || segment.len == 0 || is_probe {
            return;
        }
        segment.ecn = self.sender.rate().ecn().codepoint();
        if self.sender.take_cwr() {
            segment.flags |= Flags::CWR;
        }
    }
}
