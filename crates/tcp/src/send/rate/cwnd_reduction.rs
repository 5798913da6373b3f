//! The congestion window while losses are repaired: reduced at once, or in proportion to what arrives (PRR).

use crate::policy::reduction::{ProportionalRate, PrrAck, WindowReduction};

/// The reduction rule, and the state of a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct CwndReduction {
    rule: WindowReduction,
    /// The reduction under way, if it is not immediate.
    proportional: Option<ProportionalRate>,
    /// Whether the loss under repair has reduced the window.
    has_reduced: bool,
}

impl CwndReduction {
    pub(super) const fn new(rule: WindowReduction) -> Self {
        Self { rule, proportional: None, has_reduced: true }
    }

    /// Returns whether the window falls to its new size at once.
    #[inline]
    pub(super) fn is_immediate(&self) -> bool {
        self.rule == WindowReduction::Immediate
    }

    /// Returns the window of the reduction under way.
    #[inline]
    pub(super) fn cwnd(&self) -> Option<f64> {
        self.proportional.map(|proportional| proportional.cwnd())
    }

    /// Records a loss, which may have reduced the window: a new reduction begins with the next ACK.
    pub(super) const fn on_loss(&mut self, has_reduced: bool) {
        self.has_reduced = has_reduced;
        self.proportional = None;
    }

    /// Records that a segment is sent.
    pub(super) fn on_sent(&mut self) {
        if let Some(proportional) = &mut self.proportional {
            proportional.on_sent();
        }
    }

    /// Reads an ACK during recovery. `not_sacked` counts the outstanding segments that are not `SACKed`.
    pub(super) fn on_ack(&mut self, arrived: &PrrAck, not_sacked: u64, ssthresh: f64) {
        // A window that a mark has reduced already is not reduced again for losses of the same round trip.
        if !self.has_reduced {
            return;
        }
        match &mut self.proportional {
            Some(proportional) => proportional.on_ack(arrived),
            None => self.proportional = Some(ProportionalRate::new(ssthresh, not_sacked, arrived)),
        }
    }

    /// Ends the reduction.
    #[inline]
    pub(super) const fn end(&mut self) {
        self.proportional = None;
    }
}
