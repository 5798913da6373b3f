//! What the peer tells about what its reader stepped over (SNACK), and the sender's answer.

use super::sender::Sender;
use crate::real_time::{RealTimeStatistics, SkipResponse};
use crate::scoreboard::Acknowledgement;
use crate::trace::Cx;

/// The peer's notices so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snack {
    /// Segments stepped over, as the peer counts them.
    losses: u64,
    received: u64,
    bad: u64,
    reductions: u64,
    /// The window does not grow before this segment is acknowledged.
    grows_from: u64,
}

/// News in a notice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skip {
    /// Segments stepped over since the last news.
    segments: u64,
    /// The highest of those named that was on the scoreboard and not `SACKed`: it was lost.
    lost: Option<u64>,
}

impl Snack {
    pub(crate) fn losses(&self) -> u64 {
        self.losses
    }

    /// Returns whether ACKs below segment `una` may grow the window: not while SACK would still repair what was stepped over.
    pub(crate) fn lets_grow(&self, una: u64) -> bool {
        una >= self.grows_from
    }

    pub(crate) fn add_to(&self, statistics: &mut RealTimeStatistics) {
        statistics.notices_received = self.received;
        statistics.bad_notices = self.bad;
        statistics.skip_reductions = self.reductions;
    }

    /// Returns by how much the peer's total, which wraps, has grown: 0 for a notice that comes again, `None` for one that goes
    /// back, or beyond the `sent` bytes.
    fn growth(&self, total: u32, sent: u64) -> Option<u64> {
        let growth = total.wrapping_sub(self.losses as u32);
        let is_possible = growth.cast_signed() >= 0 && self.losses + u64::from(growth) <= sent;
        is_possible.then_some(u64::from(growth))
    }
}

impl Sender {
    /// Reads a notice: the total of segments stepped over, the stream position of the first of the newest skip, and how many
    /// segments that has. One that an older ACK brings late has nothing new; impossible ones are counted.
    pub(crate) fn read_notice(&mut self, total: u32, first: Option<u64>, segments: u64, ack: u64) -> Option<Skip> {
        if ack < self.scoreboard.acknowledged() {
            return None;
        }
        self.notices.received += 1;
        let growth = self.notices.growth(total, self.scoreboard.end_position() - 1);
        let is_possible = |growth: u64| {
            let names_past = first.is_some_and(|first| (1..ack).contains(&first));
            growth == 0 || (names_past && segments > 0 && segments <= growth)
        };
        let Some(growth) = growth.filter(|growth| is_possible(*growth)) else {
            self.notices.bad += 1;
            return None;
        };
        self.notices.losses += growth;
        let lost = first.and_then(|first| self.highest_lost(first, segments, ack));
        (growth > 0).then_some(Skip { segments: growth, lost })
    }

    /// Returns the highest of so many segments from stream position `first` on that are not `SACKed`, and end by `ack`. The
    /// peer counts segments that it has not seen; the next one that arrived ends what it stepped over.
    fn highest_lost(&self, first: u64, segments: u64, ack: u64) -> Option<u64> {
        let start = self.scoreboard.number_from(first);
        let is_missing = |number: &u64| {
            let is_below = self.scoreboard.segment(*number).is_some_and(|(_, sent)| sent.end <= ack);
            is_below && !self.scoreboard.sacked().contains(*number)
        };
        (start..start + segments).take_while(is_missing).last()
    }

    /// The ACK that brings the news covers what was stepped over: it measures no round trip, and nobody knows what of it
    /// arrived.
    #[cold]
    pub(crate) fn enter_skip(&mut self, change: &mut Acknowledgement, skip: Skip) {
        change.skipped = skip.segments;
        change.rtt = None;
        change.delivered = change.delivered.saturating_sub(skip.segments);
        self.scoreboard.forget_delivered();
        self.timer.skip_measurement(self.scoreboard.una());
    }

    /// Something was lost and stepped over before the window was reduced for it: reduces it as for a fast retransmit, once
    /// per window, so that a reader who is always late hides no loss from the sender.
    #[cold]
    pub(crate) fn respond_to_skip(&mut self, cx: &mut Cx<'_>, skip: Skip, flight: u64) {
        let is_new = skip.lost.is_some_and(|lost| !self.marks.was_reduced_after(lost));
        if is_new && self.real_time.skip_response == SkipResponse::Reduce {
            let cwnd = self.control.cwnd();
            self.control.on_loss(cx, &self.flight(flight));
            if self.control.cwnd() < cwnd {
                self.notices.grows_from = self.scoreboard.smax();
            }
            self.marks.on_answered(self.scoreboard.smax());
            self.notices.reductions += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_wraps_around_and_neither_goes_back_nor_beyond_what_was_sent() {
        let losses = (1 << 32) - 2;
        let notices = Snack { losses, ..Snack::default() };
        let cases = [(u32::MAX - 1, Some(0)), (u32::MAX, Some(1)), (3, Some(5)), (4, None), (u32::MAX - 2, None)];
        for (total, growth) in cases {
            assert_eq!(notices.growth(total, losses + 5), growth, "{total}");
        }
    }
}
