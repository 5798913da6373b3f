//! How much of the congestion window was used: what was never tried says nothing about the path, so the window grows no
//! further (the idea of RFC 7661, with the rule of Linux's `tcp_cwnd_validate` and `tcp_is_cwnd_limited`).

use super::sender::Sender;

/// The use of the window in the last round trip: from the sending of one segment to its acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CwndValidation {
    /// The window was full at some time.
    is_full: bool,
    /// The most segments that were outstanding.
    peak: u64,
    /// The round trip ends when everything below this number is acknowledged.
    until: u64,
}

impl CwndValidation {
    fn on_sent(&mut self, una: u64, smax: u64, cwnd: f64) {
        let outstanding = smax - una;
        let is_full = (outstanding + 1).cast_signed() as f64 > cwnd;
        if una >= self.until || is_full || (!self.is_full && outstanding > self.peak) {
            *self = Self { is_full, peak: outstanding, until: smax };
        }
    }
}

impl Sender {
    /// A new segment was sent.
    #[inline]
    pub(super) fn note_use(&mut self) {
        if self.usage.is_none() {
            return;
        }
        let cwnd = self.cwnd();
        if let Some(usage) = &mut self.usage {
            usage.on_sent(self.scoreboard.una(), self.scoreboard.smax(), cwnd);
        }
    }

    /// Returns whether enough of the window was used for it to grow, if that is watched.
    #[inline]
    pub(super) fn is_window_used(&self) -> Option<bool> {
        let used =
            |usage: &CwndValidation| usage.is_full || self.control.cwnd() < self.control.headroom() * usage.peak as f64;
        self.usage.as_ref().map(used)
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

    /// Linux, `tcp_cwnd_validate`: only more than the peak begins anew.
    #[test]
    fn as_much_as_the_peak_again_does_not_prolong_the_round_trip() {
        let mut usage = CwndValidation::default();
        for (una, smax, until) in [(0, 5, 5), (2, 7, 5), (2, 8, 8), (8, 9, 9)] {
            usage.on_sent(una, smax, 100.0);
            assert_eq!(usage.until, until);
        }
    }
}
