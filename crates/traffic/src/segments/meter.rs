use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// Throughput of segments: bits over the time from the first bytes of a part to its end, so that waiting for a part to be made does not
/// count (as dash.js finds the `moof` boxes of CMAF chunks, `FetchLoader.js`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    /// The ends of the requested parts in the stream, and whether a segment ends there.
    ends: VecDeque<(u64, bool)>,
    /// The end of the last requested part.
    asked: u64,
    /// The start of the part that arrives now, and the time and size of its first bytes.
    begins: u64,
    first: Option<(Instant, u64)>,
    /// Bytes of the segment that arrived, and in which time.
    bits: f64,
    time: Duration,
}

impl Meter {
    /// Records the request of a segment with `parts` parts.
    pub(crate) fn expect(&mut self, parts: u64, bytes: u64) {
        for part in 1..=parts {
            self.asked += bytes;
            self.ends.push_back((self.asked, part == parts));
        }
    }

    /// Records how much of the stream has arrived. Returns the rate of each segment that is complete now, in bit/s. One
    /// that came at once has none.
    pub(crate) fn update(&mut self, now: Instant, received: u64, mut on_segment: impl FnMut(f64)) {
        while let Some((end, is_last)) = self.ends.front().copied()
            && received > self.begins
        {
            // Bytes of the first look arrived before the measurement began: they count as size, not in the rate.
            let (since, seen) = *self.first.get_or_insert((now, received.min(end)));
            if received < end {
                return;
            }
            self.take_part((end - seen) as f64 * 8.0, now - since, end);
            if is_last {
                self.take_segment(&mut on_segment);
            }
        }
    }

    fn take_part(&mut self, bits: f64, time: Duration, end: u64) {
        self.bits += bits;
        self.time += time;
        self.begins = end;
        self.first = None;
        self.ends.pop_front();
    }

    fn take_segment(&mut self, on_segment: &mut impl FnMut(f64)) {
        // All in one look: no rate can be measured.
        if self.time > Duration::ZERO {
            on_segment(self.bits / self.time.as_secs_f64());
        }
        (self.bits, self.time) = (0.0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn measured_rates(parts: u64, seen: &[(u64, u64)]) -> Vec<f64> {
        let mut meter = Meter::default();
        (0..2).for_each(|_| meter.expect(parts, 1000));
        let mut rates = Vec::new();
        for (millis, received) in seen {
            meter.update(Instant::from_nanos(millis * 1_000_000), *received, |rate| rates.push(rate));
        }
        rates
    }

    #[test]
    fn a_segment_has_the_rate_from_its_first_bytes_to_its_end() {
        // 800 bytes in 100 ms; of the next segment 900 in 50 ms, after a pause that does not count.
        assert_eq!(measured_rates(1, &[(100, 200), (150, 600), (200, 1000), (900, 1100), (950, 2000)]), [64e3, 144e3]);
    }

    #[test]
    fn the_time_between_parts_does_not_count() {
        // Two parts with 500 bytes in 20 ms each, half a second apart.
        assert_eq!(measured_rates(2, &[(0, 500), (20, 1000), (520, 1500), (540, 2000)]), [200e3]);
    }

    #[test]
    fn what_came_at_once_has_no_rate() {
        assert!(measured_rates(1, &[(100, 2000)]).is_empty());
    }
}
