//! When segments were last sent, and the newest one known to have arrived (RFC 8985 §6.2, step 2).

use crate::handshake::timestamp;
use crate::send::board::{Board, Delivered};
use earlybird_units::{Duration, Instant};

/// A transmission. The order is the one of sending; at the same time, the one of the numbers (`RACK_sent_after`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SentAt {
    pub(super) departed: Instant,
    pub(super) number: u64,
}

impl SentAt {
    /// Says whether this is its segment's last transmission, and the segment is not known to have arrived.
    pub(super) fn is_current(&self, board: &Board) -> bool {
        let is_last = board.segment(self.number).is_some_and(|(_, sent)| sent.departed == self.departed);
        is_last && !board.sacked().contains(self.number)
    }
}

/// `RACK.segment`: the most recently sent of the segments that arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newest {
    sent: Option<SentAt>,
    rtt: Duration,
}

impl Newest {
    /// Learns that a segment arrived, unless the ACK may be the one of an earlier transmission: the peer echoes an older
    /// time, or it comes sooner than any round trip.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        delivered: &Delivered,
        echo: Option<u32>,
        smallest_rtt: Option<Duration>,
    ) {
        let rtt = now - delivered.departed;
        if delivered.transmissions > 1 {
            let is_older = |echo: u32| echo.wrapping_sub(timestamp(delivered.departed)).cast_signed() < 0;
            if echo.is_some_and(is_older) || smallest_rtt.is_some_and(|smallest| rtt < smallest) {
                return;
            }
        }
        self.rtt = rtt;
        self.sent = self.sent.max(Some(SentAt { departed: delivered.departed, number: delivered.number }));
    }

    /// Gives the round trip of the last segment that arrived.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Says whether a transmission is older than the newest that arrived.
    pub(super) fn is_after(&self, sent: &SentAt) -> bool {
        self.sent.is_some_and(|newest| newest > *sent)
    }
}
