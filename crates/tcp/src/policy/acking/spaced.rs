//! ACKs that keep their distance ([`super::Acking::Spaced`]).

use super::AckDue;
use earlybird_units::{Duration, Instant};

/// A pause between segments after which none is held back for the next: some packets of 1316 bytes at 4 Mb/s.
const REST: Duration = Duration::from_millis(5);

/// What is remembered of the last ones.
#[derive(Clone, Debug)]
pub(crate) struct Spaced {
    least: Duration,
    most: Duration,
    /// When the last ACK left.
    told_at: Instant,
    /// When the last segment came.
    arrived_at: Instant,
    /// A hole was told once.
    has_told_hole: bool,
}

impl Spaced {
    pub(crate) fn new(least: Duration, most: Duration) -> Self {
        Self { least, most, told_at: Instant::ZERO, arrived_at: Instant::ZERO, has_told_hole: false }
    }

    /// Decides after an arrival in order, or one whose ACK [`Self::keeps_spacing`].
    pub(crate) fn on_data(&mut self, now: Instant, due: AckDue, srtt: Option<Duration>) -> AckDue {
        let gap = srtt.map_or(self.least, |srtt| (srtt / 4).clamp(self.least, self.most));
        let arrived_at = core::mem::replace(&mut self.arrived_at, now);
        match due {
            AckDue::Now => AckDue::Now,
            _ if now - arrived_at > REST || now - self.told_at >= gap => AckDue::Now,
            _ => AckDue::By((self.told_at + gap).min(now + REST)),
        }
    }

    /// Returns whether the ACK of a segment that was stored does, though something is missing.
    pub(crate) fn keeps_spacing(&mut self, now: Instant, opens_hole: bool) -> bool {
        let tells_hole = opens_hole || self.has_told_hole;
        self.has_told_hole = opens_hole;
        if tells_hole {
            self.arrived_at = now;
        }
        !tells_hole
    }

    /// A segment leaves, and the ACK with it.
    pub(crate) fn on_sent(&mut self, now: Instant) {
        self.told_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// What is decided at `millis`, where the last segment came at `arrived` and the last ACK left at 100 ms.
    fn due_at(spaced: &Spaced, (millis, arrived): (u64, u64), due: AckDue, srtt: Option<Duration>) -> AckDue {
        let mut spaced = Spaced { told_at: at(100), arrived_at: at(arrived), ..spaced.clone() };
        spaced.on_data(at(millis), due, srtt)
    }

    #[test]
    fn spaced_acks_keep_a_quarter_of_a_round_trip_apart_within_their_limits() {
        let spaced = Spaced::new(Duration::from_millis(10), Duration::from_millis(25));
        for (srtt, gap) in [(None, 10), (Some(30), 10), (Some(60), 15), (Some(200), 25)] {
            let srtt = srtt.map(Duration::from_millis);
            let due_at = |millis| due_at(&spaced, (millis, millis - 1), AckDue::Nothing, srtt);
            assert_eq!(due_at(99 + gap), AckDue::By(at(100 + gap)), "{srtt:?}");
            assert_eq!(due_at(100 + gap), AckDue::Now, "{srtt:?}");
        }
    }

    #[test]
    fn spaced_acks_wait_while_segments_come_densely_and_not_for_long() {
        let spaced = Spaced::new(Duration::from_millis(20), Duration::from_millis(20));
        let due_at = |millis, arrived, due| due_at(&spaced, (millis, arrived), due, None);
        assert_eq!(due_at(110, 107, AckDue::Nothing), AckDue::By(at(115)), "though it is more than one segment");
        assert_eq!(due_at(113, 110, AckDue::By(at(115))), AckDue::By(at(118)), "another one came");
        assert_eq!(due_at(117, 113, AckDue::By(at(118))), AckDue::By(at(120)));
        assert_eq!(due_at(120, 117, AckDue::By(at(120))), AckDue::Now, "the time has passed");
        assert_eq!(due_at(110, 104, AckDue::Nothing), AckDue::Now, "it came alone");
        assert_eq!(due_at(105, 104, AckDue::Now), AckDue::Now, "what is owed already stays so");
    }
}
