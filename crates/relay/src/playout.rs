//! When what arrived is handed on.

use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// The sender's clock as it looks from here: what is added to the source's time of a unit gives the earliest time at which it
/// could be here.
///
/// That is the shortest transit of the last half to whole minute, so that it follows clocks that drift apart – some 50 µs a second
/// – and paths that change. A shorter transit than those before counts at once: they had been held up, and what is played too late
/// may be played in time. Longer ones count by a millisecond per second at most, since a stream that slows down is torn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offset {
    /// What is counted with, in microseconds: the difference of two clocks may be negative.
    difference: Option<i64>,
    /// The shortest transits of the window that goes on and of the one before.
    shortest: [Option<i64>; 2],
    window_began: Instant,
    adjusted: Instant,
}

/// Half of the time over which the shortest transit is looked for.
const WINDOW: Duration = Duration::from_secs(30);
/// The fastest that the offset grows, in microseconds per second.
const SLEW: i64 = 1_000;

impl Offset {
    /// Notes that a unit of this source time came now.
    pub(crate) fn note(&mut self, now: Instant, time_us: u64) {
        let transit = micros(now) - time_us.cast_signed();
        if self.difference.is_none() {
            (self.difference, self.window_began, self.adjusted) = (Some(transit), now, now);
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
        let Some(offset) = &mut self.difference else { return };
        if target <= *offset {
            (*offset, self.adjusted) = (target, now);
            return;
        }
        let most = (now - self.adjusted).as_nanos().cast_signed() * SLEW / 1_000_000_000;
        if most > 0 {
            *offset += (target - *offset).min(most);
            self.adjusted = now;
        }
    }

    /// Returns the time at which a unit is played that its source had at this time.
    pub(crate) fn playout(&self, time_us: u64, latency: Duration) -> Instant {
        let at = time_us.cast_signed() + self.difference.unwrap_or_default();
        Instant::from_nanos(at.max(0).cast_unsigned() * 1_000) + latency
    }
}

fn micros(at: Instant) -> i64 {
    (at.as_nanos() / 1_000).cast_signed()
}

/// A unit that waits for its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) number: u32,
    pub(crate) time_us: u64,
    pub(crate) bytes: Vec<u8>,
}

/// What was read and is not due yet, in order.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    units: VecDeque<Unit>,
    /// Parts of the unit that is not whole yet.
    unfinished: Option<Unfinished>,
    /// The number of the unit that comes next.
    next: Option<u32>,
    /// Units that never came whole.
    pub(crate) lost: u64,
}

#[derive(Debug)]
struct Unfinished {
    unit: Unit,
    /// The part that comes next, and how many there are.
    next: u8,
    parts: u8,
}

impl Buffer {
    /// Takes a part that was read; parts come in order, and some not at all.
    pub(crate) fn take(&mut self, part: &crate::message::Part<'_>) {
        let begun = self.unfinished.take_if(|unfinished| unfinished.expects(part));
        let unfinished = match begun {
            Some(mut unfinished) => {
                unfinished.unit.bytes.extend(part.bytes);
                Some(Unfinished { next: part.index + 1, ..unfinished })
            }
            None if part.index == 0 => Some(Unfinished::new(part)),
            None => None,
        };
        match unfinished {
            Some(done) if done.next == done.parts => self.finish(done.unit),
            unfinished => self.unfinished = unfinished,
        }
    }

    /// Numbers that are missing belong to units that are lost.
    fn finish(&mut self, unit: Unit) {
        let missing = self.next.map_or(0, |next| unit.number.wrapping_sub(next));
        self.lost += u64::from(missing);
        self.next = Some(unit.number.wrapping_add(1));
        self.units.push_back(unit);
    }

    /// Learns that the stream ended with this number of units.
    pub(crate) fn end(&mut self, units: u32) {
        self.lost += self.next.map_or(0, |next| u64::from(units.saturating_sub(next)));
        self.next = Some(units);
    }

    /// Returns the source's time of the first unit.
    pub(crate) fn first_time(&self) -> Option<u64> {
        self.units.front().map(|unit| unit.time_us)
    }

    /// Returns the time in microseconds from the first to the last unit.
    pub(crate) fn span_us(&self) -> u64 {
        let (first, last) = (self.units.front(), self.units.back());
        first.zip(last).map_or(0, |(first, last)| last.time_us.saturating_sub(first.time_us))
    }

    pub(crate) fn pop(&mut self) -> Option<Unit> {
        self.units.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

impl Unfinished {
    fn new(part: &crate::message::Part<'_>) -> Self {
        let unit = Unit { number: part.unit, time_us: part.time_us, bytes: part.bytes.to_vec() };
        Self { unit, next: 1, parts: part.count }
    }

    fn expects(&self, part: &crate::message::Part<'_>) -> bool {
        self.unit.number == part.unit && self.next == part.index && self.parts == part.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Part;

    fn millis(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_unit_is_played_so_long_after_the_shortest_transit() {
        let mut offset = Offset::default();
        // The clocks are 2 s apart, the way takes 20 ms and sometimes more.
        for (time, transit) in [(0, 20), (10, 35), (20, 20), (30, 80)] {
            offset.note(millis(2_000 + time + transit), time * 1_000);
        }
        assert_eq!(offset.playout(40_000, Duration::from_millis(120)), millis(2_000 + 40 + 20 + 120));
    }

    #[test]
    fn an_offset_follows_clocks_that_drift_and_does_not_jump() {
        let mut offset = Offset::default();
        for step in 0..30_000_u64 {
            // A unit each 10 ms for 300 s; our clock runs 100 µs per second fast.
            let now = Instant::from_nanos(step * 10_001_000 + 20_000_000);
            offset.note(now, step * 10_000);
        }
        let drift = offset.playout(300_000_000, Duration::ZERO).as_nanos() / 1_000 - 300_000_000 - 20_000;
        assert!((22_000..=30_000).contains(&drift), "{drift}");
    }

    #[test]
    fn a_first_unit_that_was_held_up_holds_up_none_of_the_others() {
        let mut offset = Offset::default();
        offset.note(millis(500), 0);
        offset.note(millis(510), 490_000);
        assert_eq!(offset.playout(2_000_000, Duration::ZERO), millis(2_020));
        offset.note(millis(5_000), 4_990_000);
        assert_eq!(offset.playout(6_000_000, Duration::ZERO), millis(6_010), "so does a shorter way later on");
    }

    fn part(unit: u32, index: u8, count: u8) -> Part<'static> {
        Part { unit, time_us: u64::from(unit) * 1_000, index, count, bytes: b"ab" }
    }

    #[test]
    fn only_whole_units_are_kept_and_the_others_counted() {
        let mut buffer = Buffer::default();
        let parts = [part(0, 0, 1), part(1, 0, 2), part(1, 1, 2), part(2, 0, 2), part(3, 1, 2), part(5, 0, 1)];
        for part in &parts {
            buffer.take(part);
        }
        assert_eq!((buffer.lost, buffer.span_us()), (3, 5_000));
        let whole: Vec<_> = std::iter::from_fn(|| buffer.pop()).map(|unit| (unit.number, unit.bytes.len())).collect();
        assert_eq!(whole, [(0, 2), (1, 4), (5, 2)]);
        buffer.end(8);
        assert_eq!(buffer.lost, 5);
    }
}
