//! Spaced ACKs ([`super::Acking::Spaced`]).

use super::AckDue;
use earlybird_units::{Duration, Instant};

/// The pause between segments after which an ACK does not wait for the next: two packets of 1316 bytes at 4 Mb/s.
const PAUSE: Duration = Duration::from_millis(5);

/// The state of the policy.
#[derive(Clone, Debug)]
pub(crate) struct Spaced {
    least: Duration,
    most: Duration,
    /// The time of the last ACK.
    last_ack_at: Instant,
    /// The arrival time of the last segment.
    arrived_at: Instant,
    /// Whether a hole was reported once.
    hole_reported: bool,
}

impl Spaced {
    pub(crate) fn new(least: Duration, most: Duration) -> Self {
        Self { least, most, last_ack_at: Instant::ZERO, arrived_at: Instant::ZERO, hole_reported: false }
    }

    /// Decides about the ACK of a segment in order, or of one that [`Self::keeps_spacing`].
    pub(crate) fn on_data(&mut self, now: Instant, due: AckDue, srtt: Option<Duration>) -> AckDue {
        // Four ACKs per RTT are enough for a sender that does not clock by ACKs.
        let period = srtt.map_or(self.least, |srtt| (srtt / 4).clamp(self.least, self.most));
        let arrived_at = core::mem::replace(&mut self.arrived_at, now);
        match due {
            AckDue::Now => AckDue::Now,
            _ if now - arrived_at > PAUSE || now - self.last_ack_at >= period => AckDue::Now,
            _ => AckDue::By((self.last_ack_at + period).min(now + PAUSE)),
        }
    }

    /// Returns whether the ACK of a stored segment is spaced although there is a hole.
    pub(crate) fn keeps_spacing(&mut self, now: Instant, opens_hole: bool) -> bool {
        let reports_hole = opens_hole || self.hole_reported;
        // A hole is reported twice: the first report may be lost.
        self.hole_reported = opens_hole;
        if reports_hole {
            self.arrived_at = now;
        }
        !reports_hole
    }

    /// Processes a sent segment with its ACK.
    pub(crate) fn on_sent(&mut self, now: Instant) {
        self.last_ack_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Returns the decision at `millis` if the last segment arrived at `arrived` and the last ACK was sent at 100 ms.
    fn due_at(spaced: &Spaced, (millis, arrived): (u64, u64), due: AckDue, srtt: Option<Duration>) -> AckDue {
        let mut spaced = Spaced { last_ack_at: at(100), arrived_at: at(arrived), ..spaced.clone() };
        spaced.on_data(at(millis), due, srtt)
    }

    #[test]
    fn spaced_acks_keep_a_quarter_of_a_round_trip_apart_within_their_limits() {
        let spaced = Spaced::new(Duration::from_millis(10), Duration::from_millis(25));
        for (srtt, period) in [(None, 10), (Some(30), 10), (Some(60), 15), (Some(200), 25)] {
            let srtt = srtt.map(Duration::from_millis);
            let due_at = |millis| due_at(&spaced, (millis, millis - 1), AckDue::Nothing, srtt);
            assert_eq!(due_at(99 + period), AckDue::By(at(100 + period)), "{srtt:?}");
            assert_eq!(due_at(100 + period), AckDue::Now, "{srtt:?}");
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
