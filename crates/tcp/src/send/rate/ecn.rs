//! The sender's side of explicit congestion notification: what its peer echoes, and what was done about it (RFC 3168 §6.1.2).

use super::ace::AceReader;
use earlybird_wire::{Ecn, Flags};

/// The way in which the receiver reports marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feedback {
    /// It does not.
    #[default]
    None,
    /// With ECE, until the sender reports with CWR that it has reduced its window (RFC 3168).
    Classic,
    /// With a counter (RFC 9768).
    Accurate,
}

/// The sender's state of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnSender {
    /// The feedback that both sides agreed on.
    feedback: Feedback,
    /// The peer's counter of marked packets.
    ace: AceReader,
    /// The codepoint of new data.
    codepoint: Ecn,
    /// Whether the next new segment carries CWR.
    cwr_pending: bool,
    /// The first segment after the last reduction: until it is acknowledged, echoes are about the time before.
    reduced_at: Option<u64>,
    /// The same after the last reduction that a mark or a skip caused.
    answered_at: Option<u64>,
}

impl EcnSender {
    /// Sets the feedback that both sides agreed on. A scalable control sends ECT(1) if its peer counts marks (RFC 9331 §4.1).
    pub(super) fn negotiate(&mut self, feedback: Feedback, is_scalable: bool) {
        self.feedback = feedback;
        self.codepoint = match feedback {
            Feedback::None => Ecn::NotCapable,
            Feedback::Accurate if is_scalable => Ecn::Capable1,
            Feedback::Classic | Feedback::Accurate => Ecn::Capable0,
        };
        if feedback == Feedback::Accurate {
            self.ace = AceReader::new();
        }
    }

    /// Returns the feedback that both sides agreed on.
    #[inline]
    pub(crate) fn feedback(&self) -> Feedback {
        self.feedback
    }

    /// Returns the codepoint of new data.
    #[inline]
    pub(crate) fn codepoint(&self) -> Ecn {
        self.codepoint
    }

    /// Reads from the peer's handshake segment whether ours arrived marked.
    pub(super) fn on_ace_handshake(&mut self, flags: Flags) {
        self.ace.on_handshake(flags);
    }

    /// Returns the marks that an ACK newly reports, which delivered so many segments.
    pub(super) fn read_ace(&mut self, flags: Flags, delivered: u64) -> u64 {
        // RFC 9768 §3.2.2.4: a counter of zero in the first segment after the handshake was zeroed by a middlebox, so marks
        // would get lost: no segment may be marked then.
        if self.ace.is_zeroed(flags) {
            self.codepoint = Ecn::NotCapable;
        }
        self.ace.on_ack(flags, delivered)
    }

    /// Returns, once per reduction, whether CWR is to be sent.
    pub(super) fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.cwr_pending)
    }

    /// Records that the window was reduced; `snd_max` is the number of the next new segment.
    pub(super) fn on_reduced(&mut self, snd_max: u64) {
        self.cwr_pending = self.feedback == Feedback::Classic;
        self.reduced_at = Some(snd_max);
    }

    /// Records that the window was reduced for a mark or a skip.
    pub(super) fn on_answered(&mut self, snd_max: u64) {
        self.on_reduced(snd_max);
        self.answered_at = Some(snd_max);
    }

    /// Returns whether a mark was answered in the window of data that `una` is in.
    pub(super) fn has_answered(&self, una: u64) -> bool {
        self.answered_at.is_some_and(|number| una <= number)
    }

    /// Returns whether the window was reduced since segment `number` was first sent.
    pub(super) fn was_reduced_after(&self, number: u64) -> bool {
        self.reduced_at.is_some_and(|reduced_at| number < reduced_at)
    }

    /// Returns whether the window was reduced in the window of data that `una` is in.
    pub(super) fn has_reduced(&self, una: u64) -> bool {
        self.reduced_at.is_some_and(|number| una <= number)
    }
}
