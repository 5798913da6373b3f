//! Adaptation of the encoder's rate to the connection: `dbr_add_frame`, `dbr_bitrate_lowered` and `dbr_inc_bitrate` of OBS Studio's
//! `plugins/obs-outputs/rtmp-stream.c`. Rates are whole kilobits per second, as there.

use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// The rate is raised so long after it changed (`DBR_INC_TIMER`).
const RAISE_AFTER: Duration = Duration::from_secs(4);
/// Playing time in the queue from which on the rate is lowered (`DBR_TRIGGER_USEC`).
const LOWER_AT: Duration = Duration::from_millis(200);
/// The minimum and maximum window of the throughput estimate in milliseconds (`MIN_ESTIMATE_DURATION_MS`,
/// `MAX_ESTIMATE_DURATION_MS`).
const ESTIMATE_OVER: [u64; 2] = [1000, 2000];
/// No estimate is below this (`dbr_add_frame`).
const LEAST: u64 = 50;
/// Estimates are rounded down to this (`dbr_bitrate_lowered`).
const STEP: u64 = 100;
/// A rise is this part of the rate at the beginning (`dbr_inc_bitrate`).
const RISES: u64 = 10;

#[derive(Clone, Copy, Debug)]
struct Sent {
    begun: Instant,
    bytes: u64,
}

/// The rate of an encoder that can change it.
#[derive(Clone, Debug)]
pub(super) struct Bitrate {
    sound: u64,
    original: u64,
    current: u64,
    previous: Option<u64>,
    raise_at: Option<Instant>,
    sent: VecDeque<Sent>,
    sent_bytes: u64,
    estimate: Option<u64>,
}

impl Bitrate {
    /// Makes one of pictures and sound at these rates in kilobits per second.
    pub(super) const fn new(pictures: u64, sound: u64) -> Self {
        Self {
            sound,
            original: pictures,
            current: pictures,
            previous: None,
            raise_at: None,
            sent: VecDeque::new(),
            sent_bytes: 0,
            estimate: None,
        }
    }

    /// Returns the rate of the pictures in kilobits per second.
    pub(super) const fn current(&self) -> u64 {
        self.current
    }

    /// Returns the size of a picture that has `bytes` at the rate of the beginning.
    pub(super) fn scale(&self, bytes: u64) -> u64 {
        (bytes * self.current / self.original.max(1)).max(1)
    }

    /// Records that the connection took a packet between two points in time.
    pub(super) fn on_sent(&mut self, begun: Instant, ended: Instant, bytes: u64) {
        self.sent.push_back(Sent { begun, bytes });
        self.sent_bytes += bytes;
        let front = self.sent.front().copied().unwrap_or(Sent { begun, bytes });
        let millis = (ended - front.begun).as_nanos() / 1_000_000;
        let [least, most] = ESTIMATE_OVER;
        if millis >= most {
            self.sent_bytes -= front.bytes;
            self.sent.pop_front();
        }
        // Integer arithmetic in the order of OBS, whose rounding is kept.
        let estimate = (millis >= least).then(|| self.sent_bytes * 1000 / millis * 8 / 1000).filter(|rate| *rate > 0);
        self.estimate = estimate.map(|rate| rate.saturating_sub(self.sound).max(LEAST));
    }

    /// Raises the rate if it is time.
    pub(super) fn raise(&mut self, now: Instant) {
        if self.raise_at.is_none_or(|at| now < at) {
            return;
        }
        self.previous = Some(self.current);
        self.current = (self.current + self.original / RISES).min(self.original);
        self.raise_at = (self.current < self.original).then_some(now + RAISE_AFTER);
    }

    /// Lowers the rate if the playing time in the queue reaches the threshold.
    pub(super) fn lower(&mut self, now: Instant, waiting: Duration) {
        let possible = (waiting >= LOWER_AT).then(|| self.possible()).flatten();
        if let Some(rate) = possible.filter(|rate| *rate != self.current) {
            (self.previous, self.current) = (None, rate);
            self.raise_at = Some(now + RAISE_AFTER);
        }
    }

    /// Returns the rate that the connection accepts, if it is less than the rate, or else the rate before the last increase.
    fn possible(&mut self) -> Option<u64> {
        let Some(estimate) = self.estimate.filter(|estimate| *estimate < self.current) else { return self.previous };
        // OBS starts a new estimate at the new rate.
        self.sent.clear();
        self.sent_bytes = 0;
        Some((estimate / STEP * STEP).max(LEAST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// Sends a number of bytes in each of ten writes of 100 ms.
    fn send(bitrate: &mut Bitrate, from: u64, bytes: u64) {
        (0..10).for_each(|write| bitrate.on_sent(at(from + 100 * write), at(from + 100 * (write + 1)), bytes));
    }

    /// Returns the lower rate if the rate must be lowered.
    fn lowered(bitrate: &mut Bitrate, at_millis: u64) -> u64 {
        bitrate.lower(at(at_millis), LOWER_AT);
        bitrate.current()
    }

    #[test]
    fn the_rate_is_what_was_sent_without_the_sound_in_whole_hundreds() {
        let mut bitrate = Bitrate::new(6000, 160);
        send(&mut bitrate, 0, 39_000);
        bitrate.lower(at(1000), Duration::from_millis(199));
        assert_eq!(bitrate.current(), 6000, "little waits");
        // 3120 kb/s, of which 160 are sound.
        assert_eq!((lowered(&mut bitrate, 1000), bitrate.scale(6000)), (2900, 2900));
        assert_eq!(lowered(&mut bitrate, 1100), 2900, "the estimate is no lower, and nothing was tried before");
    }

    #[test]
    fn a_tenth_is_added_every_four_seconds_up_to_the_beginning() {
        let mut bitrate = Bitrate::new(6000, 0);
        send(&mut bitrate, 0, 62_500);
        assert_eq!(lowered(&mut bitrate, 1000), 5000);
        let rates: Vec<_> = [4999, 5000, 8999, 9000, 20_000]
            .into_iter()
            .map(|millis| {
                bitrate.raise(at(millis));
                bitrate.current()
            })
            .collect();
        assert_eq!(rates, [5000, 5600, 5600, 6000, 6000]);
    }

    #[test]
    fn a_rise_that_the_connection_does_not_bear_is_taken_back() {
        let mut bitrate = Bitrate::new(6000, 0);
        send(&mut bitrate, 0, 37_500);
        assert_eq!(lowered(&mut bitrate, 1000), 3000);
        bitrate.raise(at(5000));
        assert_eq!(bitrate.current(), 3600);
        // A second was not sent since: nothing is known but the rate before.
        bitrate.on_sent(at(5000), at(5100), 37_500);
        assert_eq!(lowered(&mut bitrate, 5100), 3000);
    }
}
