//! When duplicate ACKs mean loss: the third one, or an early one that comes late enough.

use crate::scoreboard::age::Age;
use earlybird_units::Duration;

/// The duplicate threshold of RFC 5681 §3.2.
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// Segments in flight from which on a stream is not thin (Linux: `tcp_stream_is_thin`, which also wants a loss to have come
/// before).
pub(crate) const THIN: u64 = 4;

/// Which duplicate ACK means loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The third.
    ThreeDuplicates,
    /// The third, or an earlier one that comes late.
    EarlyRetransmission(AgeReference),
    /// The third, or fewer where fewer are outstanding and nothing new can be sent (Early Retransmit, RFC 5827).
    FewOutstanding,
    /// The third, or the first where fewer than four are outstanding and nothing new can be sent (Linux 2.6.34 to 4.10:
    /// `tcp_thin_dupack`, Documentation/networking/tcp-thin.txt).
    ThinStream,
}

impl Trigger {
    pub(crate) fn build(self) -> LossTrigger {
        match self {
            Self::FewOutstanding => LossTrigger::FewOutstanding,
            Self::ThinStream => LossTrigger::ThinStream,
            Self::ThreeDuplicates => LossTrigger::ThreeDuplicates,
            Self::EarlyRetransmission(reference) => {
                LossTrigger::EarlyRetransmission(EarlyRetransmission::new(reference))
            }
        }
    }
}

/// Decides whether a duplicate ACK outside recovery starts a fast retransmit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LossTrigger {
    /// The rule of three duplicate ACKs (RFC 5681 §3.2).
    ThreeDuplicates,
    /// Early Retransmit for few outstanding segments, counted in segments (RFC 5827 §3.2). Not to be confused with the
    /// papers' [`EarlyRetransmission`], which reads the clock.
    FewOutstanding,
    /// The first duplicate of a thin stream that has no more to send.
    ThinStream,
    EarlyRetransmission(EarlyRetransmission),
}

impl LossTrigger {
    /// Learns an exact round-trip time.
    #[inline]
    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        if let Self::EarlyRetransmission(early) = self {
            early.estimator.on_rtt(rtt);
        }
    }

    /// Returns whether the `count`-th duplicate means that the missing packet is lost.
    pub(crate) fn is_loss(&self, count: u32, age: &Age) -> bool {
        match self {
            Self::ThreeDuplicates | Self::FewOutstanding | Self::ThinStream => count == DUPLICATE_THRESHOLD,
            Self::EarlyRetransmission(early) => early.is_loss(count, age),
        }
    }

    /// Returns how many segments must have arrived after the missing one, with so many outstanding; `has_new` says whether
    /// more could be sent to cause duplicates. Where few are outstanding and no new one can follow, all but the missing one
    /// are enough (RFC 5827 §3.2, 3.a, 3.b), or one is.
    pub(crate) fn duplicates_needed(&self, outstanding: u64, has_new: bool) -> u32 {
        match (self, outstanding) {
            (Self::FewOutstanding, 2 | 3) if !has_new => outstanding as u32 - 1,
            (Self::ThinStream, ..THIN) if !has_new => 1,
            _ => DUPLICATE_THRESHOLD,
        }
    }

    /// Returns the age above which an early duplicate means loss, if there is such a rule.
    pub(crate) fn threshold(&self) -> Option<Duration> {
        if let Self::EarlyRetransmission(early) = self { early.estimator.threshold() } else { None }
    }
}

/// Whose age early retransmission reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgeReference {
    /// The first missing packet.
    #[default]
    Missing,
    /// The last packet received in order.
    LastInOrder,
}

/// Early retransmission: the first or second duplicate counts as the third when the hole is older than one largest
/// round trip plus one smallest (ER thesis, chapter III).
///
/// A packet of the same window returns a duplicate after about one largest round trip; only one sent a round trip
/// later, by limited transmit or a slow writer, returns it later than that.
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
        let is_late = self.estimator.threshold().is_some_and(|threshold| age > threshold);
        count == DUPLICATE_THRESHOLD || (count < DUPLICATE_THRESHOLD && is_late)
    }
}

/// Estimates the largest and smallest round trip: SRTT (gain 1/16) + 2·SVAR (gain 1/4) + `RTTmin` (ER-PERT paper, with the
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
    /// Takes an exact round-trip time.
    #[inline(never)]
    pub fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos() as f64;
        let Some(state) = &mut self.state else {
            self.state = Some(DelayState { smallest: rtt, smoothed: rtt, variation: rtt / 2.0 });
            return;
        };
        state.smallest = state.smallest.min(rtt);
        state.variation = 0.75 * state.variation + 0.25 * (rtt - state.smoothed).abs();
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
        let mut trigger = EarlyRetransmission::new(AgeReference::Missing);
        (0..50).for_each(|_| trigger.estimator.on_rtt(Duration::from_millis(80)));
        let age = Age { missing: Duration::from_millis(159), last_in_order: Duration::from_millis(170) };
        assert!(!trigger.is_loss(1, &age) && !trigger.is_loss(2, &age) && trigger.is_loss(3, &age));
    }

    #[test]
    fn a_packet_as_old_as_the_threshold_is_not_late_yet() {
        let mut trigger = EarlyRetransmission::new(AgeReference::Missing);
        trigger.estimator.on_rtt(Duration::from_millis(80));
        let threshold = trigger.estimator.threshold().expect("a round trip was measured");
        let is_late = |missing| trigger.is_loss(1, &Age { missing, last_in_order: Duration::ZERO });
        assert!(!is_late(threshold) && is_late(threshold + Duration::from_nanos(1)));
    }
}
