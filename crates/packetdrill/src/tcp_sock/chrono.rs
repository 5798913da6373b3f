//! Times during which a sender was limited, by cause (`tcp_chrono_set`).

use super::TcpSock;
use crate::time::Micros;

/// The kinds of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Busy: data is outstanding or waiting, and nothing else limits it.
    Busy,
    /// The receive window of the peer.
    ReceiveWindow,
    /// The send buffer: the application waits for space.
    SendBuffer,
}

/// Times per limit, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chrono {
    now: Option<(Limit, Micros)>,
    busy: Micros,
    receive_window: Micros,
    send_buffer: Micros,
}

impl Chrono {
    /// Sets the current limit.
    fn set(&mut self, limit: Option<Limit>, at: Micros) {
        if self.now.map(|(limit, _)| limit) == limit {
            return;
        }
        *self = self.until(at);
        self.now = limit.map(|limit| (limit, at));
    }

    /// Returns the times up to `at`.
    fn until(mut self, at: Micros) -> Self {
        let Some((limit, since)) = self.now else { return self };
        match limit {
            Limit::Busy => self.busy += at - since,
            Limit::ReceiveWindow => self.receive_window += at - since,
            Limit::SendBuffer => self.send_buffer += at - since,
        }
        self.now = Some((limit, at));
        self
    }

    /// Returns the total busy time, and the times limited by the receive window and by the send buffer.
    pub(crate) fn times(self, at: Micros) -> [u64; 3] {
        let Self { busy, receive_window, send_buffer, .. } = self.until(at);
        [busy + receive_window + send_buffer, receive_window, send_buffer]
    }
}

impl TcpSock {
    /// Determines the current limit.
    pub(crate) fn update_chrono(&mut self, now: Micros, needs_space: bool) {
        let outstanding = self.queue.sent() - self.queue.acknowledged();
        let waits = self.queue.not_sent();
        let room = self.counters.window.saturating_sub(outstanding);
        let has_window = self.connection.in_flight() < self.connection.cwnd() as u64;
        // The conditions exclude each other: the send buffer limits a sender only when all written data was sent.
        let limit = if outstanding + waits == 0 {
            None
        } else if waits > 0 && room < waits.min(self.mss()) && has_window {
            Some(Limit::ReceiveWindow)
        } else if waits == 0 && needs_space {
            Some(Limit::SendBuffer)
        } else {
            Some(Limit::Busy)
        };
        self.chrono.set(limit, now);
    }
}
