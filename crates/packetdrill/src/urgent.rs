//! The urgent byte: Linux has one, the last before the end of the urgent data (`tcp_check_urg`), and unless told otherwise
//! (`SO_OOBINLINE`) keeps it out of what is read.

use crate::flow::Flow;
use earlybird_tcp::AcceptedRange;

/// Where in what the peer sent its urgent byte is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Urgent(Option<u64>);

impl Urgent {
    /// Learns of a segment that was taken, and how far behind its beginning its urgent data end.
    pub(crate) fn note(&mut self, taken: &AcceptedRange, end: Option<u16>) {
        let start = taken.stream.start.saturating_sub(u64::from(taken.skip));
        if let Some(end) = end.filter(|_| !taken.stream.is_empty()) {
            self.0 = Some(start + u64::from(end.max(1)) - 1);
        }
    }
}

impl Flow {
    /// Returns the bytes that can be read at once: none from the urgent one on.
    pub(crate) fn readable(&self) -> u64 {
        let unread = self.connection.unread();
        let read = self.connection.received() - unread;
        self.urgent.0.and_then(|at| at.checked_sub(read)).map_or(unread, |before| before.min(unread))
    }

    /// Returns whether the urgent byte is the next.
    pub(crate) fn is_at_urgent(&self) -> bool {
        self.connection.unread() > 0 && self.readable() == 0
    }

    /// Leaves the urgent byte out, if it is the next.
    pub(crate) fn pass_urgent(&mut self) {
        if self.is_at_urgent() {
            self.connection.read(1);
            self.urgent = Urgent::default();
        }
    }
}
