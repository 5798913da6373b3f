//! Explicit congestion notification (RFC 3168): a queue marks where it would have dropped, the receiver echoes the mark,
//! and the sender answers as to a loss, once per window.

use crate::accurate_ecn::{MarkCounter, count_in};
use crate::connection::Connection;
use crate::send::board::Acknowledgement;
use crate::send::sender::Sender;
use crate::trace::Cx;
use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags, Segment};

/// Whether to take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// No.
    #[default]
    Off,
    /// As RFC 3168 §6.1 has it: marks are echoed until the sender says that it reduced its window.
    Classic,
    /// With the more accurate feedback of RFC 9768, or as [`Self::Classic`] with a peer that does not know it.
    Accurate,
}

/// How the ends tell each other of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feedback {
    /// They do not.
    #[default]
    None,
    /// Until the sender says that it reduced its window (RFC 3168).
    Classic,
    /// By a counter (RFC 9768).
    Accurate,
}

/// The sender's side: what it has done about congestion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkResponse {
    /// What both sides agreed on.
    pub(crate) feedback: Feedback,
    /// How new data leave.
    pub(crate) codepoint: Ecn,
    /// The next new segment tells that the window was reduced.
    reduction_untold: bool,
    /// Number of the first segment after the last reduction: until it is acknowledged, echoes speak of what was before.
    reduced_at: Option<u64>,
    /// The same after the last reduction that a mark or a skip caused.
    answered_at: Option<u64>,
}

impl MarkResponse {
    /// The window was reduced for whatever reason; `smax` is the number of the next new segment.
    pub(crate) fn on_reduced(&mut self, smax: u64) {
        self.reduction_untold = self.feedback == Feedback::Classic;
        self.reduced_at = Some(smax);
    }

    pub(crate) fn on_answered(&mut self, smax: u64) {
        self.on_reduced(smax);
        self.answered_at = Some(smax);
    }

    /// Says whether `una` lies in the window for which a mark has already been answered.
    pub(crate) fn has_answered(&self, una: u64) -> bool {
        self.answered_at.is_some_and(|number| una <= number)
    }

    /// Says whether the window was reduced since segment `number` was first sent.
    pub(crate) fn was_reduced_after(&self, number: u64) -> bool {
        self.reduced_at.is_some_and(|reduced_at| number < reduced_at)
    }

    fn has_reduced(&self, una: u64) -> bool {
        self.reduced_at.is_some_and(|number| una <= number)
    }
}

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

impl Sender {
    /// An ACK echoes a mark; `flight` is what was outstanding before. Losses and marks of one window are one congestion
    /// (RFC 3168 §6.1.2).
    pub(crate) fn on_congestion_echo(&mut self, cx: &mut Cx<'_>, flight: u64) {
        if self.recovery.is_recovering() || self.marks.has_reduced(self.board.una()) {
            return;
        }
        self.control.on_congestion_mark(cx, &self.flight(flight));
        self.marks.on_answered(self.board.smax());
        self.statistics.mark_responses += 1;
    }
}

impl Connection {
    /// Gives the flags of an opening segment that offer ECN, or accept it (RFC 3168 §6.1.1).
    pub(crate) fn ecn_offer(&self, is_answer: bool) -> Flags {
        match (self.config.ecn, is_answer, self.sender.marks.feedback) {
            (EcnMode::Classic, false, _) => Flags::ECE | Flags::CWR,
            (EcnMode::Accurate, false, _) => Flags::ACE,
            (_, true, Feedback::Classic) => Flags::ECE,
            (_, true, Feedback::Accurate) => self.mark_counter.answer(),
            (EcnMode::Off, false, _) | (_, true, Feedback::None) => Flags::empty(),
        }
    }

    /// Learns from the peer's opening segment whether it takes part. An answer with both flags is an old host's, which
    /// reflects what it does not know (RFC 3168 §6.1.1).
    pub(crate) fn learn_ecn(&mut self, syn: &Segment) {
        let feedback = match self.config.ecn {
            EcnMode::Off => Feedback::None,
            EcnMode::Classic => classic_feedback(syn.flags),
            EcnMode::Accurate => agreed_feedback(syn.flags),
        };
        self.sender.marks.feedback = feedback;
        self.sender.marks.codepoint = match feedback {
            Feedback::None => Ecn::NotCapable,
            Feedback::Accurate if self.sender.control.is_scalable() => Ecn::Capable1,
            Feedback::Classic | Feedback::Accurate => Ecn::Capable0,
        };
        if feedback == Feedback::Accurate {
            self.mark_counter = MarkCounter::new(syn);
            self.echo = self.mark_counter.first_flags();
        }
    }

    /// Says whether both sides count marks.
    pub(crate) fn counts_marks(&self) -> bool {
        self.sender.marks.feedback == Feedback::Accurate
    }

    /// Takes note of a mark on a segment.
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        match self.sender.marks.feedback {
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
            self.echo = Flags::ECE;
        } else if segment.flags.contains(Flags::CWR) {
            self.echo = Flags::empty();
        }
    }

    /// Says whether an ACK echoes a mark that is to be answered as a loss.
    pub(crate) fn is_echo(&mut self, now: Instant, segment: &Segment, ack: &Acknowledgement) -> bool {
        match self.sender.marks.feedback {
            Feedback::None => false,
            Feedback::Classic => segment.flags.contains(Flags::ECE),
            Feedback::Accurate => self.learn_marks(now, segment, ack),
        }
    }

    /// Lets a queue mark a segment: new data only, not retransmissions, window probes and pure ACKs (RFC 3168 §6.1.4 to
    /// §6.1.6). The first one after a reduction tells of it.
    pub(crate) fn make_markable(&mut self, segment: &mut Segment, end: u64) {
        let is_probe = end > self.sender.board.acknowledged() + self.sender.peer_window;
        if self.sender.marks.codepoint == Ecn::NotCapable || segment.len == 0 || is_probe {
            return;
        }
        segment.ecn = self.sender.marks.codepoint;
        if core::mem::take(&mut self.sender.marks.reduction_untold) {
            segment.flags |= Flags::CWR;
        }
    }
}
