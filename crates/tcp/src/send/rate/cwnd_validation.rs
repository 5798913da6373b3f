//! Congestion window validation: a window that was not used shows nothing about the path, so it does not grow (the idea of
//! RFC 7661, with the rule of Linux's `tcp_cwnd_validate` and `tcp_is_cwnd_limited`).

/// The use of the window in the last round trip: from the sending of a segment to its acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CwndValidation {
    /// Whether the window was full at some time.
    is_full: bool,
    /// The largest number of outstanding segments.
    peak: u64,
    /// The round trip ends when everything below this number is acknowledged.
    until: u64,
}

impl CwndValidation {
    /// Records that a new segment was sent.
    #[inline]
    pub(super) fn on_sent(&mut self, una: u64, snd_max: u64, cwnd: f64) {
        let outstanding = snd_max - una;
        let is_full = (outstanding + 1).cast_signed() as f64 > cwnd;
        // Linux remembers a full window for a whole round trip, even if a smaller flight follows.
        if una >= self.until || is_full || (!self.is_full && outstanding > self.peak) {
            *self = Self { is_full, peak: outstanding, until: snd_max };
        }
    }

    /// Returns whether enough of the window was used for it to grow. `headroom` is how many times the flight the window may be.
    #[inline]
    pub(super) fn is_used(&self, cwnd: impl FnOnce() -> f64, headroom: impl FnOnce() -> f64) -> bool {
        self.is_full || cwnd() < headroom() * self.peak as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends so many segments with nothing outstanding before.
    fn burst(usage: &mut CwndValidation, from: u64, count: u64, cwnd: f64) {
        (1..=count).for_each(|sent| usage.on_sent(from, from + sent, cwnd));
    }

    #[test]
    fn a_window_stays_full_until_what_filled_it_is_acknowledged() {
        let mut usage = CwndValidation::default();
        burst(&mut usage, 1, 10, 10.0);
        assert!(usage.is_full);
        // Half of it is acknowledged, and nothing but one segment follows.
        usage.on_sent(6, 12, 10.0);
        assert!(usage.is_full);
        usage.on_sent(11, 13, 10.0);
        assert!(!usage.is_full);
    }

    #[test]
    fn the_peak_of_a_round_trip_is_remembered() {
        let mut usage = CwndValidation::default();
        burst(&mut usage, 1, 6, 10.0);
        usage.on_sent(5, 8, 10.0);
        assert_eq!((usage.is_full, usage.peak), (false, 6));
        // The next round trip uses less.
        usage.on_sent(8, 9, 10.0);
        assert_eq!((usage.is_full, usage.peak), (false, 1));
    }

    /// Linux, `tcp_cwnd_validate`: only more than the peak begins again.
    #[test]
    fn a_repeated_peak_does_not_prolong_the_round_trip() {
        let mut usage = CwndValidation::default();
        for (una, snd_max, until) in [(0, 5, 5), (2, 7, 5), (2, 8, 8), (8, 9, 9)] {
            usage.on_sent(una, snd_max, 100.0);
            assert_eq!(usage.until, until);
        }
    }
}
