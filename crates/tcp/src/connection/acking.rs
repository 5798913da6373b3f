//! What an application, and a segment's circumstances, have to say about when it is acknowledged.

use super::Connection;
use crate::receive::Circumstances;
use crate::scoreboard::clock;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, Segment};

impl Connection {
    /// Asks for ACKs at once for a while, or for ACKs that wait for the application's answers: Linux's `TCP_QUICKACK`. It
    /// matters with [`Acking::Adaptive`](crate::Acking::Adaptive) only, which decides anew with what comes.
    pub fn quick_ack(&mut self, is_quick: bool) {
        self.receiver.set_interactive(!is_quick);
    }

    /// Returns the delay of ACKs where it adapts, once data came.
    pub fn ack_delay(&self) -> Option<Duration> {
        self.receiver.ack_delay()
    }

    /// Tells the receiver what its policies ask for, if they do.
    #[inline]
    pub(super) fn tell_circumstances(&mut self, now: Instant, segment: &Segment) {
        if self.receiver.asks_for_circumstances() {
            let timer = self.sender.loss().timer().value();
            let stamps = segment.options.timestamps.filter(|_| self.peer.timestamps);
            self.receiver.circumstances = Circumstances {
                is_pushed: segment.flags.contains(Flags::PSH),
                timeout: timer.timeout,
                round_trip: timer.smoothed,
                echoed: stamps.map(|stamps| clock::since(now, stamps.echo.wrapping_sub(self.timestamp_offset))),
            };
        }
    }
}
