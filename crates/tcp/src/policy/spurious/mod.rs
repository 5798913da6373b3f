//! Was a retransmission needless? Then what was reduced for it is given back (RFC 4015).

mod eifel;
mod forward_rto;
mod repeats;

use crate::scoreboard::{Acknowledgement, Scoreboard, Span};
use earlybird_units::Instant;
use eifel::Eifel;
pub(crate) use forward_rto::ForwardRto;
use repeats::Repeats;

/// How needless retransmissions are found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpuriousDetection {
    /// Watch the two ACKs after a timeout, sending new data in between (F-RTO, RFC 5682).
    pub forward_rto: bool,
    /// What else tells of a needless retransmission.
    pub undo: Undo,
}

/// What tells that a retransmission was needless, so that the reduction is taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undo {
    /// Nothing.
    #[default]
    None,
    /// A timestamp from before the retransmission (Eifel, RFC 3522).
    Eifel,
    /// A DSACK for every retransmission (RFC 3708).
    DuplicateSack,
    /// Whichever of the two comes first, as in Linux.
    Either,
}

/// What was reduced last, as long as that may prove needless.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced {
    pub(crate) by_timeout: bool,
    /// The larger of flight and slow-start threshold before it (`pipe_prev`, RFC 4015 §3.2).
    pub(crate) threshold: f64,
    /// An ACK since then echoed a mark: the congestion was real.
    pub(crate) is_marked: bool,
}

/// Watches the retransmissions after a reduction.
#[derive(Debug)]
pub(crate) struct Spurious {
    pub(crate) forward: Option<ForwardRto>,
    eifel: Option<Eifel>,
    repeats: Option<Repeats>,
    reduced: Option<Reduced>,
    /// The first segment not acknowledged then.
    reduced_at: u64,
}

impl Spurious {
    /// Makes the watch; none if there is nothing to watch for.
    pub(crate) fn new(detection: SpuriousDetection) -> Option<Self> {
        let is_wanted = detection != SpuriousDetection::default();
        is_wanted.then(|| Self {
            forward: detection.forward_rto.then(ForwardRto::default),
            eifel: matches!(detection.undo, Undo::Eifel | Undo::Either).then(Eifel::default),
            repeats: matches!(detection.undo, Undo::DuplicateSack | Undo::Either).then(Repeats::default),
            reduced: None,
            reduced_at: 0,
        })
    }

    /// The peer tells what it has got beyond a hole.
    pub(crate) fn use_sack(&mut self) {
        self.forward.iter_mut().for_each(ForwardRto::use_sack);
    }

    /// Learns that the window is about to be reduced. A timer that runs out again for the same segment changes nothing: what
    /// counts is the state before the first.
    pub(crate) fn on_reduction(&mut self, reduced: Reduced, scoreboard: &Scoreboard) {
        if let Some(forward) = self.forward.as_mut().filter(|_| reduced.by_timeout) {
            forward.on_timeout(scoreboard);
        }
        let is_repeated = reduced.by_timeout && self.reduced_at == scoreboard.una();
        self.reduced_at = scoreboard.una();
        if self.reduced.is_none() || !is_repeated {
            self.reduced = Some(reduced);
            self.eifel.iter_mut().for_each(Eifel::arm);
            self.repeats.iter_mut().for_each(Repeats::clear);
        }
    }

    /// Learns that a part of the stream is sent again.
    pub(crate) fn on_retransmission(&mut self, now: Instant, span: Span) {
        self.eifel.iter_mut().for_each(|eifel| eifel.on_retransmission(now, span.end));
        if self.reduced.is_some() {
            self.repeats.iter_mut().for_each(|repeats| repeats.add(span));
        }
    }

    /// Returns whether an ACK that acknowledges nothing, and tells of no duplicate, changes nothing.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.forward.as_ref().is_none_or(ForwardRto::is_idle)
    }

    /// Learns that an ACK echoes a mark.
    pub(crate) fn on_congestion_echo(&mut self) {
        self.reduced.iter_mut().for_each(|reduced| reduced.is_marked = true);
    }

    /// Reads an ACK and gives the reduction if it proves needless. `has_new` says whether new data could go.
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgement, scoreboard: &Scoreboard, has_new: bool) -> Option<Reduced> {
        let by_forward = self.forward.as_mut().is_some_and(|forward| forward.on_ack(ack, scoreboard, has_new));
        let by_eifel = self.eifel.as_mut().is_some_and(|eifel| eifel.on_ack(ack, scoreboard.una_position()));
        let by_repeats = self.repeats.as_mut().is_some_and(|repeats| repeats.on_ack(ack));
        if by_forward || by_eifel || by_repeats { self.reduced.take() } else { None }
    }
}
