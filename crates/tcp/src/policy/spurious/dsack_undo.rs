//! Spurious retransmissions by DSACK (RFC 3708 §3): the reduction was spurious if every retransmission is reported as a duplicate.

use crate::scoreboard::{Acknowledgement, Span};
use alloc::vec::Vec;

#[derive(Clone, Debug, Default)]
pub(super) struct DsackUndo {
    /// Retransmissions since the reduction that were not reported as duplicates.
    spans: Vec<Span>,
}

impl DsackUndo {
    pub(super) fn clear(&mut self) {
        self.spans.clear();
    }

    pub(super) fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// Returns whether the DSACK of this ACK is the last one missing.
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement) -> bool {
        let index = |duplicate| self.spans.iter().position(|span| *span == duplicate);
        let Some(index) = ack.duplicate.and_then(index) else {
            return false;
        };
        // The order does not matter: DSACKs may arrive in any order.
        self.spans.swap_remove(index);
        self.spans.is_empty()
    }
}
