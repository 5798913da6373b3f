//! The playout time of units.

use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// The offset of the sender's clock: the source time of a unit plus this offset is the earliest time at which it could have
/// arrived.
///
/// It is the shortest transit time of the last 30 to 60 seconds, so that it follows clock drift (about 50 µs per second) and path
/// changes. A shorter transit applies at once: earlier ones were delayed by queues. A longer one applies with at most 1 ms per
/// second, since a larger step causes an audible gap.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockOffset {
    /// The offset in microseconds; negative if the sender's clock is ahead.
    offset_us: Option<i64>,
    /// The shortest transit in the current window and in the previous one.
    shortest: [Option<i64>; 2],
    window_began: Instant,
    adjusted: Instant,
}

/// Two windows of this length cover the search for the shortest transit.
const WINDOW: Duration = Duration::from_secs(30);
/// The largest increase of the offset, in microseconds per second.
const MAX_SLEW: i64 = 1_000;

impl ClockOffset {
    /// Records that a unit with this source time arrived now.
    pub(crate) fn update(&mut self, now: Instant, time_us: u64) {
        let transit = micros(now) - time_us.cast_signed();
        if self.offset_us.is_none() {
            (self.offset_us, self.window_began, self.adjusted) = (Some(transit), now, now);
        }
        if now - self.window_began >= WINDOW {
            self.shortest = [None, self.shortest[0]];
            self.window_began = now;
        }
        let shortest = self.shortest[0].map_or(transit, |shortest| shortest.min(transit));
        self.shortest[0] = Some(shortest);
        self.adjust(now, self.shortest[1].map_or(shortest, |before| before.min(shortest)));
    }

    fn adjust(&mut self, now: Instant, target: i64) {
        let Some(offset) = &mut self.offset_us else { return };
        if target <= *offset {
            (*offset, self.adjusted) = (target, now);
            return;
        }
        let most = (now - self.adjusted).as_nanos().cast_signed() * MAX_SLEW / 1_000_000_000;
        // Integer microseconds: without this guard, frequent small steps would round to zero and still reset the clock.
        if most > 0 {
            *offset += (target - *offset).min(most);
            self.adjusted = now;
        }
    }

    /// Returns the playout time of a unit with this source time.
    pub(crate) fn playout(&self, time_us: u64, latency: Duration) -> Instant {
        let at = time_us.cast_signed() + self.offset_us.unwrap_or_default();
        Instant::from_nanos(at.max(0).cast_unsigned() * 1_000) + latency
    }
}

fn micros(at: Instant) -> i64 {
    (at.as_nanos() / 1_000).cast_signed()
}

/// A received unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedUnit {
    pub(crate) number: u32,
    pub(crate) time_us: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Received units that are not due, in order.
#[derive(Debug, Default)]
pub(crate) struct PlayoutBuffer {
    units: VecDeque<ReceivedUnit>,
    /// The unit whose fragments are not complete.
    partial: Option<PartialUnit>,
    /// The number of the next unit.
    next: Option<u32>,
    /// The number of units that were never complete.
    pub(crate) lost: u64,
}

#[derive(Debug)]
struct PartialUnit {
    unit: ReceivedUnit,
    /// The index of the next fragment.
    next: u8,
    count: u8,
}

impl PlayoutBuffer {
    /// Adds a fragment. Fragments arrive in order, possibly with gaps.
    pub(crate) fn push(&mut self, fragment: &crate::message::Fragment<'_>) {
        let current = self.partial.take_if(|partial| partial.expects(fragment));
        let partial = match current {
            Some(mut partial) => {
                partial.unit.bytes.extend(fragment.bytes);
                Some(PartialUnit { next: fragment.index + 1, ..partial })
            }
            // A fragment in the middle of a unit whose start was lost is dropped; the unit counts as lost by its number.
            None if fragment.index == 0 => Some(PartialUnit::new(fragment)),
            None => None,
        };
        match partial {
            Some(done) if done.next == done.count => self.finish(done.unit),
            partial => self.partial = partial,
        }
    }

    /// Appends a complete unit. A gap in the numbers counts as lost units.
    fn finish(&mut self, unit: ReceivedUnit) {
        let missing = self.next.map_or(0, |next| unit.number.wrapping_sub(next));
        // Wrapping: unit numbers have 32 bits and streams may run for weeks.
        self.lost += u64::from(missing);
        self.next = Some(unit.number.wrapping_add(1));
        self.units.push_back(unit);
    }

    /// Ends the stream after this number of units.
    pub(crate) fn end(&mut self, units: u32) {
        self.lost += self.next.map_or(0, |next| u64::from(units.saturating_sub(next)));
        self.next = Some(units);
    }

    /// Returns the source time of the first unit.
    pub(crate) fn first_time(&self) -> Option<u64> {
        self.units.front().map(|unit| unit.time_us)
    }

    /// Returns the time from the first to the last unit, in microseconds.
    pub(crate) fn span_us(&self) -> u64 {
        let (first, last) = (self.units.front(), self.units.back());
        first.zip(last).map_or(0, |(first, last)| last.time_us.saturating_sub(first.time_us))
    }

    pub(crate) fn pop(&mut self) -> Option<ReceivedUnit> {
        self.units.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

impl PartialUnit {
    fn new(fragment: &crate::message::Fragment<'_>) -> Self {
        let unit = ReceivedUnit { number: fragment.unit, time_us: fragment.time_us, bytes: fragment.bytes.to_vec() };
        Self { unit, next: 1, count: fragment.count }
    }

    fn expects(&self, fragment: &crate::message::Fragment<'_>) -> bool {
        self.unit.number == fragment.unit && self.next == fragment.index && self.count == fragment.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Fragment;

    fn millis(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn playout_follows_the_shortest_transit() {
        let mut offset = ClockOffset::default();
        // The clocks differ by 2 s; the transit is 20 ms plus queueing.
        for (time, transit) in [(0, 20), (10, 35), (20, 20), (30, 80)] {
            offset.update(millis(2_000 + time + transit), time * 1_000);
        }
        assert_eq!(offset.playout(40_000, Duration::from_millis(120)), millis(2_000 + 40 + 20 + 120));
    }

    #[test]
    fn the_offset_follows_clock_drift_smoothly() {
        let mut offset = ClockOffset::default();
        for step in 0..30_000_u64 {
            // One unit per 10 ms for 300 s; our clock is 100 µs per second fast.
            let now = Instant::from_nanos(step * 10_001_000 + 20_000_000);
            offset.update(now, step * 10_000);
        }
        let drift = offset.playout(300_000_000, Duration::ZERO).as_nanos() / 1_000 - 300_000_000 - 20_000;
        assert!((22_000..=30_000).contains(&drift), "{drift}");
    }

    #[test]
    fn a_delayed_first_unit_does_not_delay_others() {
        let mut offset = ClockOffset::default();
        offset.update(millis(500), 0);
        offset.update(millis(510), 490_000);
        assert_eq!(offset.playout(2_000_000, Duration::ZERO), millis(2_020));
        offset.update(millis(5_000), 4_990_000);
        assert_eq!(offset.playout(6_000_000, Duration::ZERO), millis(6_010), "a shorter path applies at once, too");
    }

    fn part(unit: u32, index: u8, count: u8) -> Fragment<'static> {
        Fragment { unit, time_us: u64::from(unit) * 1_000, index, count, bytes: b"ab" }
    }

    #[test]
    fn incomplete_units_count_as_lost() {
        let mut buffer = PlayoutBuffer::default();
        let parts = [part(0, 0, 1), part(1, 0, 2), part(1, 1, 2), part(2, 0, 2), part(3, 1, 2), part(5, 0, 1)];
        for part in &parts {
            buffer.push(part);
        }
        assert_eq!((buffer.lost, buffer.span_us()), (3, 5_000));
        let whole: Vec<_> = std::iter::from_fn(|| buffer.pop()).map(|unit| (unit.number, unit.bytes.len())).collect();
        assert_eq!(whole, [(0, 2), (1, 4), (5, 2)]);
        buffer.end(8);
        assert_eq!(buffer.lost, 5);
    }
}
