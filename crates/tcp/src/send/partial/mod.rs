//! Partial reliability: when frames are abandoned, and how the sender answers to what its peer skipped.
//!
//! This part decides; the [send buffer](super::buffer) removes the frames, and the [rate](super::rate) reduces the window.

pub(crate) mod snack;

use self::snack::{Skip, Snack};
use crate::policy::backlog::Backlog;
use crate::real_time::{RealTime, SkipResponse, WriteError};
use crate::send::buffer::AbandonRule;
use earlybird_units::{Duration, Instant};

/// The policies of partial reliability, and the peer's reports.
#[derive(Debug)]
pub(crate) struct PartialReliability {
    policy: RealTime,
    /// Whether a frame is never sent twice; only if the peer may skip what was sent.
    never_retransmits: bool,
    snack: Snack,
}

/// The step that a write of a frame requires first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Nothing.
    Accept,
    /// To abandon the oldest frames, until fewer than so many are held.
    AbandonOldest { limit: u64 },
    /// To abandon frames that are too old.
    AbandonExpired,
}

impl PartialReliability {
    pub(super) fn new(policy: RealTime) -> Self {
        Self { policy, never_retransmits: policy.never_retransmits, snack: Snack::default() }
    }

    /// Returns the peer's reports of what it skipped.
    pub(crate) fn snack(&self) -> &Snack {
        &self.snack
    }

    pub(super) fn snack_mut(&mut self) -> &mut Snack {
        &mut self.snack
    }

    /// Applies the policy for a full send buffer before a write; `held` counts the frames in it.
    pub(super) fn admit(&self, held: u64, cwnd: f64) -> Result<Admission, WriteError> {
        match self.policy.backlog {
            Backlog::Block(limit) if held >= limit.segments(cwnd) => Err(WriteError::Full),
            Backlog::Block(_) => Ok(Admission::Accept),
            Backlog::AbandonOldest(limit) => Ok(Admission::AbandonOldest { limit: limit.segments(cwnd) }),
            Backlog::AbandonPastDeadline(_) | Backlog::AbandonUndeliverable(_) => Ok(Admission::AbandonExpired),
        }
    }

    /// Returns which frames are too old by now.
    pub(super) fn expiry(&self, now: Instant, srtt: Option<Duration>) -> Option<AbandonRule> {
        match self.policy.backlog {
            Backlog::AbandonPastDeadline(deadline) => Some(AbandonRule::WrittenBefore(before(now, deadline))),
            // Frames that were sent may still be in time: they are abandoned only when they would be retransmitted.
            Backlog::AbandonUndeliverable(deadline) => {
                Some(AbandonRule::UnsentWrittenBefore(before(now, latest_send_age(deadline, srtt))))
            }
            Backlog::Block(_) | Backlog::AbandonOldest(_) => None,
        }
    }

    /// Returns whether a frame must not be retransmitted: `written_at` is known where frames that were sent may be abandoned.
    pub(super) fn must_not_retransmit(
        &self,
        now: Instant,
        srtt: Option<Duration>,
        written_at: Option<Instant>,
    ) -> bool {
        if self.never_retransmits {
            return true;
        }
        let Backlog::AbandonUndeliverable(deadline) = self.policy.backlog else { return false };
        written_at.is_some_and(|written| written < before(now, latest_send_age(deadline, srtt)))
    }

    /// Returns the time of writing before which a frame is replaced instead of retransmitted; `None` if none ever is.
    ///
    /// TCP Hollywood, `check_message_liveness`: a message is live if now and half the smoothed round trip do not exceed its
    /// deadline.
    #[inline]
    pub(super) fn replaced_before(&self, now: Instant, srtt: impl FnOnce() -> Option<Duration>) -> Option<Instant> {
        self.policy.replaces_after.map(|deadline| before(now, latest_send_age(deadline, srtt())))
    }

    /// Changes the deadline of frames, if the backlog has one.
    pub(super) fn set_deadline(&mut self, new: Duration) {
        if let Backlog::AbandonPastDeadline(deadline) | Backlog::AbandonUndeliverable(deadline) =
            &mut self.policy.backlog
        {
            *deadline = new;
        }
    }

    /// Sets whether frames that were sent may be abandoned: the peer's reader must be able to skip them.
    pub(super) fn set_may_abandon_sent(&mut self, may: bool) {
        self.never_retransmits &= may;
    }

    /// Returns whether a skip is to reduce the window.
    pub(super) fn reduces_on_skip(&self) -> bool {
        self.policy.skip_response == SkipResponse::Reduce
    }

    /// Returns whether ACKs may grow the window.
    #[inline]
    pub(super) fn may_grow(&self, una: u64) -> bool {
        self.snack.may_grow(una)
    }

    /// Records that the window was reduced for a skip.
    pub(super) fn on_reduced(&mut self, snd_max: u64) {
        self.snack.on_reduced(snd_max);
    }
}

/// A SNACK option with its numbers as stream positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnackReport {
    /// The segments that the peer has skipped in all, modulo 2³².
    pub(crate) total: u32,
    /// The stream position of the first segment of the newest skip; `None` if it cannot be one.
    pub(crate) first: Option<u64>,
    /// The number of segments of the newest skip.
    pub(crate) segments: u64,
    /// The stream position that the same segment acknowledges.
    pub(crate) ack: u64,
}

impl Skip {
    /// Returns whether the skipped segments were lost, and the window was not reduced since they were sent.
    pub(super) fn is_new_loss(self, was_reduced_after: impl FnOnce(u64) -> bool) -> bool {
        self.lost.is_some_and(|lost| !was_reduced_after(lost))
    }
}

/// Returns the age after which a frame that is sent now arrives too late for its deadline.
fn latest_send_age(deadline: Duration, srtt: Option<Duration>) -> Duration {
    // The one-way delay cannot be measured: half a round trip stands for it.
    deadline.saturating_sub(srtt.unwrap_or(Duration::ZERO) / 2)
}

/// Returns the time `span` before `now`.
fn before(now: Instant, span: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()))
}
