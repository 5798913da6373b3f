//! Undo of spurious losses (draft-ietf-ccwg-bbr, "Updating the Model Upon Detecting a Spurious Loss Recovery").

use super::arithmetic::Bounds;
use super::{Bbr, RecoveryPhase, State};

/// The state before losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The state that the losses ended, if any (`BBR.undo_state`).
    pub(super) state: Option<State>,
    bw: f64,
    inflight: f64,
    long_term: f64,
}

impl Bbr {
    /// `SaveStateUponLoss`.
    pub(super) fn save_state(&mut self) {
        self.save_cwnd();
        let (bw, inflight) = (self.short_term.bw, self.short_term.inflight);
        self.undo = Undo { state: None, bw, inflight, long_term: self.probing.inflight };
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn undo_losses(&mut self) {
        self.recovery = RecoveryPhase::None;
        self.restore_cwnd();
        self.short_term.is_loss_in_round = false;
        // The plateau was measured with a reduced rate.
        self.full_pipe.restart(0.0);
        self.short_term.bw = self.short_term.bw.at_least(self.undo.bw);
        self.short_term.inflight = self.short_term.inflight.at_least(self.undo.inflight);
        self.probing.inflight = self.probing.inflight.at_least(self.undo.long_term);
        self.restore_state();
    }

    /// Restores the state that the losses ended; an RTT probe continues.
    fn restore_state(&mut self) {
        let Some(ended) = self.undo.state.take().filter(|ended| *ended != self.state) else { return };
        // ProbeRTT ends by itself and then enters the right state.
        let is_interruptible = self.state != State::ProbeRtt;
        if ended == State::Startup {
            self.full_pipe.was_reached = false;
            self.state = if is_interruptible { State::Startup } else { self.state };
        } else if is_interruptible {
            self.start_refill();
        }
    }
}
