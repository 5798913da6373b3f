//! When segments were last sent, and which of them are known to have arrived (RFC 8985 §6.2, step 2).

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
    /// Returns whether this is its segment's last transmission, and the segment is not known to have arrived.
    pub(super) fn is_current(&self, scoreboard: &Scoreboard) -> bool {
        let is_last = scoreboard.segment(self.number).is_some_and(|(_, sent)| sent.departed == self.departed);
        is_last && !scoreboard.sacked().contains(self.number)
    }
}

/// The transmissions, before and after the most recent one that arrived (`RACK.segment`).
#[derive(Clone, Debug, Default)]
pub(super) struct Transmissions {
    /// Those after it in the order of sending. RFC 8985 breaks ties of a coarse clock by the segments' numbers; here the
    /// order is known.
    later: VecDeque<SentAt>,
    /// Those before it that may be on their way yet.
    pub(super) overtaken: Vec<SentAt>,
    /// The round trip of the most recent one that arrived (`RACK.rtt`).
    rtt: Duration,
}

impl Transmissions {
    pub(super) fn on_sent(&mut self, sent: SentAt) {
        self.later.push_back(sent);
    }

    /// Learns what an ACK delivered, of what was sent more than once only what `is_sure`. The round trip is that of the one sent
    /// last, or of the last one in the stream, and that below `una` if it is given.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        delivered: &[DeliveredSegment],
        is_sure: impl Fn(&DeliveredSegment) -> bool,
        una: Option<u64>,
    ) {
        let counts_before = |other: &DeliveredSegment, last: &DeliveredSegment| match una {
            Some(una) => other.number >= una && last.number < una,
            None => other.departed < last.departed,
        };
        let mut last = None;
        for segment in delivered.iter().filter(|segment| segment.transmissions == 1 || is_sure(segment)) {
            self.overtake(segment);
            if last.is_none_or(|last| !counts_before(segment, last)) {
                last = Some(segment);
            }
        }
        self.rtt = last.map_or(self.rtt, |last| now - last.departed);
    }

    /// Learns that all below `una` has arrived in the order of sending, the last one after `rtt`.
    pub(super) fn on_progress(&mut self, rtt: Duration, una: u64) {
        while self.later.pop_front_if(|first| first.number < una).is_some() {}
        self.rtt = rtt;
    }

    /// Most arrive in the order of sending, and overtake nothing.
    fn overtake(&mut self, delivered: &DeliveredSegment) {
        let arrived = SentAt { departed: delivered.departed, number: delivered.number };
        if self.later.pop_front_if(|first| *first == arrived).is_none() {
            self.overtake_earlier(arrived);
        }
    }

    fn overtake_earlier(&mut self, arrived: SentAt) {
        let first = self.later.partition_point(|sent| sent.departed < arrived.departed);
        let of_that_time = self.later.range(first..).take_while(|sent| sent.departed == arrived.departed);
        let place = of_that_time.map(|sent| sent.number).position(|number| number == arrived.number);
        if let Some(place) = place {
            self.overtaken.extend(self.later.drain(..first + place));
            self.later.pop_front();
        }
    }

    /// Leaves a segment that was overtaken alone.
    pub(super) fn forget(&mut self, number: u64) {
        self.overtaken.retain(|sent| sent.number != number);
    }

    /// Returns the round trip of the last segment that arrived.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }
}
