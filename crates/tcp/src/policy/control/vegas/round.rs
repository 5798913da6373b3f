//! Vegas' measure: what a round trip's segments were slower than the shortest one, as segments in the queue.

use earlybird_units::{Duration, Instant};

/// Where the sender stands after an ACK, in numbers of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) una: u64,
    pub(super) nxt: u64,
}

impl Place {
    /// Returns what ns-2 takes for the segments in flight: one more than there are.
    pub(super) fn in_flight(self) -> f64 {
        (self.nxt + 1 - self.una) as f64
    }
}

/// One round trip: from the ACK of a segment to that of the one that was next then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Smallest round-trip time ever, in seconds.
    shortest: f64,
    sum: f64,
    count: u32,
    begun: Option<Instant>,
    /// Number of the next segment when the round began.
    pub(super) first: u64,
}

impl Round {
    pub(super) const FIRST: Self = Self { shortest: f64::INFINITY, sum: 0.0, count: 0, begun: None, first: 0 };

    /// Ends the round and gives how many segments stand in the queue.
    pub(super) fn end(&mut self, now: Instant, place: Place) -> Option<i64> {
        let since_begin = || self.begun.map_or(0.0, |begun| (now - begun).as_secs_f64());
        let rtt = if self.count > 0 { self.sum / f64::from(self.count) } else { since_begin() };
        let sent = place.nxt - self.first;
        *self = Self { sum: 0.0, count: 0, begun: Some(now), first: place.nxt, ..*self };
        if rtt <= 0.0 {
            return None;
        }
        if rtt < self.shortest || sent <= 1 {
            self.shortest = rtt;
        }
        let (expected, actual) = (place.in_flight() / self.shortest, sent as f64 / rtt);
        Some(((expected - actual) * self.shortest + 0.5) as i64)
    }

    pub(super) fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.sum += rtt;
        self.count += 1;
        self.shortest = self.shortest.min(rtt);
    }
}
