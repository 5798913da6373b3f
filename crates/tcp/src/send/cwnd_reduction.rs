//! The congestion window on its way down while losses are repaired.

use super::sender::Sender;
use crate::policy::reduction::{Arrived, ProportionalRate, WindowReduction};
use crate::scoreboard::Acknowledgement;

/// How the window falls, and how far it has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CwndReduction {
    pub(super) rule: WindowReduction,
    /// The reduction under way, if it is not immediate.
    pub(super) proportional: Option<ProportionalRate>,
    /// The loss under repair has reduced the window.
    pub(super) has_reduced: bool,
}

impl CwndReduction {
    pub(super) const fn new(rule: WindowReduction) -> Self {
        Self { rule, proportional: None, has_reduced: true }
    }

    /// The recovery is over.
    #[inline]
    pub(super) const fn end(&mut self) {
        self.proportional = None;
    }
}

impl Sender {
    /// Returns whether the window is on its way down.
    pub(crate) fn is_reducing(&self) -> bool {
        self.reduction.proportional.is_some()
    }

    /// Returns the congestion window: the control's, unless it is on the way down to that.
    pub(crate) fn cwnd(&self) -> f64 {
        self.reduction.proportional.map_or_else(|| self.control.cwnd(), |proportional| proportional.cwnd())
    }

    /// Lets the window go down, or ends that with the recovery. `ack` may be none if a loss was found by time.
    pub(crate) fn reduce(&mut self, ack: &Acknowledgement) {
        if self.reduction.rule == WindowReduction::Immediate {
            return;
        }
        if !self.recovery.is_recovering() {
            self.reduction.end();
            return;
        }
        if !self.reduction.has_reduced {
            return;
        }
        let arrived = Arrived {
            delivered: ack.delivered,
            in_flight: self.recovery.pipe(&self.scoreboard),
            is_safe: ack.bytes > 0 && !self.recovery.found_loss(),
        };
        if let Some(proportional) = &mut self.reduction.proportional {
            proportional.on_ack(&arrived);
        } else {
            let not_sacked = self.scoreboard.outstanding() - self.scoreboard.sacked().total();
            self.reduction.proportional = Some(ProportionalRate::new(self.control.ssthresh(), not_sacked, &arrived));
        }
    }
}
