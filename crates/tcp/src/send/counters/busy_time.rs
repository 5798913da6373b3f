//! The limits of a sender, and the time that each has held, as Linux counts it (`tcp_chrono_start`, `tcp_info`).
//!
//! Beyond Linux, the network is distinguished from the sender's own cap, and an idle application from one that writes little.

use earlybird_units::{Duration, Instant};

/// For how long each limit has held a connection's sender back, since its handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// Everything that was written was acknowledged.
    pub idle: Duration,
    /// Everything that was written was sent, or held back until more is written (Nagle's algorithm, a cork).
    pub application: Duration,
    /// The same, while the application waited for room in the send buffer (`tcpi_sndbuf_limited`).
    pub send_buffer: Duration,
    /// The receiver's window had no room for unsent data (`tcpi_rwnd_limited`).
    pub receiver: Duration,
    /// As much was outstanding as [`Config::window`](crate::Config::window) allows.
    pub largest_window: Duration,
    /// Congestion window, pacing or recovery.
    pub network: Duration,
}

impl LimitedTimes {
    /// Returns the time in which something was outstanding or unsent (`tcpi_busy_time`).
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

/// The limit that stops a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedBy {
    Idle,
    Application,
    SendBuffer,
    Receiver,
    LargestWindow,
    Network,
}

/// The limit in effect, since when, and the times of those before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusyTime {
    /// `None` before the handshake and after the end.
    limit: Option<LimitedBy>,
    since: Instant,
    times: LimitedTimes,
}

impl BusyTime {
    /// Returns the times until `now`.
    pub(super) fn times(&self, now: Instant) -> LimitedTimes {
        let mut times = self.times;
        let time = match self.limit {
            None => return times,
            Some(LimitedBy::Idle) => &mut times.idle,
            Some(LimitedBy::Application) => &mut times.application,
            Some(LimitedBy::SendBuffer) => &mut times.send_buffer,
            Some(LimitedBy::Receiver) => &mut times.receiver,
            Some(LimitedBy::LargestWindow) => &mut times.largest_window,
            Some(LimitedBy::Network) => &mut times.network,
        };
        *time += now - self.since;
        times
    }

    /// Sets the limit in effect from `now` on.
    #[inline]
    pub(super) fn set(&mut self, now: Instant, limit: LimitedBy) {
        if self.limit != Some(limit) {
            self.change(now, Some(limit));
        }
    }

    /// Ends the count: the connection is not open.
    #[inline]
    pub(super) fn stop(&mut self, now: Instant) {
        if self.limit.is_some() {
            self.change(now, None);
        }
    }

    // A limit lasts for many packets: most calls change nothing.
    #[cold]
    fn change(&mut self, now: Instant, limit: Option<LimitedBy>) {
        *self = Self { limit, since: now, times: self.times(now) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_time_of_the_current_limit_counts_until_the_connection_ends() {
        let mut limited = BusyTime::default();
        assert_eq!(limited.times(at(5)), LimitedTimes::default(), "the handshake");
        limited.change(at(10), Some(LimitedBy::Network));
        limited.change(at(40), Some(LimitedBy::Receiver));
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
}
