//! The rate of delivery that a connection reports (`tcpi_delivery_rate` of Linux).

use earlybird_units::{Duration, Instant};

/// The rate at which data were acknowledged in the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryRate {
    /// Bytes acknowledged when the round trip began, and that time.
    begun: Option<(u64, Instant)>,
    /// The round trip ends when so many bytes are acknowledged.
    until: u64,
    /// The bytes of the last round trip, and its duration.
    last: Option<(u64, Duration)>,
}

impl DeliveryRate {
    /// Records that a number of the `sent` bytes are acknowledged.
    #[inline]
    pub(super) fn on_progress(&mut self, now: Instant, acknowledged: u64, sent: u64) {
        if acknowledged >= self.until {
            let over = self.begun.map(|(from, since)| (acknowledged - from, now - since));
            // Two ACKs at the same time measure no rate: the last one stays.
            self.last = over.filter(|(_, time)| *time > Duration::ZERO).or(self.last);
            (self.begun, self.until) = (Some((acknowledged, now)), sent);
        }
    }

    /// Returns the rate in bits per second; `None` before the first round trip is over.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.last.map(|(bytes, time)| (bytes as f64 * 8.0 / time.as_secs_f64()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_round_trip_of_no_time_has_no_rate() {
        let mut rate = DeliveryRate::default();
        for (millis, acknowledged) in [(0, 0), (80, 10_000), (80, 20_000)] {
            rate.on_progress(at(millis), acknowledged, acknowledged + 10_000);
        }
        assert_eq!(rate.rate(), Some(1_000_000));
    }

    #[test]
    fn a_rate_is_that_of_a_whole_round_trip() {
        let mut rate = DeliveryRate::default();
        rate.on_progress(at(0), 0, 10_000);
        rate.on_progress(at(60), 5_000, 15_000);
        assert_eq!(rate.rate(), None);
        rate.on_progress(at(80), 10_000, 20_000);
        rate.on_progress(at(90), 12_000, 22_000);
        assert_eq!(rate.rate(), Some(1_000_000));
    }
}
