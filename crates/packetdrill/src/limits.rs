//! What a sender was limited by, and for how long (`tcp_chrono_set`).

use crate::flow::Flow;
use crate::world::Micros;

/// The limits that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Something is outstanding or waits, and nothing else holds it back.
    Busy,
    /// The peer's window.
    ReceiveWindow,
    /// The send buffer: the application would write more.
    SendBuffer,
}

/// Times in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    now: Option<(Limit, Micros)>,
    busy: Micros,
    receive_window: Micros,
    send_buffer: Micros,
}

impl Limits {
    /// Learns what limits the sender from now on.
    fn set(&mut self, limit: Option<Limit>, at: Micros) {
        if self.now.map(|(limit, _)| limit) == limit {
            return;
        }
        *self = self.until(at);
        self.now = limit.map(|limit| (limit, at));
    }

    /// Returns the times as they are at a moment.
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

    /// Returns the times busy in all, limited by the peer's window, and limited by the send buffer.
    pub(crate) fn times(self, at: Micros) -> [u64; 3] {
        let Self { busy, receive_window, send_buffer, .. } = self.until(at);
        [busy + receive_window + send_buffer, receive_window, send_buffer]
    }
}

impl Flow {
    /// Finds out what limits this sender now.
    pub(crate) fn watch_limits(&mut self, now: Micros, wants_room: bool) {
        let outstanding = self.queue.sent() - self.queue.acknowledged();
        let waits = self.queue.not_sent();
        let room = self.counts.window.saturating_sub(outstanding);
        let has_window = self.connection.in_flight() < self.connection.cwnd() as u64;
        let limit = if outstanding + waits == 0 {
            None
        } else if waits > 0 && room < waits.min(self.mss()) && has_window {
            Some(Limit::ReceiveWindow)
        } else if waits == 0 && wants_room {
            Some(Limit::SendBuffer)
        } else {
            Some(Limit::Busy)
        };
        self.limits.set(limit, now);
    }
}
