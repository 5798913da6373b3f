//! The round-trip time, as both sides know it (§4.10).

use earlybird_units::Duration;

/// Smoothed round-trip time and its variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    pub(crate) rtt: Duration,
    pub(crate) variance: Duration,
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self { rtt: Duration::from_millis(100), variance: Duration::from_millis(50) }
    }
}

impl RoundTrip {
    /// Takes a sample. The draft does not state to which RTT the variance refers; here the one before the sample, as in
    /// RFC 6298 and in Haivision's implementation.
    pub(crate) fn update(&mut self, sample: Duration) {
        self.variance = (self.variance * 3 + self.rtt.abs_diff(sample)) / 4;
        self.rtt = (self.rtt * 7 + sample) / 8;
    }

    /// Returns RTT + 4·RTTVar, which hardly any round trip exceeds …
    pub(crate) fn longest(&self) -> Duration {
        self.rtt + self.variance * 4
    }

    /// … and RTT − 4·RTTVar, from which on one may be over.
    pub(crate) fn shortest(&self) -> Duration {
        self.rtt.saturating_sub(self.variance * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_move_the_estimate_by_an_eighth_and_the_variance_by_a_quarter() {
        let mut round_trip = RoundTrip::default();
        round_trip.update(Duration::from_millis(60));
        let expected = RoundTrip { rtt: Duration::from_millis(95), variance: Duration::from_micros(47_500) };
        assert_eq!(round_trip, expected);
        assert_eq!((round_trip.longest(), round_trip.shortest()), (Duration::from_millis(285), Duration::default()));
    }
}
