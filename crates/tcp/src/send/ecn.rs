//! What the sender does about the marks that its peer echoes (RFC 3168 §6.1.2): it answers as to a loss, once per window –
//! or, with a scalable control, by their share.

use super::ace::AceReader;
use super::sender::Sender;
use crate::policy::control::Marks;
use crate::scoreboard::Acknowledgement;
use crate::trace::Cx;
use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags};

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
pub(crate) struct EcnSender {
    /// What both sides agreed on.
    pub(crate) feedback: Feedback,
    /// What the peer told with the more accurate feedback.
    pub(crate) told: AceReader,
    /// How new data leave.
    pub(crate) codepoint: Ecn,
    /// The next new segment tells that the window was reduced.
    pub(crate) reduction_untold: bool,
    /// Number of the first segment after the last reduction: until it is acknowledged, echoes speak of what was before.
    reduced_at: Option<u64>,
    /// The same after the last reduction that a mark or a skip caused.
    answered_at: Option<u64>,
}

impl EcnSender {
    /// The window was reduced for whatever reason; `smax` is the number of the next new segment.
    pub(crate) fn on_reduced(&mut self, smax: u64) {
        self.reduction_untold = self.feedback == Feedback::Classic;
        self.reduced_at = Some(smax);
    }

    pub(crate) fn on_answered(&mut self, smax: u64) {
        self.on_reduced(smax);
        self.answered_at = Some(smax);
    }

    /// Returns whether `una` lies in the window for which a mark has already been answered.
    pub(crate) fn has_answered(&self, una: u64) -> bool {
        self.answered_at.is_some_and(|number| una <= number)
    }

    /// Returns whether the window was reduced since segment `number` was first sent.
    pub(crate) fn was_reduced_after(&self, number: u64) -> bool {
        self.reduced_at.is_some_and(|reduced_at| number < reduced_at)
    }

    fn has_reduced(&self, una: u64) -> bool {
        self.reduced_at.is_some_and(|number| una <= number)
    }
}

impl Sender {
    /// An ACK echoes a mark; `flight` is what was outstanding before. Losses and marks of one window are one congestion
    /// (RFC 3168 §6.1.2).
    pub(crate) fn on_congestion_echo(&mut self, cx: &mut Cx<'_>, flight: u64) {
        if self.recovery.is_recovering() || self.marks.has_reduced(self.scoreboard.una()) {
            return;
        }
        self.control.on_congestion_mark(cx, &self.flight(flight));
        self.marks.on_answered(self.scoreboard.smax());
        self.statistics.mark_responses += 1;
    }

    /// Reads what an ACK tells of marks; says whether it echoes one that is to be answered as a loss.
    pub(super) fn read_marks(&mut self, now: Instant, flags: Flags, ack: &Acknowledgement) -> bool {
        match self.marks.feedback {
            Feedback::None => false,
            Feedback::Classic => flags.contains(Flags::ECE),
            Feedback::Accurate => self.read_mark_count(now, flags, ack),
        }
    }

    /// A counter of zero in the first segment after the handshake was zeroed on the way: nothing may be marked then
    /// (RFC 9768 §3.2.2.4).
    fn read_mark_count(&mut self, now: Instant, flags: Flags, ack: &Acknowledgement) -> bool {
        if self.marks.told.is_zeroed(flags) {
            self.marks.codepoint = Ecn::NotCapable;
        }
        let marked = self.marks.told.on_ack(flags, ack.delivered);
        match self.marks.codepoint {
            Ecn::NotCapable => false,
            Ecn::Capable1 => {
                self.on_marks(now, ack, marked);
                false
            }
            Ecn::Capable0 | Ecn::Congested => marked > 0,
        }
    }

    /// Tells a scalable control what an ACK says of marks.
    fn on_marks(&mut self, now: Instant, ack: &Acknowledgement, marked: u64) {
        let marks = Marks {
            delivered: ack.delivered,
            marked,
            rtt: ack.rtt,
            una: self.scoreboard.una(),
            smax: self.scoreboard.smax(),
            is_recovering: self.recovery.is_recovering(),
        };
        self.statistics.mark_responses += u64::from(self.control.on_marks(now, &marks));
    }
}
