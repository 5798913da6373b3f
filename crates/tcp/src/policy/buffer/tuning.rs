//! Autotuning of the receive buffer by the bytes that the application reads per RTT: Linux's dynamic right-sizing
//! (`tcp_rcv_space_adjust`, `tcp_rcv_rtt_measure`, `tcp_rcv_rtt_measure_ts` of `net/ipv4/tcp_input.c`). Linux updates
//! it on each read, this on each arrival.

use earlybird_units::{Duration, Instant};

/// The state of the receiver after an in-order segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RcvProgress {
    pub(crate) now: Instant,
    /// The next expected position.
    pub(crate) nxt: u64,
    /// Position of the next byte that the application reads.
    pub(crate) read: u64,
    /// The right edge of the advertised window.
    pub(crate) edge: u64,
    /// The RTT by the segment's timestamp; too long if the sender was application-limited.
    pub(crate) echoed: Option<Duration>,
}

/// The tick of the timestamp clock.
const TIMESTAMP_TICK: Duration = Duration::from_millis(1);
/// Segments that a sender is assumed to send in the first RTT (`TCP_INIT_CWND`).
const INITIAL_SEGMENTS: u64 = 10;
/// Segments beyond twice the bytes read per RTT (`tcp_rcv_space_adjust`).
const CUSHION: u64 = 16;

/// Measures the RTT, and the bytes read per RTT.
#[derive(Clone, Debug)]
pub(crate) struct Autotuning {
    largest: u64,
    mss: u64,
    rtt: Option<Duration>,
    /// The edge of a window and the time of its advertisement: when it is reached, about one RTT has passed.
    window: Option<(u64, Instant)>,
    /// Start time and position of the current measurement.
    measured: Option<(Instant, u64)>,
    /// Most bytes read per RTT so far.
    read_before: u64,
}

impl Autotuning {
    pub(super) fn new(largest: u64, mss: u64) -> Self {
        Self { largest, mss, rtt: None, window: None, measured: None, read_before: INITIAL_SEGMENTS * mss }
    }

    /// Processes an arrival. Returns the new size of the buffer after an RTT in which more was read than ever.
    pub(crate) fn on_arrival(&mut self, progress: &RcvProgress) -> Option<u64> {
        self.measure_rtt(progress);
        let (since, from) = *self.measured.get_or_insert((progress.now, progress.read));
        if progress.now - since < self.rtt? {
            return None;
        }
        self.measured = Some((progress.now, progress.read));
        self.size_for(progress.read - from)
    }

    fn measure_rtt(&mut self, progress: &RcvProgress) {
        match progress.echoed {
            Some(echoed) => {
                let echoed = echoed.max(TIMESTAMP_TICK);
                // `tcp_rcv_rtt_update`: an average for timestamps, the minimum without.
                self.rtt = Some(self.rtt.map_or(echoed, |old| (old * 7 + echoed) / 8));
            }
            None => self.measure_window(progress),
        }
    }

    /// Measures without timestamps: a sender that only the window limits uses it up in one RTT. The shortest time counts.
    fn measure_window(&mut self, progress: &RcvProgress) {
        if let Some((edge, since)) = self.window {
            if progress.nxt < edge {
                return;
            }
            let took = progress.now - since;
            self.rtt = Some(self.rtt.map_or(took, |old| old.min(took)));
        }
        self.window = Some((progress.edge, progress.now));
    }

    /// Returns the size for `read` bytes per RTT. Twice that leaves room for a loss and its repair; a sender in slow start needs twice
    /// as much again.
    fn size_for(&mut self, read: u64) -> Option<u64> {
        let before = self.read_before;
        if read <= before {
            return None;
        }
        self.read_before = read;
        let steady = 2 * read + CUSHION * self.mss;
        // 128 bits: the product of two buffer sizes may exceed 64.
        let growing = u128::from(steady) * u128::from(read - before) / u128::from(before.max(1));
        let growing = u64::try_from(2 * growing).unwrap_or(u64::MAX);
        Some(steady.saturating_add(growing).min(self.largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: u64 = 100;

    fn progress(millis: u64, read: u64, echoed: Option<u64>) -> RcvProgress {
        let now = Instant::ZERO + Duration::from_millis(millis);
        RcvProgress { now, nxt: read, read, edge: read + 65_535, echoed: echoed.map(Duration::from_millis) }
    }

    #[test]
    fn a_reader_that_doubles_gets_six_times_of_what_it_read_and_one_that_is_steady_twice() {
        let mut tuning = Autotuning::new(10_000_000, 1000);
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
        let mut tuning = Autotuning::new(10_000_000, 1000);
        for millis in 0..1000 {
            let arrived = RcvProgress { nxt: 1 + millis * 1000, ..progress(millis, 1, Some(RTT)) };
            assert_eq!(tuning.on_arrival(&arrived), None);
        }
    }

    #[test]
    fn a_window_has_passed_with_its_last_byte() {
        for (nxt, rtt) in [(65_534, None), (65_535, Some(Duration::from_millis(70)))] {
            let mut tuning = Autotuning::new(10_000_000, 1000);
            tuning.on_arrival(&progress(0, 0, None));
            tuning.on_arrival(&RcvProgress { nxt, ..progress(70, 0, None) });
            assert_eq!(tuning.rtt, rtt, "{nxt}");
        }
    }

    /// A window of 65,535 bytes passes in 70 ms: (2·66,000 + 16,000)·(1 + 2·56/10).
    #[test]
    fn without_timestamps_a_round_trip_is_the_time_of_a_window() {
        let mut tuning = Autotuning::new(10_000_000, 1000);
        for millis in 0..=65 {
            assert_eq!(tuning.on_arrival(&progress(millis, 1 + millis * 1000, None)), None);
        }
        assert_eq!(tuning.rtt, None);
        assert_eq!(tuning.on_arrival(&progress(70, 66_001, None)), Some(1_805_600));
        assert_eq!(tuning.rtt, Some(Duration::from_millis(70)));
    }
}
