//! Needless retransmissions told by DSACKs (RFC 3708 §3): all of them, if every one arrived a second time.

use crate::scoreboard::{Acknowledgement, Span};
use alloc::vec::Vec;

#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// What was sent again since the reduction and did not arrive twice, as far as is known.
    spans: Vec<Span>,
}

impl Repeats {
    pub(super) fn clear(&mut self) {
        self.spans.clear();
    }

    pub(super) fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// Returns whether this ACK's DSACK completes them.
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement) -> bool {
        let place = |duplicate| self.spans.iter().position(|span| *span == duplicate);
        let Some(place) = ack.duplicate.and_then(place) else {
            return false;
        };
        self.spans.swap_remove(place);
        self.spans.is_empty()
    }
}
