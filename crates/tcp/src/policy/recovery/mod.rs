//! How losses are found and repaired: one file per scheme.

pub(crate) mod rfc6675;
pub(crate) mod sack1;

use crate::policy::trigger::{Age, LossTrigger};
use crate::send::board::{Acknowledgement, Board};
use core::fmt::Debug;

/// What an ACK means for the window and the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The window moved forward outside recovery: grow.
    Progress,
    /// A hole was repaired, another remains.
    Partial,
    /// All that was outstanding when recovery began is acknowledged.
    Recovered,
    /// The `duplicates`-th duplicate revealed a loss among `flight` segments: shrink, and retransmit.
    Loss { duplicates: u32, flight: u64 },
    /// A duplicate that changes nothing yet; counted if it brought news outside recovery.
    Duplicate { counted: Option<u32> },
    /// Nothing new.
    Nothing,
}

/// The bounds of what may be sent now, in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The congestion window.
    pub(crate) cwnd: f64,
    /// The receiver's window.
    pub(crate) wnd: u64,
    /// Whether a new segment could be cut now: data are waiting and the receiver's window has room.
    pub(crate) has_new: bool,
}

impl Limits {
    /// Gives the usable window in whole segments.
    pub(crate) fn usable(&self) -> u64 {
        // Through `i64`: the conversion is one instruction, and windows are never negative.
        (self.cwnd as i64 as u64).min(self.wnd)
    }
}

/// Finds losses and decides what to send next.
pub(crate) trait LossRecovery: Debug + Send {
    /// Reads one ACK, already entered into the board.
    fn on_ack(
        &mut self,
        ack: &Acknowledgement,
        board: &mut Board,
        limits: &Limits,
        trigger: &dyn LossTrigger,
        age: &Age,
    ) -> Outcome;
    /// Learns that the application wrote.
    fn on_write(&mut self) {}
    /// Starts over after the retransmission timer ran out.
    fn on_timeout(&mut self, board: &mut Board);
    /// Gives the number of the segment to send now: one sent before, or `board.smax()` for a new one.
    ///
    /// `limits` already hold the reduced window when recovery has just begun.
    fn next(&mut self, board: &Board, limits: &Limits) -> Option<u64>;
    /// Learns that `number` was sent.
    fn on_sent(&mut self, number: u64, board: &Board);
    /// Says whether a recovery is under way.
    fn is_recovering(&self) -> bool;
}
