//! Explicit congestion notification (RFC 3168): a queue marks where it would have dropped, the receiver echoes the mark,
//! and the sender answers as to a loss, once per window.

use crate::connection::Connection;
use crate::policy::control::Flight;
use crate::send::sender::Sender;
use crate::trace::Cx;
use earlybird_wire::{Ecn, Flags, Segment};

/// Whether to take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// No.
    #[default]
    Off,
    /// As RFC 3168 §6.1 has it: marks are echoed until the sender says that it reduced its window.
    Classic,
}

/// The sender's side: what it has done about congestion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkResponse {
    /// Both sides take part.
    pub(crate) is_on: bool,
    /// The next new segment tells that the window was reduced.
    reduction_untold: bool,
    /// Number of the first segment after the last reduction: until it is acknowledged, echoes speak of what was before.
    reduced_at: Option<u64>,
    /// The same after the last reduction that a mark caused.
    answered_at: Option<u64>,
}

impl MarkResponse {
    /// The window was reduced for whatever reason; `smax` is the number of the next new segment.
    pub(crate) fn on_reduced(&mut self, smax: u64) {
        self.reduction_untold = self.is_on;
        self.reduced_at = Some(smax);
    }

    fn on_answered(&mut self, smax: u64) {
        self.on_reduced(smax);
        self.answered_at = Some(smax);
    }

    /// Says whether `una` lies in the window for which a mark has already been answered.
    pub(crate) fn has_answered(&self, una: u64) -> bool {
        self.answered_at.is_some_and(|number| una <= number)
    }

    fn has_reduced(&self, una: u64) -> bool {
        self.reduced_at.is_some_and(|number| una <= number)
    }
}

impl Sender {
    /// An ACK echoes a mark; `flight` is what was outstanding before. Losses and marks of one window are one congestion
    /// (RFC 3168 §6.1.2).
    pub(crate) fn on_congestion_echo(&mut self, cx: &mut Cx<'_>, flight: u64) {
        if self.recovery.is_recovering() || self.marks.has_reduced(self.board.una()) {
            return;
        }
        self.control.on_congestion_mark(cx, &Flight { outstanding: flight });
        self.marks.on_answered(self.board.smax());
        self.statistics.mark_responses += 1;
    }
}

impl Connection {
    /// Gives the flags of an opening segment that offer ECN, or accept it (RFC 3168 §6.1.1).
    pub(crate) fn ecn_offer(&self, is_answer: bool) -> Flags {
        match (self.config.ecn, is_answer) {
            (EcnMode::Classic, false) => Flags::ECE | Flags::CWR,
            (EcnMode::Classic, true) if self.sender.marks.is_on => Flags::ECE,
            _ => Flags::empty(),
        }
    }

    /// Learns from the peer's opening segment whether it takes part. An answer with both flags is an old host's, which
    /// reflects what it does not know (RFC 3168 §6.1.1).
    pub(crate) fn learn_ecn(&mut self, syn: &Segment) {
        let offer = syn.flags & (Flags::ECE | Flags::CWR);
        let expected = if syn.flags.contains(Flags::ACK) { Flags::ECE } else { Flags::ECE | Flags::CWR };
        self.sender.marks.is_on = self.config.ecn == EcnMode::Classic && offer == expected;
    }

    /// Takes note of a mark on a segment with data, and of the peer's word that it reduced its window. A mark on that very
    /// segment is news (RFC 3168 §6.1.3).
    pub(crate) fn note_mark(&mut self, segment: &Segment) {
        if self.sender.marks.is_on && segment.len > 0 {
            self.echoes_congestion &= !segment.flags.contains(Flags::CWR);
            self.echoes_congestion |= segment.ecn == Ecn::Congested;
        }
    }

    /// Says whether an ACK echoes a mark.
    pub(crate) fn is_echo(&self, segment: &Segment) -> bool {
        self.sender.marks.is_on && segment.flags.contains(Flags::ECE)
    }

    /// Adds to a segment that leaves what ECN has to say in its TCP header.
    pub(crate) fn ecn_flags(&self) -> Flags {
        if self.echoes_congestion { Flags::ECE } else { Flags::empty() }
    }

    /// Lets a queue mark a segment: new data only, not retransmissions, window probes and pure ACKs (RFC 3168 §6.1.4 to
    /// §6.1.6). The first one after a reduction tells of it.
    pub(crate) fn make_markable(&mut self, segment: Segment, end: u64) -> Segment {
        let is_probe = end > self.sender.board.una_position() + self.sender.peer_window;
        if !self.sender.marks.is_on || segment.len == 0 || is_probe {
            return segment;
        }
        let tells = core::mem::take(&mut self.sender.marks.reduction_untold);
        let flags = if tells { segment.flags | Flags::CWR } else { segment.flags };
        Segment { ecn: Ecn::Capable0, flags, ..segment }
    }
}
