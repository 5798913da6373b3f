//! How losses are found and repaired: one file per scheme.

pub(crate) mod counting;
pub(crate) mod newreno;
pub(crate) mod reno;
pub(crate) mod rfc6675;
pub(crate) mod sack1;
pub(crate) mod tahoe;
pub(crate) mod vegas;

use crate::policy::trigger::{Age, LossTrigger};
use crate::send::board::{Acknowledgement, Board};
use core::fmt::Debug;
use earlybird_units::{Duration, Instant};
use vegas::VegasStep;

/// What an ACK means for the window and the timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The window moved forward outside recovery: grow.
    Progress,
    /// A hole was repaired, another remains.
    Partial,
    /// The same for a sender without SACK (`NewReno`): the window gives up `surplus` segments, the timer restarts or runs on.
    PartialWithout { surplus: f64, restarts_timer: bool },
    /// All that was outstanding when recovery began is acknowledged.
    Recovered,
    /// The same, and the window gives up `surplus` segments.
    RecoveredWithout { surplus: f64 },
    /// The `duplicates`-th duplicate revealed a loss among `flight` segments: shrink, and retransmit.
    Loss { duplicates: u32, flight: u64 },
    /// A duplicate that changes nothing yet; counted if it brought news outside recovery.
    Duplicate { counted: Option<u32> },
    /// What only Vegas' agent does.
    Vegas(VegasStep),
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

/// One ACK, with what is known when it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) now: Instant,
    /// What it changed on the board.
    pub(crate) ack: &'a Acknowledgement,
    /// The bounds before it.
    pub(crate) limits: &'a Limits,
    /// Which duplicate means loss.
    pub(crate) trigger: &'a dyn LossTrigger,
    /// How old the packets around the first hole are.
    pub(crate) age: &'a Age,
}

/// Finds losses and decides what to send next.
pub(crate) trait LossRecovery: Debug + Send {
    /// Says whether [`Board::delivered`] must list the segments that each ACK delivered.
    fn wants_delivered(&self) -> bool {
        false
    }
    /// Says whether it can do nothing with a peer that sends no SACK blocks.
    fn needs_sack(&self) -> bool {
        false
    }
    /// Learns when the handshake was done, and how long its last attempt took.
    fn on_opened(&mut self, _now: Instant, _rtt: Duration) {}
    /// Reads one ACK, already entered into the board.
    fn on_ack(&mut self, arrival: &Arrival<'_>, board: &mut Board) -> Outcome;
    /// Learns that the application wrote.
    fn on_write(&mut self) {}
    /// Starts over after the retransmission timer ran out.
    fn on_timeout(&mut self, board: &mut Board);
    /// Gives the number of the segment to send now: one sent before, or `board.smax()` for a new one.
    ///
    /// `limits` already hold the reduced window when recovery has just begun.
    fn next(&mut self, board: &Board, limits: &Limits) -> Option<u64>;
    /// Learns that `number` was sent.
    fn on_sent(&mut self, now: Instant, number: u64, board: &Board);
    /// Gives the time at which to call [`Self::on_deadline`], beside the retransmission timer.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// Acts on the deadline: a loss found by time, or a probe.
    fn on_deadline(&mut self, _now: Instant, _board: &mut Board, _limits: &Limits) -> Outcome {
        Outcome::Nothing
    }
    /// Shows the segments that count as lost and were not sent again since, the same ones at every call: after a timeout
    /// everything that is still to be sent again.
    fn visit_lost(&self, board: &Board, visit: &mut dyn FnMut(u64)) {
        (board.nxt()..board.smax()).filter(|number| !board.sacked().contains(*number)).for_each(visit);
    }
    /// Says whether a recovery is under way.
    fn is_recovering(&self) -> bool;
}
