use alloc::sync::Arc;
use earlybird_units::{Duration, Instant, Rate};

/// One unit of media: a packet of sound or a frame of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The time at which the encoder produces it, from the start of the clip.
    pub at: Duration,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Which units a source writes, and when: its viewer knows it too, as it would from the time stamps of RTP (RFC 3550).
#[derive(Clone, Debug)]
pub struct Timetable {
    script: Script,
    count: Option<u64>,
    lead: Duration,
}

#[derive(Clone, Debug)]
enum Script {
    /// In whole nanoseconds that lose no time.
    Constant {
        rate: Rate,
        bytes: u64,
    },
    /// In seconds of double precision, as ns-2's scripts count.
    Regular {
        seconds: f64,
        bytes: u64,
    },
    Clip {
        frames: Arc<[Frame]>,
        length: Duration,
    },
}

impl Timetable {
    /// Units of `bytes` payload each at `rate` payload bits per second.
    pub const fn constant(rate: Rate, bytes: u64) -> Self {
        Self { script: Script::Constant { rate, bytes }, count: None, lead: Duration::ZERO }
    }

    /// Units of `bytes` payload each, number k at k times `seconds` in double precision.
    pub const fn every(seconds: f64, bytes: u64) -> Self {
        Self { script: Script::Regular { seconds, bytes }, count: None, lead: Duration::ZERO }
    }

    /// A clip from frames in order of time, which is repeated every `length`.
    pub const fn clip(frames: Arc<[Frame]>, length: Duration) -> Self {
        Self { script: Script::Clip { frames, length }, count: None, lead: Duration::ZERO }
    }

    /// The same, but only the first `count` units; `None` has no end.
    #[must_use]
    pub fn ending_after(self, count: Option<u64>) -> Self {
        Self { count, ..self }
    }

    /// The same, with the first unit written a time after the start, by which the connection is open.
    #[must_use]
    pub fn led_by(self, lead: Duration) -> Self {
        Self { lead, ..self }
    }

    /// Returns how many units there are; `None` without end.
    pub const fn count(&self) -> Option<u64> {
        self.count
    }

    /// Returns the size of unit `number`, counted from 0; `None` behind the last one.
    pub fn bytes(&self, number: u64) -> Option<u64> {
        if self.count.is_some_and(|count| number >= count) {
            return None;
        }
        match &self.script {
            Script::Constant { bytes, .. } | Script::Regular { bytes, .. } => Some(*bytes),
            Script::Clip { frames, .. } => {
                // A clip repeats; an empty one has no units.
                let index = number.checked_rem(frames.len() as u64)?;
                frames.get(index as usize).map(|frame| frame.bytes)
            }
        }
    }

    /// Returns when unit `number` is written if the first one is at `start`; `None` behind the last one.
    pub fn written(&self, start: Instant, number: u64) -> Option<Instant> {
        self.bytes(number)?;
        let first = start + self.lead;
        Some(match &self.script {
            Script::Constant { rate, bytes } => {
                // 128 bits: the product exceeds 64 bits after minutes of a fast stream. From the start, so that
                // rounding does not add up.
                let bit_nanos = u128::from(number) * u128::from(*bytes) * 8_000_000_000;
                first + Duration::from_nanos((bit_nanos / u128::from(rate.bits_per_second())) as u64)
            }
            Script::Regular { .. } => {
                let seconds = self.written_seconds(start, number)?;
                Instant::ZERO + Duration::from_secs_f64(seconds)
            }
            Script::Clip { frames, length } => {
                let count = frames.len() as u64;
                first + *length * (number / count) + frames[(number % count) as usize].at
            }
        })
    }

    /// Returns the same in seconds, if that is how the units' times are meant.
    pub(crate) fn written_seconds(&self, start: Instant, number: u64) -> Option<f64> {
        match &self.script {
            Script::Regular { seconds, .. } => Some((start + self.lead).as_secs_f64() + number as f64 * seconds),
            Script::Constant { .. } | Script::Clip { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn units_of_a_constant_rate_lose_no_time_to_rounding() {
        let rate = Rate::from_bits_per_second(300_000).unwrap();
        let timetable = Timetable::constant(rate, 1000);
        let start = Instant::from_nanos(17);
        let (mut remainder, mut at) = (0, start);
        for number in 0..10_000 {
            assert_eq!(timetable.written(start, number), Some(at));
            at += rate.transmission_time(1000, &mut remainder);
        }
        assert_eq!(timetable.written(start, 37_500), Some(start + Duration::from_secs(1000)));
    }

    #[test]
    fn regular_units_are_as_exact_as_double_precision() {
        let timetable = Timetable::every(1.0 / 30.0, 1024).ending_after(Some(31));
        let start = Instant::ZERO + Duration::from_secs(7);
        assert_eq!(timetable.written(start, 30), Some(Instant::ZERO + Duration::from_secs(8)));
        assert_eq!(timetable.written_seconds(start, 1), Some(7.0 + 1.0 / 30.0));
        assert_eq!((timetable.bytes(30), timetable.bytes(31)), (Some(1024), None));
    }

    #[test]
    fn a_connection_may_be_opened_before_the_first_unit() {
        let (start, lead) = (Instant::from_nanos(5), Duration::from_secs(1));
        let timetable = Timetable::every(0.5, 10).led_by(lead);
        assert_eq!(timetable.written(Instant::ZERO, 1), Some(Instant::ZERO + Duration::from_millis(1500)));
        assert_eq!(timetable.written_seconds(Instant::ZERO, 1), Some(1.5));
        let rate = Rate::from_bits_per_second(80).unwrap();
        assert_eq!(Timetable::constant(rate, 10).led_by(lead).written(start, 1), Some(start + lead * 2));
    }

    #[test]
    fn a_clip_restarts_and_ends_at_the_given_time() {
        let frame = |millis, bytes| Frame { at: Duration::from_millis(millis), bytes };
        let clip = Timetable::clip([frame(0, 10), frame(40, 20)].into(), Duration::from_millis(100));
        let clip = clip.ending_after(Some(5));
        let unit = |number| Some((clip.written(Instant::ZERO, number)?.as_nanos() / 1_000_000, clip.bytes(number)?));
        let units: Vec<_> = (0..7).filter_map(unit).collect();
        assert_eq!(units, [(0, 10), (40, 20), (100, 10), (140, 20), (200, 10)]);
        assert_eq!(Timetable::clip([].into(), Duration::ZERO).written(Instant::ZERO, 0), None);
    }
}
