use alloc::sync::Arc;
use earlybird_units::{Duration, Rate};

/// One unit of media: a packet of sound or a frame of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When the encoder gives it, from the start of the clip.
    pub at: Duration,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Which units a source writes, and when: its viewer knows it too, as it would from the time stamps of RTP (RFC 3550).
#[derive(Clone, Debug)]
pub struct Timetable {
    script: Script,
    count: Option<u64>,
}

#[derive(Clone, Debug)]
enum Script {
    Constant { rate: Rate, bytes: u64 },
    Clip { frames: Arc<[Frame]>, length: Duration },
}

impl Timetable {
    /// Units of `bytes` payload each at `rate` payload bits per second.
    pub const fn constant(rate: Rate, bytes: u64) -> Self {
        Self { script: Script::Constant { rate, bytes }, count: None }
    }

    /// A clip from frames in order of time, which starts anew every `length`.
    pub const fn clip(frames: Arc<[Frame]>, length: Duration) -> Self {
        Self { script: Script::Clip { frames, length }, count: None }
    }

    /// The same, but only the first `count` units.
    #[must_use]
    pub fn ending_after(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Gives how many units there are; `None` without end.
    pub const fn count(&self) -> Option<u64> {
        self.count
    }

    /// Gives unit `number`, counted from 0, with its time from the start; `None` behind the last one.
    pub fn unit(&self, number: u64) -> Option<Frame> {
        if self.count.is_some_and(|count| number >= count) {
            return None;
        }
        match &self.script {
            Script::Constant { rate, bytes } => {
                let bit_nanos = u128::from(number) * u128::from(*bytes) * 8_000_000_000;
                let nanos = bit_nanos / u128::from(rate.bits_per_second());
                Some(Frame { at: Duration::from_nanos(nanos as u64), bytes: *bytes })
            }
            Script::Clip { frames, length } => {
                let (round, index) = (number.checked_div(frames.len() as u64)?, number % frames.len() as u64);
                let frame = frames.get(index as usize)?;
                Some(Frame { at: *length * round + frame.at, bytes: frame.bytes })
            }
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
        let mut remainder = 0;
        let mut at = Duration::ZERO;
        for number in 0..10_000 {
            assert_eq!(timetable.unit(number), Some(Frame { at, bytes: 1000 }));
            at += rate.transmission_time(1000, &mut remainder);
        }
        assert_eq!(timetable.unit(37_500).map(|unit| unit.at), Some(Duration::from_secs(1000)));
    }

    #[test]
    fn a_clip_starts_anew_and_ends_where_it_is_told() {
        let frame = |millis, bytes| Frame { at: Duration::from_millis(millis), bytes };
        let clip = Timetable::clip([frame(0, 10), frame(40, 20)].into(), Duration::from_millis(100)).ending_after(5);
        let units: Vec<_> = (0..7).filter_map(|number| clip.unit(number)).collect();
        assert_eq!(units, [frame(0, 10), frame(40, 20), frame(100, 10), frame(140, 20), frame(200, 10)]);
        assert_eq!(Timetable::clip([].into(), Duration::ZERO).unit(0), None);
    }
}
