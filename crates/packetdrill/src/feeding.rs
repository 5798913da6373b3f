//! What of the send buffer the connection is given to send, and how it is to hold it back: records end where the socket says,
//! and `MSG_MORE` is a cork until the next ACK.

use crate::flow::{Flow, instant};
use crate::world::Micros;
use earlybird_tcp::Cx;

/// What the application wants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feeding {
    pub(crate) cork: bool,
    /// The last write said that more will come.
    pub(crate) has_more: bool,
    /// The connection was given so much.
    passed: u64,
}

/// How an application ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It sends no more.
    Shut,
    /// It does not read either.
    Closed,
}

impl Flow {
    /// Returns the connection what was written.
    pub(crate) fn feed(&mut self) {
        self.connection.cork(self.is_corked());
        while self.feeding.passed < self.queue.written() {
            let (end, ends_record) = self.queue.boundary_after(self.feeding.passed);
            if self.connection.write(end - self.feeding.passed).is_err() {
                return;
            }
            self.feeding.passed = end;
            if ends_record {
                self.connection.end_record();
            }
        }
    }

    /// Time is up: what a cork held back with nothing outstanding is pushed (`tcp_write_wakeup`).
    pub(crate) fn release(&mut self) {
        if self.is_corked() && self.connection.outstanding() == 0 {
            self.queue.push();
        }
    }

    fn is_corked(&self) -> bool {
        self.feeding.cork || self.feeding.has_more
    }

    /// Ends the sending direction behind what was written.
    pub(crate) fn end(&mut self, end: End, now: Micros) {
        self.feed();
        match end {
            End::Shut => self.connection.shutdown(),
            End::Closed => self.connection.close(&mut Cx { now: instant(now), trace: &mut () }),
        }
    }
}
