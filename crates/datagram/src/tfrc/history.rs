//! Which losses there were, and how often they happen (RFC 5348 §5).

use alloc::collections::VecDeque;
use core::ops::Range;
use earlybird_tcp::IntervalHistory;
use earlybird_units::{Duration, Instant};

/// A datagram that arrived: its number and the time.
type Arrival = (u64, Instant);

/// Datagrams that have not arrived between two that have.
#[derive(Clone, Debug)]
struct Hole {
    missing: Range<u64>,
    before: Arrival,
    after: Arrival,
    /// Datagrams with higher numbers that arrived since.
    later: u32,
}

/// So many later datagrams make a missing one lost (`NDUPACK`, RFC 5348 §5.1).
const LATER_FOR_LOSS: u32 = 3;

/// The losses of one flow, as its receiver sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossHistory {
    highest: Option<Arrival>,
    holes: VecDeque<Hole>,
    /// First loss of the newest loss event.
    event: Option<Arrival>,
    intervals: IntervalHistory,
}

impl LossHistory {
    /// Returns the loss events per datagram; 0 before the first (RFC 5348 §5.4).
    pub(crate) fn loss_event_rate(&self) -> f64 {
        self.intervals.rate()
    }

    /// Takes an arrival. Losses within a round trip of the first one are one event (RFC 5348 §5.2). The length of the
    /// interval before the first event is that of `first_interval`: slow start overshoots, so counting would mislead
    /// (§6.3.1).
    pub(crate) fn on_arrival(
        &mut self,
        arrival: Arrival,
        is_marked: bool,
        rtt: Duration,
        first_interval: impl Fn() -> u64,
    ) {
        self.place(arrival);
        for hole in self.holes.iter_mut().filter(|hole| hole.missing.end <= arrival.0) {
            hole.later += 1;
        }
        while let Some(hole) = self.holes.pop_front_if(|hole| hole.later >= LATER_FOR_LOSS) {
            hole.missing.clone().for_each(|number| self.on_loss((number, hole.time_of(number)), rtt, &first_interval));
        }
        if is_marked {
            self.on_loss(arrival, rtt, &first_interval);
        }
        self.measure_open_interval();
    }

    fn place(&mut self, arrival: Arrival) {
        let Some(before) = self.highest else {
            self.highest = Some(arrival);
            return;
        };
        if arrival.0 <= before.0 {
            return self.fill(arrival);
        }
        if arrival.0 > before.0 + 1 {
            self.holes.push_back(Hole { missing: before.0 + 1..arrival.0, before, after: arrival, later: 0 });
        }
        self.highest = Some(arrival);
    }

    /// A late datagram closes a hole or divides it.
    fn fill(&mut self, arrival: Arrival) {
        let Some(index) = self.holes.iter().position(|hole| hole.missing.contains(&arrival.0)) else { return };
        let Some(hole) = self.holes.remove(index) else { return };
        let upper = Hole { missing: arrival.0 + 1..hole.missing.end, before: arrival, ..hole.clone() };
        let lower = Hole { missing: hole.missing.start..arrival.0, after: arrival, ..hole };
        for part in [upper, lower].into_iter().filter(|part| !part.missing.is_empty()) {
            self.holes.insert(index, part);
        }
    }

    fn on_loss(&mut self, loss: Arrival, rtt: Duration, first_interval: &impl Fn() -> u64) {
        let length = match self.event {
            // Losses within a round trip are one loss event (RFC 5348 §5.2).
            Some((_, start)) if loss.1 <= start + rtt => return,
            Some((number, _)) => loss.0.saturating_sub(number),
            None => first_interval(),
        };
        self.intervals.set_open(length);
        // The loss event ends the open interval and begins the next one.
        self.intervals.close();
        self.event = Some(loss);
    }

    fn measure_open_interval(&mut self) {
        if let (Some((first, _)), Some((highest, _))) = (self.event, self.highest) {
            self.intervals.set_open(highest.saturating_sub(first) + 1);
        }
    }
}

impl Hole {
    /// Returns the time at which a missing datagram would have arrived (RFC 5348 §5.2).
    fn time_of(&self, number: u64) -> Instant {
        // Loss times are interpolated between the neighbours that arrived (RFC 5348 §5.2).
        let share = (number - self.before.0) as f64 / (self.after.0 - self.before.0) as f64;
        self.before.1 + (self.after.1 - self.before.1).mul_f64(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Returns the events per datagram after these arrivals, one datagram per 10 ms; the first interval counts 1000.
    fn rate_after(arrivals: impl IntoIterator<Item = u64>) -> f64 {
        let mut history = LossHistory::default();
        for (index, number) in arrivals.into_iter().enumerate() {
            history.on_arrival((number, at(10 * index as u64)), false, RTT, || 1000);
        }
        history.loss_event_rate()
    }

    #[test]
    fn three_later_datagrams_make_a_missing_one_lost() {
        assert!(rate_after([0, 1, 3, 4]).abs() < 1e-12);
        assert!((rate_after([0, 1, 3, 4, 5]) - 1e-3).abs() < 1e-12);
    }

    #[test]
    fn a_datagram_that_comes_two_late_is_not_lost() {
        assert!(rate_after([0, 1, 3, 4, 2, 5, 6, 7, 8]).abs() < 1e-12);
        assert!(rate_after([0, 1, 5, 3, 2, 4, 6, 7, 8]).abs() < 1e-12);
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event_and_the_next_one_is_another() {
        let missing = |lost: &'static [u64]| (0..60).filter(|number| !lost.contains(number));
        // Datagram 10 is lost at 100 ms; up to 200 ms everything belongs to it.
        assert!((rate_after(missing(&[10, 12, 18])) - 1e-3).abs() < 1e-12);
        // 40 is the next event: intervals 1000 and 30, newest first with weights 1 and 1.
        assert!((rate_after(missing(&[10, 12, 40])) - 1.0 / 515.0).abs() < 1e-12);
        conforms(
            Area::Control,
            "tfrc",
            "RFC 5348 §5.1, §5.2",
            "loss after 3 later packets; one event per round trip",
            "3 of 3",
        );
    }

    #[test]
    fn a_mark_is_a_loss() {
        let mut history = LossHistory::default();
        history.on_arrival((0, at(0)), false, RTT, || 50);
        history.on_arrival((1, at(10)), true, RTT, || 50);
        assert!((history.loss_event_rate() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn intervals_100_80_120_60_200_40_90_110_and_an_open_one_of_500_give_0_005988() {
        // V10: the oldest interval first, then losses at the ends of the others.
        let lengths = [90, 40, 200, 60, 120, 80, 100];
        let mut lost: Vec<u64> = alloc::vec![1000];
        lost.extend(lengths.iter().scan(1000, |number, length| {
            *number += length;
            Some(*number)
        }));
        let end = lost[7] + 500;
        let mut history = LossHistory::default();
        for number in (0..end).filter(|number| !lost.contains(number)) {
            history.on_arrival((number, at(10 * number)), false, RTT, || 110);
        }
        assert!((history.loss_event_rate() - 1.0 / 167.0).abs() < 1e-9);
        conforms(Area::Control, "tfrc", "RFC 5348 §5.4", "mean of eight loss intervals (V10)", "167.0 as computed");
    }
}
