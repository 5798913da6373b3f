//! What holds a sender back, and for how long: what Linux counts (`tcp_chrono_start`, `tcp_info`), with the network told apart
//! from the sender's own cap, and an application that writes little from one that keeps the sender busy.

use super::sender::Sender;
use earlybird_units::{Duration, Instant};

/// For how long what held a connection's sender back, since its handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// Nothing was written that was not acknowledged.
    pub idle: Duration,
    /// All that was written was sent, or was held back until more is written (Nagle's algorithm, a cork).
    pub application: Duration,
    /// The same while the application would have written more, had the send buffer had room (`tcpi_sndbuf_limited`).
    pub send_buffer: Duration,
    /// The receiver had no room for what waited (`tcpi_rwnd_limited`).
    pub receiver: Duration,
    /// As much was outstanding as [`Config::window`](crate::Config::window) allows.
    pub largest_window: Duration,
    /// Congestion window, pace or a repair.
    pub network: Duration,
}

impl LimitedTimes {
    /// Returns the time in which something was outstanding or waited (`tcpi_busy_time`).
    pub fn busy(&self) -> Duration {
        self.application + self.send_buffer + self.receiver + self.largest_window + self.network
    }
}

impl core::ops::AddAssign for LimitedTimes {
    fn add_assign(&mut self, other: Self) {
        self.idle += other.idle;
        self.application += other.application;
        self.send_buffer += other.send_buffer;
        self.receiver += other.receiver;
        self.largest_window += other.largest_window;
        self.network += other.network;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Idle,
    Application,
    SendBuffer,
    Receiver,
    LargestWindow,
    Network,
}

/// The limit that holds, since when, and the times of those before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusyTime {
    /// `None` before the handshake and after the end.
    limit: Option<Limit>,
    since: Instant,
    times: LimitedTimes,
}

impl BusyTime {
    fn times(&self, now: Instant) -> LimitedTimes {
        let mut times = self.times;
        let time = match self.limit {
            None => return times,
            Some(Limit::Idle) => &mut times.idle,
            Some(Limit::Application) => &mut times.application,
            Some(Limit::SendBuffer) => &mut times.send_buffer,
            Some(Limit::Receiver) => &mut times.receiver,
            Some(Limit::LargestWindow) => &mut times.largest_window,
            Some(Limit::Network) => &mut times.network,
        };
        *time += now - self.since;
        times
    }

    #[inline]
    fn note(&mut self, now: Instant, limit: Limit) {
        if self.limit != Some(limit) {
            self.change(now, Some(limit));
        }
    }

    #[cold]
    fn change(&mut self, now: Instant, limit: Option<Limit>) {
        *self = Self { limit, since: now, times: self.times(now) };
    }
}

impl Sender {
    /// Looks at what stops it, where nothing more leaves now; `wants_room`: a write was cut short.
    #[inline]
    pub(crate) fn note_limit(&mut self, now: Instant, wants_room: bool) {
        self.limited.note(now, self.limit(wants_room));
    }

    /// The same where [`Self::has_nothing_to_send`].
    #[inline]
    pub(crate) fn note_idle(&mut self, now: Instant) {
        self.limited.note(now, Limit::Idle);
    }

    /// The connection is not open: nothing counts.
    #[inline]
    pub(crate) fn end_limits(&mut self, now: Instant) {
        if self.limited.limit.is_some() {
            self.limited.change(now, None);
        }
    }

    pub(crate) fn limited_times(&self, now: Instant) -> LimitedTimes {
        self.limited.times(now)
    }

    #[inline]
    fn limit(&self, wants_room: bool) -> Limit {
        let outstanding = self.scoreboard.outstanding();
        if self.queue.unsent == 0 {
            return match (outstanding, wants_room) {
                (0, _) => Limit::Idle,
                (_, true) => Limit::SendBuffer,
                (_, false) => Limit::Application,
            };
        }
        if self.persist.is_running() {
            Limit::Receiver
        } else if self.recovery.is_recovering() {
            Limit::Network
        } else if outstanding >= self.largest_window {
            Limit::LargestWindow
        } else if outstanding.cast_signed() as f64 + 1.0 > self.cwnd() {
            Limit::Network
        } else if self.is_held_back(self.most_of_segment()) {
            Limit::Application
        } else if self.has_new_segment() {
            Limit::Network
        } else {
            Limit::Receiver
        }
    }
}

/// The rate at which ACKs of the last round trip came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Bytes acknowledged, and when, as the round trip began.
    begun: Option<(u64, Instant)>,
    /// It is over when this much is acknowledged.
    until: u64,
    /// Bytes, and the time that they took.
    last: Option<(u64, Duration)>,
}

impl Delivered {
    /// Learns that so much is acknowledged of what was sent.
    #[inline]
    pub(super) fn on_progress(&mut self, now: Instant, acknowledged: u64, sent: u64) {
        if acknowledged >= self.until {
            let over = self.begun.map(|(from, since)| (acknowledged - from, now - since));
            self.last = over.filter(|(_, time)| *time > Duration::ZERO).or(self.last);
            (self.begun, self.until) = (Some((acknowledged, now)), sent);
        }
    }

    /// Returns it in bits per second.
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
    fn the_time_of_the_present_limit_counts_until_the_connection_is_over() {
        let mut limited = BusyTime::default();
        assert_eq!(limited.times(at(5)), LimitedTimes::default(), "the handshake");
        limited.change(at(10), Some(Limit::Network));
        limited.change(at(40), Some(Limit::Receiver));
        let [network, receiver] = [30, 20].map(Duration::from_millis);
        let times = limited.times(at(60));
        assert_eq!(times, LimitedTimes { receiver, network, ..LimitedTimes::default() });
        assert_eq!(times.busy(), network + receiver);
        limited.change(at(60), None);
        assert_eq!(limited.times(at(1000)), times);
    }

    #[test]
    fn times_of_two_connections_add_up() {
        let times = |millis: u64| {
            let [idle, application, send_buffer, receiver, largest_window, network] =
                [1, 2, 3, 4, 5, 6].map(|part| Duration::from_millis(part * millis));
            LimitedTimes { idle, application, send_buffer, receiver, largest_window, network }
        };
        let mut sum = times(1);
        sum += times(10);
        assert_eq!(sum, times(11));
    }

    #[test]
    fn a_round_trip_of_no_time_has_no_rate() {
        let mut delivered = Delivered::default();
        for (millis, acknowledged) in [(0, 0), (80, 10_000), (80, 20_000)] {
            delivered.on_progress(at(millis), acknowledged, acknowledged + 10_000);
        }
        assert_eq!(delivered.rate(), Some(1_000_000));
    }

    #[test]
    fn a_rate_is_that_of_a_whole_round_trip() {
        let mut delivered = Delivered::default();
        delivered.on_progress(at(0), 0, 10_000);
        delivered.on_progress(at(60), 5_000, 15_000);
        assert_eq!(delivered.rate(), None);
        delivered.on_progress(at(80), 10_000, 20_000);
        delivered.on_progress(at(90), 12_000, 22_000);
        assert_eq!(delivered.rate(), Some(1_000_000));
    }
}
