//! The duplicate ACK that indicates loss: the third, or an earlier one that arrives late.

use crate::scoreboard::age::Age;
use earlybird_units::Duration;

/// The duplicate threshold of RFC 5681 §3.2.
pub(crate) const DUP_THRESH: u32 = 3;

/// The least flight of a stream that is not thin (Linux: `tcp_stream_is_thin`, which also requires an earlier loss).
pub(crate) const THIN_STREAM: u64 = 4;

/// Which duplicate ACK indicates loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dupthresh {
    /// The third.
    ThreeDuplicates,
    /// The third, or an earlier one that arrives late.
    EarlyRetransmission(AgeReference),
    /// The third, or fewer where fewer are outstanding and nothing new can be sent (Early Retransmit, RFC 5827).
    FewOutstanding,
    /// The third, or the first where fewer than four are outstanding and nothing new can be sent (Linux 2.6.34 to 4.10:
    /// `tcp_thin_dupack`, Documentation/networking/tcp-thin.txt).
    ThinStream,
}

impl Dupthresh {
    pub(crate) fn build(self) -> DupthreshDetector {
        match self {
            Self::FewOutstanding => DupthreshDetector::FewOutstanding,
            Self::ThinStream => DupthreshDetector::ThinStream,
            Self::ThreeDuplicates => DupthreshDetector::ThreeDuplicates,
            Self::EarlyRetransmission(reference) => {
                DupthreshDetector::EarlyRetransmission(EarlyRetransmission::new(reference))
            }
        }
    }
}

/// Decides whether a duplicate ACK outside recovery starts a fast retransmit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DupthreshDetector {
    /// The rule of three duplicate ACKs (RFC 5681 §3.2).
    ThreeDuplicates,
    /// Early Retransmit for few outstanding segments, counted in segments (RFC 5827 §3.2). Not to be confused with the
    /// papers' [`EarlyRetransmission`], which reads the clock.
    FewOutstanding,
    /// The first duplicate of a thin stream that has no more to send.
    ThinStream,
    EarlyRetransmission(EarlyRetransmission),
}

impl DupthreshDetector {
    /// Processes an exact RTT sample.
    #[inline]
    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        if let Self::EarlyRetransmission(early) = self {
            early.estimator.on_rtt(rtt);
        }
    }

    /// Returns whether the `count`-th duplicate indicates that the missing packet is lost.
    pub(crate) fn is_loss(&self, count: u32, age: &Age) -> bool {
        match self {
            Self::ThreeDuplicates | Self::FewOutstanding | Self::ThinStream => count == DUP_THRESH,
            Self::EarlyRetransmission(early) => early.is_loss(count, age),
        }
    }

    /// Returns the number of segments that must have arrived after the missing one if `outstanding` segments are outstanding. With
    /// `has_new` more can be sent to cause duplicates. Without, fewer are enough: all but the missing one (RFC 5827 §3.2, 3.a,
    /// 3.b), or one for a thin stream.
    pub(crate) fn dupthresh(&self, outstanding: u64, has_new: bool) -> u32 {
        match (self, outstanding) {
            // RFC 5827 §3.2 is for fewer than four, as four cause three duplicates; one segment causes none.
            (Self::FewOutstanding, 2 | 3) if !has_new => outstanding as u32 - 1,
            (Self::ThinStream, ..THIN_STREAM) if !has_new => 1,
            _ => DUP_THRESH,
        }
    }

    /// Returns the age above which an early duplicate indicates loss, if there is such a rule.
    pub(crate) fn threshold(&self) -> Option<Duration> {
        if let Self::EarlyRetransmission(early) = self { early.estimator.threshold() } else { None }
    }
}

/// The packet whose age early retransmission uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgeReference {
    /// The first missing packet.
    #[default]
    Missing,
    /// The last packet received in order.
    LastInOrder,
}

/// Early retransmission: the first or second duplicate counts as the third if the hole is older than the largest RTT plus the
/// smallest (ER thesis, chapter III).
///
/// A packet of the same window causes a duplicate after at most the largest RTT. Only a packet that was sent an RTT later, by
/// limited transmit or a slow application, causes one after that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EarlyRetransmission {
    estimator: DelayEstimator,
    reference: AgeReference,
}

impl EarlyRetransmission {
    pub(crate) fn new(reference: AgeReference) -> Self {
        Self { estimator: DelayEstimator::default(), reference }
    }

    fn is_loss(&self, count: u32, age: &Age) -> bool {
        let age = match self.reference {
            AgeReference::Missing => age.missing,
            AgeReference::LastInOrder => age.last_in_order,
        };
        // Strictly older: at the threshold queueing can still explain the delay.
        let is_late = self.estimator.threshold().is_some_and(|threshold| age > threshold);
        // The third duplicate always counts; later ones belong to the same loss event.
        count == DUP_THRESH || (count < DUP_THRESH && is_late)
    }
}

/// Estimates the largest plus the smallest RTT: SRTT (gain 1/16) + 2·SVAR (gain 1/4) + `RTTmin` (ER-PERT paper, with the
/// variance taken from the sample and started as RFC 6298 does).
#[derive(Clone, Copy, Debug, Default)]
pub struct DelayEstimator {
    state: Option<DelayState>,
}

#[derive(Clone, Copy, Debug)]
struct DelayState {
    smallest: f64,
    smoothed: f64,
    variation: f64,
}

impl DelayEstimator {
    /// Processes an exact RTT sample.
    #[inline(never)]
    pub fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos() as f64;
        let Some(state) = &mut self.state else {
            self.state = Some(DelayState { smallest: rtt, smoothed: rtt, variation: rtt / 2.0 });
            return;
        };
        state.smallest = state.smallest.min(rtt);
        // The deviation from the old average, before that is updated (RFC 6298 §2.3).
        state.variation = 0.75 * state.variation + 0.25 * (rtt - state.smoothed).abs();
        // Gain 1/16 instead of RFC 6298's 1/8: the estimate must not follow single queueing peaks (ER-PERT paper).
        state.smoothed = (15.0 * state.smoothed + rtt) / 16.0;
    }

    /// Returns the age above which a duplicate ACK is late; `None` before the first sample.
    pub fn threshold(&self) -> Option<Duration> {
        self.state.map(|state| Duration::from_nanos((state.smoothed + 2.0 * state.variation + state.smallest) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn v4_samples_50_70_70_60_50_50_ms_give_150_148_750_147_422_140_435_132_317_126_104_ms() {
        let mut estimator = DelayEstimator::default();
        let thresholds: Vec<u64> = [50, 70, 70, 60, 50, 50]
            .map(|sample| {
                estimator.on_rtt(Duration::from_millis(sample));
                (estimator.threshold().unwrap().as_nanos() + 500) / 1_000
            })
            .into();
        assert_eq!(thresholds, [150_000, 148_750, 147_422, 140_435, 132_317, 126_104]);
        conforms(
            Area::Recovery,
            "early retransmission",
            "own computation by the ER papers' rule",
            "threshold after six samples (V4)",
            "6 of 6 to 1 µs",
        );
    }

    #[test]
    fn a_single_packet_reordered_by_less_than_the_threshold_is_not_retransmitted() {
        let mut early = EarlyRetransmission::new(AgeReference::Missing);
        (0..50).for_each(|_| early.estimator.on_rtt(Duration::from_millis(80)));
        let age = Age { missing: Duration::from_millis(159), last_in_order: Duration::from_millis(170) };
        assert!(!early.is_loss(1, &age) && !early.is_loss(2, &age) && early.is_loss(3, &age));
    }

    #[test]
    fn a_packet_as_old_as_the_threshold_is_not_late_yet() {
        let mut early = EarlyRetransmission::new(AgeReference::Missing);
        early.estimator.on_rtt(Duration::from_millis(80));
        let threshold = early.estimator.threshold().expect("a round trip was measured");
        let is_late = |missing| early.is_loss(1, &Age { missing, last_in_order: Duration::ZERO });
        assert!(!is_late(threshold) && is_late(threshold + Duration::from_nanos(1)));
    }
}
