//! Passes written data to the connection and handles corks: `TCP_CORK`, and `MSG_MORE` until the next ACK.

use super::TcpSock;
use crate::time::Micros;
use crate::time::instant;
use earlybird_tcp::Cx;

/// The state of passing data on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendFeed {
    pub(crate) cork: bool,
    /// Whether the last write had `MSG_MORE`.
    pub(crate) has_more: bool,
    /// Bytes that were passed to the connection.
    passed: u64,
}

/// The kind of close by the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It closes the sending direction.
    Shut,
    /// It closes both directions.
    Closed,
}

impl TcpSock {
    /// Passes written data to the connection, up to the ends of records.
    pub(crate) fn feed(&mut self) {
        self.connection.cork(self.is_corked());
        // In pieces that end with records: a segment must not span two.
        while self.feed.passed < self.queue.written() {
            let (end, ends_record) = self.queue.boundary_after(self.feed.passed);
            if self.connection.write(end - self.feed.passed).is_err() {
                return;
            }
            self.feed.passed = end;
            if ends_record {
                self.connection.end_record();
            }
        }
    }

    /// The cork timer: pushes what a cork has held back while nothing was outstanding (`tcp_write_wakeup`).
    pub(crate) fn release(&mut self) {
        if self.is_corked() && self.connection.outstanding() == 0 {
            self.queue.push();
        }
    }

    fn is_corked(&self) -> bool {
        self.feed.cork || self.feed.has_more
    }

    /// Closes after all written data.
    pub(crate) fn end(&mut self, end: End, now: Micros) {
        self.feed();
        match end {
            End::Shut => self.connection.shutdown(),
            End::Closed => self.connection.close(&mut Cx { now: instant(now), trace: &mut () }),
        }
    }
}
