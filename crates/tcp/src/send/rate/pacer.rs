//! Pacing: segments leave at a rate instead of in bursts (draft-ietf-ccwg-bbr, "Pacing Rate" and "Send Quantum").

use earlybird_units::{Duration, Instant};

/// Holds segments back until they may be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// The earliest time at which the next quantum may be sent (`C.next_send_time`).
    release: Instant,
    /// The full segments that may still be sent with the last quantum.
    left: f64,
    /// Whether a segment was held back.
    is_holding: bool,
}

impl Pacer {
    /// Returns whether it is too early to send a segment.
    pub(crate) fn holds(&mut self, now: Instant) -> bool {
        self.is_holding = now < self.release && self.left <= 0.0;
        self.is_holding
    }

    /// Returns the time at which a segment that was held back may be sent; [`Instant::NEVER`] if none was.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        if self.is_holding { self.release } else { Instant::NEVER }
    }

    /// Returns the time until the next segment may be sent.
    pub(crate) fn delay(&self, now: Instant) -> Duration {
        self.release.max(now) - now
    }

    /// Clears the deadline once it has come.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.is_holding &= now < self.release;
    }

    /// Records that a segment is sent: `size` in full segments, `rate` in full segments per second.
    /// If it begins a burst, that has `quantum` full segments.
    pub(crate) fn on_sent(&mut self, now: Instant, size: f64, rate: f64, quantum: impl FnOnce() -> f64) {
        // Time that was not used is lost: sending faster later would be the burst that pacing avoids.
        if now >= self.release {
            (self.release, self.left) = (now, quantum());
        }
        self.left -= size;
        self.release += Duration::from_secs_f64(size / rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::send_quantum::send_quantum;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    /// Returns the times in microseconds at which a sender with unlimited data sends.
    fn departures(pacer: &mut Pacer, start: u64, count: usize, size: f64, rate: f64) -> Vec<u64> {
        let mut now = Instant::from_nanos(start * 1000);
        let mut times = Vec::new();
        while times.len() < count {
            if pacer.holds(now) {
                now = pacer.deadline();
                continue;
            }
            times.push(now.as_nanos() / 1000);
            pacer.on_sent(now, size, rate, || send_quantum(rate));
        }
        times
    }

    #[test]
    fn quanta_of_two_segments_leave_at_gaps_of_size_over_rate() {
        let times = departures(&mut Pacer::default(), 0, 7, 1.0, 1000.0);
        assert_eq!(times, [0, 0, 2000, 2000, 4000, 4000, 6000]);
        let halves = departures(&mut Pacer::default(), 0, 6, 0.5, 1000.0);
        assert_eq!(halves, [0, 0, 0, 0, 2000, 2000]);
        conforms(
            Area::Control,
            "pacing",
            "draft-ietf-ccwg-bbr, Pacing Rate and Send Quantum",
            "departures at 1000 segments/s: full and half segments",
            "13 of 13 times equal",
        );
    }

    #[test]
    fn an_idle_period_is_not_made_up_for() {
        let mut pacer = Pacer::default();
        departures(&mut pacer, 0, 4, 1.0, 1000.0);
        assert_eq!(departures(&mut pacer, 100_000, 4, 1.0, 1000.0), [100_000, 100_000, 102_000, 102_000]);
    }

    #[test]
    fn there_is_a_deadline_only_while_something_is_held_back() {
        let mut pacer = Pacer::default();
        let at = Instant::from_nanos;
        pacer.on_sent(at(0), 2.0, 1000.0, || 2.0);
        assert_eq!(pacer.delay(at(500_000)), Duration::from_nanos(1_500_000));
        assert_eq!(pacer.deadline(), Instant::NEVER);
        assert!(pacer.holds(at(1)));
        assert_eq!(pacer.deadline(), at(2_000_000));
        pacer.on_timeout(at(1_999_999));
        assert_eq!(pacer.deadline(), at(2_000_000));
        pacer.on_timeout(at(2_000_000));
        assert_eq!(pacer.deadline(), Instant::NEVER);
    }
}
