//! Detection of spurious retransmissions, whose reduction is undone (RFC 4015).

mod dsack_undo;
mod eifel;
mod forward_rto;

use crate::scoreboard::{Acknowledgement, Scoreboard, Span};
use dsack_undo::DsackUndo;
use earlybird_units::Instant;
use eifel::Eifel;
pub(crate) use forward_rto::ForwardRto;

/// The detection of spurious retransmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpuriousDetection {
    /// Whether F-RTO is used (RFC 5682): the two ACKs after a timeout, with new data sent in between.
    pub forward_rto: bool,
    /// The sign by which a reduction is undone.
    pub undo: Undo,
}

/// The sign of a spurious retransmission by which a reduction is undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undo {
    /// Nothing.
    #[default]
    None,
    /// A timestamp from before the retransmission (Eifel, RFC 3522).
    Eifel,
    /// A DSACK for every retransmission (RFC 3708).
    DuplicateSack,
    /// The first of the two, as in Linux.
    Either,
}

/// The last reduction, as long as it may prove spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced {
    pub(crate) by_timeout: bool,
    /// The larger of flight and slow-start threshold before it (`pipe_prev`, RFC 4015 §3.1, step 0).
    pub(crate) threshold: f64,
    /// Whether an ACK since then echoed a mark: the congestion was real.
    pub(crate) is_marked: bool,
}

/// The detectors of spurious retransmissions.
#[derive(Debug)]
pub(crate) struct Spurious {
    pub(crate) forward: Option<ForwardRto>,
    eifel: Option<Eifel>,
    dsack: Option<DsackUndo>,
    reduced: Option<Reduced>,
    /// SND.UNA at the reduction.
    reduced_at: u64,
}

impl Spurious {
    /// Returns the detectors; `None` if all are off.
    pub(crate) fn new(detection: SpuriousDetection) -> Option<Self> {
        let is_enabled = detection != SpuriousDetection::default();
        is_enabled.then(|| Self {
            forward: detection.forward_rto.then(ForwardRto::default),
            eifel: matches!(detection.undo, Undo::Eifel | Undo::Either).then(Eifel::default),
            dsack: matches!(detection.undo, Undo::DuplicateSack | Undo::Either).then(DsackUndo::default),
            reduced: None,
            reduced_at: 0,
        })
    }

    /// Switches to the rules with SACK.
    pub(crate) fn use_sack(&mut self) {
        self.forward.iter_mut().for_each(ForwardRto::use_sack);
    }

    /// Processes a reduction that is about to happen. A repeated timeout for the same segment is ignored: an undo restores the state
    /// before the first.
    pub(crate) fn on_reduction(&mut self, reduced: Reduced, scoreboard: &Scoreboard) {
        if let Some(forward) = self.forward.as_mut().filter(|_| reduced.by_timeout) {
            forward.on_timeout(scoreboard);
        }
        let is_same_segment = reduced.by_timeout && self.reduced_at == scoreboard.una();
        self.reduced_at = scoreboard.una();
        if self.reduced.is_none() || !is_same_segment {
            self.reduced = Some(reduced);
            self.eifel.iter_mut().for_each(Eifel::arm);
            // DSACKs of earlier retransmissions must not complete the new set.
            self.dsack.iter_mut().for_each(DsackUndo::clear);
        }
    }

    /// Processes a retransmission.
    pub(crate) fn on_retransmission(&mut self, now: Instant, span: Span) {
        self.eifel.iter_mut().for_each(|eifel| eifel.on_retransmission(now, span.end));
        if self.reduced.is_some() {
            self.dsack.iter_mut().for_each(|dsack| dsack.add(span));
        }
    }

    /// Returns whether an ACK without new data or DSACK has no effect.
    pub(crate) fn is_idle(&self) -> bool {
        self.forward.as_ref().is_none_or(ForwardRto::is_idle)
    }

    /// Processes the echo of an ECN mark.
    pub(crate) fn on_congestion_echo(&mut self) {
        self.reduced.iter_mut().for_each(|reduced| reduced.is_marked = true);
    }

    /// Processes an ACK. Returns the reduction if it proves spurious. `has_new`: whether new data could be sent.
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard, has_new: bool) -> Option<Reduced> {
        // All three read every ACK: each has a state to update, whichever decides.
        let by_forward = self.forward.as_mut().is_some_and(|forward| forward.on_ack(ack, scoreboard, has_new));
        let by_eifel = self.eifel.as_mut().is_some_and(|eifel| eifel.on_ack(ack, scoreboard.una_position()));
        let by_dsack = self.dsack.as_mut().is_some_and(|dsack| dsack.on_ack(ack));
        if by_forward || by_eifel || by_dsack { self.reduced.take() } else { None }
    }
}
