//! Times of the ACKs, and round-trip times from their ACKACKs (§4.8.1, §4.10).

use super::round_trip::RoundTrip;
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// The receiver's acknowledgements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acks {
    /// The first arrival: timers run out at whole periods after it.
    start: Option<Instant>,
    /// Number of the first packet that is not acknowledged.
    next: u32,
    count: u32,
    due: Option<Instant>,
    /// ACKs that may be answered: their numbers, the packets that they acknowledged, and their times of transmission.
    unanswered: VecDeque<(u32, u32, Instant)>,
}

/// Time between two ACKs (§4.8.1, `SYN`). Haivision's implementation looks at all its timers that often.
const PERIOD: Duration = Duration::from_millis(10);
/// So many ACKs are remembered, as in Haivision's implementation (`CACKWindow`).
const REMEMBERED: usize = 1024;

impl Acks {
    /// Starts the clock with the first packet.
    pub(crate) fn on_arrival(&mut self, now: Instant) {
        self.start.get_or_insert(now);
    }

    /// Records the first missing packet for the next ACK.
    pub(crate) fn on_progress(&mut self, now: Instant, next: u32) {
        if next > self.next {
            self.next = next;
            // Full ACKs are sent on a 10 ms grid (§4.8.1), not after each packet.
            let tick = self.tick_after(now);
            self.due = Some(self.due.map_or(tick, |due| due.min(tick)));
        }
    }

    /// Returns the first tick of the clock after that time.
    pub(crate) fn tick_after(&self, time: Instant) -> Instant {
        let start = self.start.unwrap_or_default();
        start + PERIOD * ((time - start).as_nanos() / PERIOD.as_nanos() + 1)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the number of the due ACK and the packet that it acknowledges. Until it is answered, it is repeated.
    pub(crate) fn take_due(&mut self, now: Instant, round_trip: &RoundTrip) -> Option<(u32, u32)> {
        self.due.filter(|due| *due <= now)?;
        // Repeat if no ACKACK arrives in time: the ACK or its answer was lost.
        self.due = Some(self.tick_after(now + round_trip.longest()));
        self.count += 1;
        if self.unanswered.len() == REMEMBERED {
            // Answers this old would not measure the present RTT.
            self.unanswered.pop_front();
        }
        self.unanswered.push_back((self.count, self.next, now));
        Some((self.count, self.next))
    }

    /// Takes the answer to an ACK and gives the time that it took.
    pub(crate) fn on_answer(&mut self, now: Instant, number: u32) -> Option<Duration> {
        let index = self.unanswered.iter().position(|(sent, ..)| *sent == number)?;
        let (_, next, sent) = self.unanswered.drain(..=index).next_back()?;
        // The sender knows the newest state: nothing to repeat.
        if next == self.next {
            self.due = None;
        }
        Some(now - sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn acks_come_at_ticks_of_ten_milliseconds_until_they_are_answered() {
        let (mut acks, round_trip) = (Acks::default(), RoundTrip::default());
        acks.on_arrival(at(3));
        acks.on_progress(at(3), 1);
        acks.on_progress(at(12), 2);
        assert_eq!((acks.deadline(), acks.take_due(at(12), &round_trip)), (Some(at(13)), None));
        assert_eq!(acks.take_due(at(13), &round_trip), Some((1, 2)));
        // 100 ms + 4·50 ms later, at the next tick.
        assert_eq!(acks.deadline(), Some(at(323)));
        acks.on_progress(at(100), 3);
        assert_eq!(acks.take_due(at(103), &round_trip), Some((2, 3)));
        assert_eq!(acks.on_answer(at(60), 1), Some(Duration::from_millis(47)));
        assert!(acks.deadline().is_some());
        assert_eq!(acks.on_answer(at(150), 2), Some(Duration::from_millis(47)));
        assert_eq!((acks.deadline(), acks.on_answer(at(151), 2)), (None, None));
    }
}
