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
        let transit = micros(now).saturating_sub_unsigned(time_us);
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

    /// Returns the offset in microseconds.
    pub(crate) fn offset(&self) -> Option<i64> {
        self.offset_us
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
        // A peer may send any time.
        let at = self.offset_us.unwrap_or_default().saturating_add_unsigned(time_us);
        Instant::from_nanos(at.max(0).cast_unsigned().saturating_mul(1_000)) + latency
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
    /// The bytes of all units, with what each takes in memory.
    size: usize,
    /// The number of units that were never complete.
    pub(crate) lost: u64,
}

/// The most bytes of units that wait for their playout: 60 s of 8 Mb/s. What a peer sends beyond that is dropped.
const MAX_BYTES: usize = 64 << 20;
/// The memory of a unit beside its bytes, rounded up.
const UNIT_OVERHEAD: usize = 64;
/// The most units that a gap in the numbers can stand for: five seconds, SRT's idle timeout, at 100 Mb/s. A larger one is another
/// numbering, or the invention of a peer.
const MAX_GAP: u32 = 1 << 16;

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
            // A full buffer drops the unit; it counts as lost by its number.
            Some(partial) if self.size + size_of_unit(&partial.unit) > MAX_BYTES => self.partial = None,
            Some(done) if done.next == done.count => self.finish(done.unit),
            partial => self.partial = partial,
        }
    }

    /// Appends a complete unit. A gap in the numbers counts as lost units.
    fn finish(&mut self, unit: ReceivedUnit) {
        self.skip_to(unit.number);
        self.next = Some(unit.number.wrapping_add(1));
        self.size += size_of_unit(&unit);
        self.units.push_back(unit);
    }

    /// Counts the units before a number as lost.
    fn skip_to(&mut self, number: u32) {
        // Wrapping: unit numbers have 32 bits and streams may run for weeks.
        let missing = self.next.map_or(0, |next| number.wrapping_sub(next));
        self.lost += if missing <= MAX_GAP { u64::from(missing) } else { 0 };
    }

    /// Ends the stream after this number of units.
    pub(crate) fn end(&mut self, units: u32) {
        self.skip_to(units);
        self.next = Some(units);
    }

    /// Returns the number of the next unit.
    pub(crate) fn next(&self) -> Option<u32> {
        self.next
    }

    /// Continues the numbers of an earlier connection to the same source.
    pub(crate) fn continue_from(&mut self, next: Option<u32>) {
        self.next = next;
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
        let unit = self.units.pop_front()?;
        self.size -= size_of_unit(&unit);
        Some(unit)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

fn size_of_unit(unit: &ReceivedUnit) -> usize {
    unit.bytes.len() + UNIT_OVERHEAD
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

    /// The symptom: with the latency of a peer a relay buffered 444 MB in 20 s.
    #[test]
    fn the_buffer_is_bounded_in_bytes() {
        let (mut buffer, bytes) = (PlayoutBuffer::default(), vec![7; 500_000]);
        for unit in 0..2_000 {
            buffer.push(&Fragment { bytes: &bytes[..50_000], ..part(unit, 0, 1) });
        }
        let held = buffer.units.len();
        assert_eq!(held, MAX_BYTES / (50_000 + UNIT_OVERHEAD));
        while buffer.pop().is_some() {}
        buffer.push(&part(2_000, 0, 1));
        assert_eq!((buffer.size, buffer.lost), (2 + UNIT_OVERHEAD, 2_000 - held as u64));
        for index in 0..u8::MAX {
            buffer.push(&Fragment { bytes: &bytes, ..part(2_001, index, u8::MAX) });
        }
        assert!(buffer.partial.is_none() && buffer.units.len() == 1, "nor may a unit that is not complete be larger");
    }

    /// The symptom: a peer could set `pktRcvDrop` to any value with one message.
    #[test]
    fn a_peer_cannot_invent_billions_of_lost_units() {
        let mut buffer = PlayoutBuffer::default();
        for unit in [0, 4_000_000_000, 3, 100_000, 100_002] {
            buffer.push(&part(unit, 0, 1));
        }
        assert_eq!(buffer.lost, 1);
        buffer.end(u32::MAX);
        assert_eq!(buffer.lost, 1);
    }

    /// A playout time beyond the end of the clock.
    #[test]
    fn any_time_of_a_peer_has_a_playout_time() {
        let mut offset = ClockOffset::default();
        offset.update(millis(1), u64::MAX >> 16);
        assert!(offset.playout(u64::MAX, Duration::from_secs(60)) > millis(1));
        assert_eq!(offset.playout(0, Duration::ZERO), millis(0));
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
