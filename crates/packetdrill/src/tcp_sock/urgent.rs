//! Urgent data. Linux supports one urgent byte, the last before the urgent pointer (`tcp_check_urg`), and excludes it from normal
//! reads without `SO_OOBINLINE`.

use super::TcpSock;
use earlybird_tcp::AcceptedRange;

/// The offset of the urgent byte in the received stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Urgent(Option<u64>);

impl Urgent {
    /// Records the urgent pointer of an accepted segment.
    pub(crate) fn update(&mut self, taken: &AcceptedRange, end: Option<u16>) {
        let start = taken.stream.start.saturating_sub(u64::from(taken.skip));
        if let Some(end) = end.filter(|_| !taken.stream.is_empty()) {
            // The pointer refers to the byte after the urgent one (`tcp_stdurg` = 0, the BSD interpretation).
            self.0 = Some(start + u64::from(end.max(1)) - 1);
        }
    }
}

impl TcpSock {
    /// Returns the number of readable bytes before the urgent byte.
    pub(crate) fn readable(&self) -> u64 {
        let unread = self.connection.readable();
        let read = self.connection.received() - unread;
        self.urgent.0.and_then(|at| at.checked_sub(read)).map_or(unread, |before| before.min(unread))
    }

    /// Returns whether the next byte is urgent.
    pub(crate) fn is_at_urgent(&self) -> bool {
        self.connection.readable() > 0 && self.readable() == 0
    }

    /// Skips the urgent byte if it is next.
    pub(crate) fn skip_urgent(&mut self) {
        if self.is_at_urgent() {
            self.connection.read(1);
            self.urgent = Urgent::default();
        }
    }
}
