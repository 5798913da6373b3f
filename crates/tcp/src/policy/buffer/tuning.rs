//! A receive buffer that follows what the application reads in a round trip: Linux's dynamic right-sizing
//! (`tcp_rcv_space_adjust`, `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_measure_ts` of `net/ipv4/tcp_input.c`). Where Linux looks on
//! each read, this looks on each arrival.

use earlybird_units::{Duration, Instant};

/// What a segment tells that arrived in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) now: Instant,
    /// The next position expected.
    pub(crate) nxt: u64,
    /// Position of the next byte that the application reads.
    pub(crate) read: u64,
    /// The first position beyond the window that was told.
    pub(crate) edge: u64,
    /// The round trip that the segment's timestamp shows; it is too long where the sender had nothing to send.
    pub(crate) echoed: Option<Duration>,
}

/// The tick of the clock that timestamps tell.
const FINEST: Duration = Duration::from_millis(1);
/// Segments per round trip that a sender is thought to begin with (`TCP_INIT_CWND`).
const AT_FIRST: u64 = 10;
/// Segments beyond the double of what was read in a round trip.
const CUSHION: u64 = 16;

/// Measures round trips, and what is read in each.
#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    largest: u64,
    mss: u64,
    round_trip: Option<Duration>,
    /// When this much will have arrived, a window has passed, which was told at that time.
    window: Option<(u64, Instant)>,
    /// Since when, from where, and what was read in the round trip before.
    measured: Option<(Instant, u64)>,
    read_before: u64,
}

impl Tuning {
    pub(super) fn new(largest: u64, mss: u64) -> Self {
        Self { largest, mss, round_trip: None, window: None, measured: None, read_before: AT_FIRST * mss }
    }

    /// Learns of an arrival, and gives the size that the buffer should have, once a round trip is over in which more was read
    /// than ever.
    pub(crate) fn on_arrival(&mut self, progress: &Progress) -> Option<u64> {
        self.measure_round_trip(progress);
        let (since, from) = *self.measured.get_or_insert((progress.now, progress.read));
        if progress.now - since < self.round_trip? {
            return None;
        }
        self.measured = Some((progress.now, progress.read));
        self.size_for(progress.read - from)
    }

    fn measure_round_trip(&mut self, progress: &Progress) {
        match progress.echoed {
            Some(echoed) => {
                let echoed = echoed.max(FINEST);
                self.round_trip = Some(self.round_trip.map_or(echoed, |old| (old * 7 + echoed) / 8));
            }
            None => self.measure_window(progress),
        }
    }

    /// Without timestamps: a sender that is held back by nothing but the window takes a round trip to use it up. The shortest
    /// time counts.
    fn measure_window(&mut self, progress: &Progress) {
        if let Some((edge, since)) = self.window {
            if progress.nxt < edge {
                return;
            }
            let took = progress.now - since;
            self.round_trip = Some(self.round_trip.map_or(took, |old| old.min(took)));
        }
        self.window = Some((progress.edge, progress.now));
    }

    /// Twice of what was read leaves room for a loss and its repair; a sender that doubles its window needs twice as much
    /// again.
    fn size_for(&mut self, read: u64) -> Option<u64> {
        let before = self.read_before;
        if read <= before {
            return None;
        }
        self.read_before = read;
        let steady = 2 * read + CUSHION * self.mss;
        let growing = u128::from(steady) * u128::from(read - before) / u128::from(before.max(1));
        let growing = u64::try_from(2 * growing).unwrap_or(u64::MAX);
        Some(steady.saturating_add(growing).min(self.largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: u64 = 100;

    fn progress(millis: u64, read: u64, echoed: Option<u64>) -> Progress {
        let now = Instant::ZERO + Duration::from_millis(millis);
        Progress { now, nxt: read, read, edge: read + 65_535, echoed: echoed.map(Duration::from_millis) }
    }

    #[test]
    fn a_reader_that_doubles_gets_six_times_of_what_it_read_and_one_that_is_steady_twice() {
        let mut tuning = Tuning::new(10_000_000, 1000);
        assert_eq!(tuning.on_arrival(&progress(0, 1, Some(RTT))), None);
        assert_eq!(tuning.on_arrival(&progress(99, 15_001, Some(RTT))), None, "the round trip is not over");
        // 20,000 after 10,000 at first: (2·20,000 + 16,000)·(1 + 2·1).
        assert_eq!(tuning.on_arrival(&progress(100, 20_001, Some(RTT))), Some(168_000));
        assert_eq!(tuning.on_arrival(&progress(200, 40_001, Some(RTT))), None, "no more than before");
        // 21,000 after 20,000: 58,000·(1 + 2/20).
        assert_eq!(tuning.on_arrival(&progress(300, 61_001, Some(RTT))), Some(63_800));
        assert_eq!(tuning.on_arrival(&progress(400, 100_000_000, Some(RTT))), Some(10_000_000));
    }

    #[test]
    fn a_reader_that_does_not_read_gets_nothing() {
        let mut tuning = Tuning::new(10_000_000, 1000);
        for millis in 0..1000 {
            let arrived = Progress { nxt: 1 + millis * 1000, ..progress(millis, 1, Some(RTT)) };
            assert_eq!(tuning.on_arrival(&arrived), None);
        }
    }

    #[test]
    fn a_window_has_passed_with_its_last_byte() {
        for (nxt, round_trip) in [(65_534, None), (65_535, Some(Duration::from_millis(70)))] {
            let mut tuning = Tuning::new(10_000_000, 1000);
            tuning.on_arrival(&progress(0, 0, None));
            tuning.on_arrival(&Progress { nxt, ..progress(70, 0, None) });
            assert_eq!(tuning.round_trip, round_trip, "{nxt}");
        }
    }

    /// A window of 65,535 bytes passes in 70 ms: (2·66,000 + 16,000)·(1 + 2·56/10).
    #[test]
    fn without_timestamps_a_round_trip_is_the_time_of_a_window() {
        let mut tuning = Tuning::new(10_000_000, 1000);
        for millis in 0..=65 {
            assert_eq!(tuning.on_arrival(&progress(millis, 1 + millis * 1000, None)), None);
        }
        assert_eq!(tuning.round_trip, None);
        assert_eq!(tuning.on_arrival(&progress(70, 66_001, None)), Some(1_805_600));
        assert_eq!(tuning.round_trip, Some(Duration::from_millis(70)));
    }
}
