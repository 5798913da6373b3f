//! How losses are found and repaired: one file per scheme.

pub(crate) mod choice;
pub(crate) mod dupack_common;
pub(crate) mod newreno;
pub(crate) mod rack;
pub(crate) mod reno;
pub(crate) mod rfc6675;
pub(crate) mod sack1;
pub(crate) mod scheme;
pub(crate) mod tahoe;
pub(crate) mod vegas;

use crate::policy::control::Missing;
use crate::policy::dupthresh::{DUP_THRESH, DupthreshDetector};
use crate::scoreboard::{Acknowledgement, Scoreboard};
use core::fmt::Debug;
use earlybird_units::{Duration, Instant};

/// The meaning of an ACK for the window and the timer.
///
/// Most schemes need six of these. `ProbeRepaired` serves RACK-TLP, and three serve ns-2's Vegas, which does the usual steps in an
/// order of its own: they cannot be expressed by the others without changing a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The cumulative ACK advanced outside recovery: the window grows.
    Progress,
    /// The first hole was repaired, and another remains. `NewReno`: the window gives back `surplus` segments.
    Partial { surplus: f64, timer: PartialTimer },
    /// All that was outstanding when recovery began is acknowledged. `NewReno` of the RFCs: the window gives back `surplus`
    /// segments against a burst.
    Recovered { surplus: f64 },
    /// The `duplicates`-th duplicate, or its age if 0, revealed a loss among `flight` segments: the window is reduced.
    Loss { duplicates: u32, flight: u64 },
    /// A duplicate that changes nothing yet; counted if it brought news outside recovery.
    Duplicate { counted: Option<u32> },
    /// RACK-TLP: a probe has repaired a loss among `flight` segments already (RFC 8985 §7.4): the window is reduced.
    ProbeRepaired { flight: u64 },
    /// Vegas: [`Self::Progress`] with the round trip of its own clock; the inflation ends before the round trip is measured.
    VegasProgress(VegasProgress),
    /// Vegas: a duplicate after a loss inflates the window, as ns-2's agent does; the schemes of Reno keep the inflation apart.
    VegasInflate,
    /// Vegas: [`Self::Loss`] by its own clock, after which the retransmission timer backs off.
    VegasLoss(Missing),
    /// The ACK changes nothing.
    Nothing,
}

impl Outcome {
    /// A repaired hole of a scheme with SACK: the window needs no deflation, and the next timer runs without back-off.
    pub(crate) const PARTIAL: Self = Self::Partial { surplus: 0.0, timer: PartialTimer::RestartAndEndBackOff };
    /// The end of recovery of a scheme that leaves the window as it is.
    pub(crate) const RECOVERED: Self = Self::Recovered { surplus: 0.0 };
}

/// The effect of a partial ACK on the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialTimer {
    /// It runs on (the "impatient" variant of RFC 6582 §4, after the first partial ACK).
    Continue,
    /// It is restarted.
    Restart,
    /// It is restarted, and the next one has no back-off.
    RestartAndEndBackOff,
}

/// Progress of ns-2's Vegas after so many `duplicates`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VegasProgress {
    pub(crate) duplicates: u32,
    /// The next segment to send.
    pub(crate) nxt: u64,
    /// The round trip that the scheme measured.
    pub(crate) rtt: Option<Duration>,
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
    /// Returns the usable window in whole segments.
    #[inline]
    pub(crate) fn usable(&self) -> u64 {
        // Through `i64`: that conversion is shorter than the one to `u64`, and windows are never negative.
        (self.cwnd as i64 as u64).min(self.wnd)
    }

    /// Returns whether [`Self::usable`] is more than this: without the conversion, which has to think of all numbers.
    #[inline]
    pub(crate) fn has_room_beside(&self, in_flight: u64) -> bool {
        in_flight < self.wnd && (in_flight + 1).cast_signed() as f64 <= self.cwnd
    }
}

/// One ACK, with what is known when it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) now: Instant,
    /// What it changed on the scoreboard.
    pub(crate) ack: &'a Acknowledgement,
    /// The bounds before it.
    pub(crate) limits: &'a Limits,
    /// Which duplicate means loss.
    pub(crate) trigger: &'a DupthreshDetector,
}

impl Arrival<'_> {
    /// Returns whether the `count`-th duplicate means loss. What SACK says arrived counts, too, where fewer than three are
    /// enough (RFC 5827 §3.2).
    pub(crate) fn is_loss(&self, count: u32, scoreboard: &Scoreboard) -> bool {
        let needed = self.trigger.dupthresh(scoreboard.outstanding(), self.limits.has_new);
        let arrived = u64::from(count).max(scoreboard.sacked().total());
        self.trigger.is_loss(count, &scoreboard.age(self.now)) || (needed < DUP_THRESH && arrived >= u64::from(needed))
    }
}

/// What the retransmission timer knows, for a recovery with a timer of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) smoothed_rtt: Option<Duration>,
    /// When the retransmission timer runs out; [`Instant::NEVER`] while it stands still.
    pub(crate) timeout_at: Instant,
}

/// Finds losses and decides what to send next.
pub(crate) trait LossRecovery: Debug + Send {
    /// Returns whether it can do nothing with a peer that sends no SACK blocks.
    fn needs_sack(&self) -> bool {
        false
    }
    /// Learns when the handshake was done, and how long its last attempt took.
    fn on_opened(&mut self, _now: Instant, _rtt: Duration) {}
    /// Reads one ACK, already entered into the scoreboard.
    fn on_ack(&mut self, arrival: &Arrival<'_>, scoreboard: &mut Scoreboard) -> Outcome;
    /// Returns whether an ACK that moves the window forward, with nothing `SACKed` and nothing else to tell, would be nothing but
    /// [`Outcome::Progress`] – one that finds losses by time may take [`Scoreboard::is_in_order`] for granted –: then
    /// [`Self::on_plain_progress`] may read it in place of [`Self::on_ack`].
    fn is_open(&self) -> bool {
        false
    }
    /// Reads such an ACK, of all segments from number `before` on. [`Scoreboard::delivered`] does not list them.
    fn on_plain_progress(&mut self, _now: Instant, _before: u64, _rtt: Option<Duration>, _board: &mut Scoreboard) {}
    /// Learns that the application wrote.
    fn on_write(&mut self) {}
    /// Starts over after the retransmission timer ran out.
    fn on_timeout(&mut self, now: Instant, scoreboard: &mut Scoreboard);
    /// Lets everything outstanding go again although nothing was lost: [`Scoreboard::nxt`] is at its beginning.
    fn repeat_all(&mut self, _board: &Scoreboard) {}
    /// Returns the number of the segment to send now: one sent before, or `scoreboard.smax()` for a new one.
    ///
    /// `limits` already hold the reduced window when recovery has just begun.
    fn next(&mut self, scoreboard: &Scoreboard, limits: &Limits) -> Option<u64>;
    /// Learns that `number` was sent: the scoreboard has a note of it, and [`Scoreboard::nxt`] goes past it only then.
    fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard);
    /// Learns that `number`, which it has just given, is passed over: its owner has given it up. It counts as sent.
    fn pass_over(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        self.on_sent(now, number, scoreboard);
    }
    /// Goes on repairing after a timeout: new data were sent in between.
    fn resume(&mut self, scoreboard: &mut Scoreboard) {
        scoreboard.rewind_nxt();
    }
    /// Stops repairing: nothing was lost. Whatever turns out to be lost later starts a new recovery. Those beside which no
    /// needless retransmission is looked for ([`Config::check`](crate::Config::check)) are never told.
    fn call_off(&mut self, _board: &mut Scoreboard) {}
    /// Shows the segments that count as lost and were not sent again since, the same ones at every call: after a timeout
    /// everything that is still to be sent again.
    fn visit_lost(&self, scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        (scoreboard.nxt()..scoreboard.smax()).filter(|number| !scoreboard.sacked().contains(*number)).for_each(visit);
    }
    /// Returns the estimate of the segments in the network.
    fn pipe(&self, scoreboard: &Scoreboard) -> u64 {
        scoreboard.outstanding()
    }
    /// Returns whether the last ACK told of a loss not known before.
    fn found_loss(&self) -> bool {
        false
    }
    /// Returns whether a recovery is under way.
    fn is_recovering(&self) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_beside_what_is_less_than_the_usable_window() {
        for cwnd in [0.0, 0.5, 1.0, 1.999, 2.0, 7.25, 1e12] {
            for wnd in [0, 1, 3, 20] {
                let limits = Limits { cwnd, wnd, has_new: true };
                let has_room = |in_flight: &u64| limits.has_room_beside(*in_flight);
                assert_eq!((0..25).filter(has_room).count() as u64, limits.usable(), "{cwnd} and {wnd}");
            }
        }
    }
}
