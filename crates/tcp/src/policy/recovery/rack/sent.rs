//! The order of transmissions, relative to the most recent one delivered (RFC 8985 §6.2, step 2).

use crate::scoreboard::{DeliveredSegment, Scoreboard};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use earlybird_units::{Duration, Instant};

/// A transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SentAt {
    pub(super) departed: Instant,
    pub(super) number: u64,
}

impl SentAt {
    /// Returns whether this is the last transmission of its segment, which is neither acknowledged nor `SACKed`.
    pub(super) fn is_current(&self, scoreboard: &Scoreboard) -> bool {
        let is_last = scoreboard.segment(self.number).is_some_and(|(_, sent)| sent.departed == self.departed);
        is_last && !scoreboard.sacked().contains(self.number)
    }
}

/// The transmissions before and after the most recent one delivered (`RACK.segment`).
#[derive(Clone, Debug, Default)]
pub(super) struct Transmissions {
    /// Transmissions after it. RFC 8985 breaks ties of a coarse clock by sequence numbers; here the order is known.
    later: VecDeque<SentAt>,
    /// Transmissions before it that may still be in flight.
    pub(super) overtaken: Vec<SentAt>,
    /// The RTT of the most recent one delivered (`RACK.rtt`).
    rtt: Duration,
}

impl Transmissions {
    pub(super) fn on_sent(&mut self, sent: SentAt) {
        self.later.push_back(sent);
    }

    /// Processes the delivered segments of an ACK; retransmitted ones only if `is_unambiguous`. `RACK.rtt` is that of the segment
    /// sent last, or with `una` that of the last one in the stream, where those below `una` count as later.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        delivered: &[DeliveredSegment],
        is_unambiguous: impl Fn(&DeliveredSegment) -> bool,
        una: Option<u64>,
    ) {
        let counts_before = |other: &DeliveredSegment, last: &DeliveredSegment| match una {
            Some(una) => other.number >= una && last.number < una,
            None => other.departed < last.departed,
        };
        let mut last = None;
        for segment in delivered.iter().filter(|segment| segment.transmissions == 1 || is_unambiguous(segment)) {
            self.overtake(segment);
            if last.is_none_or(|last| !counts_before(segment, last)) {
                last = Some(segment);
            }
        }
        self.rtt = last.map_or(self.rtt, |last| now - last.departed);
    }

    /// Processes an ACK of everything below `una` in the order of transmission, the last one after `rtt`.
    pub(super) fn on_progress(&mut self, rtt: Duration, una: u64) {
        while self.later.pop_front_if(|first| first.number < una).is_some() {}
        self.rtt = rtt;
    }

    /// Moves earlier transmissions to the overtaken ones. Most segments arrive in the order of transmission and overtake none.
    fn overtake(&mut self, delivered: &DeliveredSegment) {
        let arrived = SentAt { departed: delivered.departed, number: delivered.number };
        // The common case without a search: the segment is the oldest transmission.
        if self.later.pop_front_if(|first| *first == arrived).is_none() {
            self.overtake_earlier(arrived);
        }
    }

    fn overtake_earlier(&mut self, arrived: SentAt) {
        // Transmission times only grow, so a binary search finds the ones of that time.
        let first = self.later.partition_point(|sent| sent.departed < arrived.departed);
        let of_that_time = self.later.range(first..).take_while(|sent| sent.departed == arrived.departed);
        let index = of_that_time.map(|sent| sent.number).position(|number| number == arrived.number);
        if let Some(index) = index {
            self.overtaken.extend(self.later.drain(..first + index));
            self.later.pop_front();
        }
    }

    /// Removes a segment from the overtaken ones.
    pub(super) fn forget(&mut self, number: u64) {
        self.overtaken.retain(|sent| sent.number != number);
    }

    /// Returns the RTT of the most recent segment delivered.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }
}
