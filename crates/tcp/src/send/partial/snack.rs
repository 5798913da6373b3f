//! The skips of the peer's reader, as its SNACK options report them.

use super::SnackReport;
use crate::real_time::RealTimeStatistics;
use crate::scoreboard::Scoreboard;

/// The peer's reports so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snack {
    /// Segments skipped, as the peer counts them.
    skipped: u64,
    received: u64,
    impossible: u64,
    reductions: u64,
    /// The window does not grow before this segment is acknowledged.
    grows_from: u64,
}

/// A newly reported skip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skip {
    /// Segments skipped since the report before.
    pub(crate) segments: u64,
    /// The highest of those named that was on the scoreboard and not `SACKed`: it was lost.
    pub(super) lost: Option<u64>,
}

impl Snack {
    /// Returns the number of segments that the peer has skipped.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns whether ACKs below segment `una` may grow the window.
    #[inline]
    pub(super) fn may_grow(&self, una: u64) -> bool {
        // With plain SACK the skipped segments would still be under repair, and the window would not grow.
        una >= self.grows_from
    }

    /// Records that the window was reduced for a skip.
    pub(super) fn on_reduced(&mut self, snd_max: u64) {
        self.grows_from = snd_max;
    }

    /// Counts a skip that the window was reduced for.
    pub(in crate::send) fn count_reduction(&mut self) {
        self.reductions += 1;
    }

    /// Adds the counters of this part.
    pub(in crate::send) fn add_to(&self, statistics: &mut RealTimeStatistics) {
        statistics.notices_received = self.received;
        statistics.bad_notices = self.impossible;
        statistics.skip_reductions = self.reductions;
    }

    /// Reads a report before its ACK is entered into the scoreboard; returns the skip if it is new. Impossible reports are
    /// counted.
    pub(in crate::send) fn read(&mut self, report: SnackReport, scoreboard: &Scoreboard) -> Option<Skip> {
        let SnackReport { total, first, segments, ack } = report;
        // An ACK that was overtaken reports nothing new.
        if ack < scoreboard.acknowledged() {
            return None;
        }
        self.received += 1;
        let growth = self.growth(total, scoreboard.end_position() - 1);
        let is_possible = |growth: u64| {
            let names_past = first.is_some_and(|first| (1..ack).contains(&first));
            growth == 0 || (names_past && segments > 0 && segments <= growth)
        };
        let Some(growth) = growth.filter(|growth| is_possible(*growth)) else {
            self.impossible += 1;
            return None;
        };
        self.skipped += growth;
        let lost = first.and_then(|first| highest_lost(scoreboard, first, segments, ack));
        (growth > 0).then_some(Skip { segments: growth, lost })
    }

    /// Returns by how much the peer's total, which wraps, has grown: 0 for a repeated report, `None` for a total that decreased
    /// or exceeds the `sent` bytes.
    fn growth(&self, total: u32, sent: u64) -> Option<u64> {
        let growth = total.wrapping_sub(self.skipped as u32);
        let is_possible = growth.cast_signed() >= 0 && self.skipped + u64::from(growth) <= sent;
        is_possible.then_some(u64::from(growth))
    }
}

/// Returns the highest of so many segments from stream position `first` on that are not `SACKed` and end by `ack`.
fn highest_lost(scoreboard: &Scoreboard, first: u64, segments: u64, ack: u64) -> Option<u64> {
    let start = scoreboard.number_from(first);
    // The peer estimates how many segments it has not received; the next one that arrived ends the skip.
    let is_missing = |number: &u64| {
        let is_below = scoreboard.segment(*number).is_some_and(|(_, sent)| sent.end <= ack);
        is_below && !scoreboard.sacked().contains(*number)
    };
    (start..start + segments).take_while(is_missing).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_wraps_and_must_neither_decrease_nor_exceed_what_was_sent() {
        let skipped = (1 << 32) - 2;
        let snack = Snack { skipped, ..Snack::default() };
        let cases = [(u32::MAX - 1, Some(0)), (u32::MAX, Some(1)), (3, Some(5)), (4, None), (u32::MAX - 2, None)];
        for (total, growth) in cases {
            assert_eq!(snack.growth(total, skipped + 5), growth, "{total}");
        }
    }
}
