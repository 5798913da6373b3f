//! Loss recovery: one file per scheme.

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
    /// The first hole was repaired, and another remains. `NewReno`: the window is deflated by `surplus` segments.
    Partial { surplus: f64, timer: PartialTimer },
    /// All that was outstanding when recovery began is acknowledged. `NewReno` of the RFCs: the window is deflated by `surplus`
    /// segments, to avoid a burst.
    Recovered { surplus: f64 },
    /// The `duplicates`-th duplicate, or its age if 0, revealed a loss among `flight` segments: the window is reduced. The
    /// cumulative ACK may have advanced as well.
    Loss { duplicates: u32, flight: u64 },
    /// A duplicate that changes nothing yet; counted if it reports newly delivered data outside recovery.
    Duplicate { counted: Option<u32> },
    /// RACK-TLP: a probe has repaired a loss among `flight` segments already (RFC 8985 §7.4): the window is reduced.
    ProbeRepaired { flight: u64 },
    /// Vegas: [`Self::Progress`] with the round trip of its own clock; the inflation ends before the round trip is measured.
    VegasProgress(VegasProgress),
    /// Vegas: a duplicate after a loss inflates the window, as ns-2's agent does; the schemes of Reno keep the inflation apart.
    VegasInflate,
    /// Vegas: [`Self::Loss`] by its own clock, after which the retransmission timer backs off.
    VegasLoss(LostSegmentInfo),
    /// The ACK changes nothing.
    Nothing,
}

impl Outcome {
    /// A repaired hole of a scheme with SACK: the window needs no deflation, and the next timer runs without back-off.
    pub(crate) const PARTIAL: Self = Self::Partial { surplus: 0.0, timer: PartialTimer::RestartAndEndBackOff };
    /// The end of recovery of a scheme that leaves the window as it is.
    pub(crate) const RECOVERED: Self = Self::Recovered { surplus: 0.0 };
}

/// A lost segment, as a recovery found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostSegmentInfo {
    /// The number of duplicate ACKs that revealed it; 0 if time did.
    pub duplicates: u32,
    /// The number of its transmissions.
    pub transmissions: u32,
    /// The time of its last transmission; `None` if the recovery does not record it.
    pub sent: Option<Instant>,
}

/// The effect of a partial ACK on the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialTimer {
    /// The timer is not restarted (the "impatient" variant of RFC 6582 §4, after the first partial ACK).
    Continue,
    /// The timer is restarted.
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
pub(crate) struct SendAllowance {
    /// The congestion window.
    pub(crate) cwnd: f64,
    /// The receiver's window.
    pub(crate) wnd: u64,
    /// Whether a new segment could be sent: there is unsent data, and the receiver's window has space.
    pub(crate) has_new: bool,
}

impl SendAllowance {
    /// Returns the usable window in whole segments.
    #[inline]
    pub(crate) fn usable(&self) -> u64 {
        // Through `i64`: that conversion is shorter than the one to `u64`, and windows are never negative.
        (self.cwnd as i64 as u64).min(self.wnd)
    }

    /// Returns whether [`Self::usable`] exceeds `in_flight`, without the conversion of `cwnd` to an integer, which is slow.
    #[inline]
    pub(crate) fn has_room_after(&self, in_flight: u64) -> bool {
        in_flight < self.wnd && (in_flight + 1).cast_signed() as f64 <= self.cwnd
    }
}

/// An ACK and its context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInput<'a> {
    pub(crate) now: Instant,
    /// Its changes to the scoreboard.
    pub(crate) ack: &'a Acknowledgement,
    /// The limits before it.
    pub(crate) allowance: &'a SendAllowance,
    /// Which duplicate indicates loss.
    pub(crate) dupthresh: &'a DupthreshDetector,
}

impl AckInput<'_> {
    /// Returns whether the `count`-th duplicate indicates loss. If fewer than three are enough, `SACKed` segments count too (RFC 5827
    /// §3.2).
    pub(crate) fn is_loss(&self, count: u32, scoreboard: &Scoreboard) -> bool {
        let needed = self.dupthresh.dupthresh(scoreboard.outstanding(), self.allowance.has_new);
        // RFC 5827 §3.2: SACK may report more arrived segments than duplicate ACKs have arrived.
        let arrived = u64::from(count).max(scoreboard.sacked().total());
        self.dupthresh.is_loss(count, &scoreboard.age(self.now))
            || (needed < DUP_THRESH && arrived >= u64::from(needed))
    }
}

/// The state of the retransmission timer, for a scheme with a timer of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) smoothed_rtt: Option<Duration>,
    /// The expiry of the retransmission timer; [`Instant::NEVER`] while it is stopped.
    pub(crate) timeout_at: Instant,
}

/// Detects losses and selects the next segment.
pub(crate) trait LossRecovery: Debug + Send {
    /// Returns whether it needs a peer that sends SACK blocks.
    fn needs_sack(&self) -> bool {
        false
    }
    /// Processes the end of the handshake; `rtt` is that of its last attempt.
    fn on_opened(&mut self, _now: Instant, _rtt: Duration) {}
    /// Processes an ACK, which the scoreboard has already recorded.
    fn on_ack(&mut self, input: &AckInput<'_>, scoreboard: &mut Scoreboard) -> Outcome;
    /// Returns whether an ACK of new data without SACK blocks or other information results in [`Outcome::Progress`]; then
    /// [`Self::on_plain_progress`] may process it instead of [`Self::on_ack`]. A scheme that detects losses by time may assume
    /// [`Scoreboard::is_in_order`].
    fn is_open(&self) -> bool {
        false
    }
    /// Processes such an ACK, of the segments from number `before` on. [`Scoreboard::delivered`] does not list them.
    fn on_plain_progress(&mut self, _now: Instant, _before: u64, _rtt: Option<Duration>, _scoreboard: &mut Scoreboard) {
    }
    /// Processes a write of the application.
    fn on_write(&mut self) {}
    /// Processes a retransmission timeout.
    fn on_timeout(&mut self, now: Instant, scoreboard: &mut Scoreboard);
    /// Schedules a retransmission of everything outstanding without a loss; [`Scoreboard::nxt`] is at SND.UNA.
    fn retransmit_all(&mut self, _scoreboard: &Scoreboard) {}
    /// Returns the number of the segment to send now: a retransmission, or `scoreboard.snd_max()` for a new one.
    ///
    /// At the start of recovery `allowance` has the reduced window already.
    fn next(&mut self, scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64>;
    /// Processes the transmission of `number`, which the scoreboard has recorded. [`Scoreboard::nxt`] advances after this call.
    fn on_sent(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard);
    /// Processes that `number`, which [`Self::next`] has just returned, is not sent because it was abandoned. It counts as sent.
    fn skip_abandoned(&mut self, now: Instant, number: u64, scoreboard: &Scoreboard) {
        self.on_sent(now, number, scoreboard);
    }
    /// Continues recovery after a timeout, after new data was sent for F-RTO.
    fn resume(&mut self, scoreboard: &mut Scoreboard) {
        scoreboard.rewind_nxt();
    }
    /// Aborts recovery: it was spurious. A later loss starts a new one. Never called for schemes for which
    /// [`Config::check`](crate::Config::check) allows no undo.
    fn abort_recovery(&mut self, _scoreboard: &mut Scoreboard) {}
    /// Visits the segments that are lost and not retransmitted since; repeated calls visit the same ones. After a timeout these are
    /// all that are still to be retransmitted.
    fn visit_lost(&self, scoreboard: &Scoreboard, visit: &mut dyn FnMut(u64)) {
        (scoreboard.nxt()..scoreboard.snd_max())
            .filter(|number| !scoreboard.sacked().contains(*number))
            .for_each(visit);
    }
    /// Returns the estimated number of segments in flight (`pipe`).
    fn pipe(&self, scoreboard: &Scoreboard) -> u64 {
        scoreboard.outstanding()
    }
    /// Returns whether the last ACK revealed a new loss.
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
                let allowance = SendAllowance { cwnd, wnd, has_new: true };
                let has_room = |in_flight: &u64| allowance.has_room_after(*in_flight);
                assert_eq!((0..25).filter(has_room).count() as u64, allowance.usable(), "{cwnd} and {wnd}");
            }
        }
    }
}
