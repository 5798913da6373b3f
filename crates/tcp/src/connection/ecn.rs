//! The receiver's side of explicit congestion notification: its negotiation, and the echo of marks (RFC 3168, RFC 9768).

use crate::policy::ecn::EcnMode;
use crate::send::rate::ace::{INITIAL_COUNT, SYN_MARKED, count_in, flags_of};
use crate::send::rate::ecn::Feedback;
use earlybird_wire::{Ecn, Flags, Segment};

/// The echo of marks that every segment carries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnReceiver {
    /// The flags of every segment; with accurate feedback the count of marked packets (`r.cep`).
    flags: Flags,
    /// The ECN field of the peer's SYN or SYN-ACK.
    syn: Ecn,
    /// Whether the last data arrived marked.
    was_marked: bool,
}

/// Returns the feedback that the peer's SYN or SYN-ACK agrees to.
pub(super) fn negotiated(mode: EcnMode, flags: Flags) -> Feedback {
    match mode {
        EcnMode::Off => Feedback::None,
        EcnMode::Classic => classic_feedback(flags),
        EcnMode::Accurate => accurate_feedback(flags),
    }
}

/// RFC 3168 §6.1.1: ECE and CWR offer, ECE alone accepts.
fn classic_feedback(flags: Flags) -> Feedback {
    // A SYN-ACK with both flags is that of an old host, which reflects what it does not support.
    let expected = if flags.contains(Flags::ACK) { Flags::ECE } else { Flags::ECE | Flags::CWR };
    if flags & (Flags::ECE | Flags::CWR) == expected { Feedback::Classic } else { Feedback::None }
}

/// RFC 9768 table 2.
fn accurate_feedback(flags: Flags) -> Feedback {
    match (flags.contains(Flags::ACK), count_in(flags)) {
        (_, 0b000) | (true, 0b111) => Feedback::None,
        (false, 0b011) | (true, 0b001 | 0b101) => Feedback::Classic,
        // Other flags are those of a later version, which is compatible (§3.1).
        _ => Feedback::Accurate,
    }
}

impl EcnReceiver {
    /// Starts after the peer's SYN or SYN-ACK, with what is sent before any data arrive.
    pub(super) fn new(syn: Ecn) -> Self {
        let flags = flags_of(INITIAL_COUNT + u8::from(syn == Ecn::Congested));
        Self { flags, syn, was_marked: false }
    }

    /// Returns the flags of every segment.
    #[inline]
    pub(super) fn flags(self) -> Flags {
        self.flags
    }

    /// Returns the flags of a SYN that offer ECN, or of a SYN-ACK that accept it (RFC 3168 §6.1.1).
    pub(super) fn syn_flags(self, mode: EcnMode, feedback: Feedback, is_syn_ack: bool) -> Flags {
        match (mode, is_syn_ack, feedback) {
            (EcnMode::Classic, false, _) => Flags::ECE | Flags::CWR,
            (EcnMode::Accurate, false, _) => Flags::ACE,
            (_, true, Feedback::Classic) => Flags::ECE,
            (_, true, Feedback::Accurate) => self.handshake_flags(),
            (EcnMode::Off, false, _) | (_, true, Feedback::None) => Flags::empty(),
        }
    }

    /// Returns the flags that report the ECN field of the peer's SYN or SYN-ACK (RFC 9768 tables 2 and 3).
    pub(super) fn handshake_flags(self) -> Flags {
        flags_of(match self.syn {
            Ecn::NotCapable => 0b010,
            Ecn::Capable1 => 0b011,
            Ecn::Capable0 => 0b100,
            Ecn::Congested => SYN_MARKED,
        })
    }

    /// Processes the ECN field of a segment; returns whether an ACK must be sent at once.
    #[inline]
    pub(super) fn on_segment(&mut self, feedback: Feedback, segment: &Segment) -> bool {
        match feedback {
            Feedback::None => false,
            Feedback::Classic => {
                self.echo(segment);
                false
            }
            Feedback::Accurate => self.count(segment),
        }
    }

    /// Echoes a mark on data until the peer reports that it has reduced its window.
    fn echo(&mut self, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        // The mark first: one on the very segment that carries CWR is a new one (RFC 3168 §6.1.3).
        if segment.ecn == Ecn::Congested {
            self.flags = Flags::ECE;
        } else if segment.flags.contains(Flags::CWR) {
            self.flags = Flags::empty();
        }
    }

    /// Counts a mark; returns whether it is the first after unmarked data, which is reported at once (RFC 9768 §3.2.2.5.1).
    fn count(&mut self, segment: &Segment) -> bool {
        let is_marked = segment.ecn == Ecn::Congested;
        if is_marked {
            self.flags = flags_of(count_in(self.flags) + 1);
        }
        // Pure ACKs are counted too, but must not cause ACKs.
        if segment.len == 0 {
            return false;
        }
        let was_marked = core::mem::replace(&mut self.was_marked, is_marked);
        is_marked && !was_marked
    }
}
