//! What keeps a short segment back, and where a segment must end.

use super::sender::Sender;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// The writer's wishes about the edges of segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct NagleCork {
    nagle: bool,
    is_corked: bool,
    /// Stream position up to which nothing is held back.
    pushed_to: u64,
    /// Stream position behind the last short segment that was sent.
    short_to: u64,
    /// When what a cork holds back leaves all the same.
    deadline: Option<Instant>,
    /// Stream positions behind records that are not cut yet.
    records: VecDeque<u64>,
}

/// A cork holds for so long at most (Linux, `TCP_CORK`): an override as RFC 9293 §3.8.6.2.1 asks for, within its 0.1 to 1 s.
const CORK_LIMIT: Duration = Duration::from_millis(200);

impl NagleCork {
    /// Returns what of `len` bytes at `position` lies before the next end of a record.
    fn within_record(&self, position: u64, len: u64) -> u64 {
        self.records.front().map_or(len, |end| len.min(end - position))
    }

    /// Returns whether a short segment between these positions, the last one of what was written, is to wait.
    ///
    /// Nagle's algorithm (RFC 9293 §3.7.4, SHLD-7) in Minshall's variant, as Linux has it: only for a short one that is
    /// outstanding, so that a writer of large blocks does not wait for the peer's delayed ACK.
    fn holds(&self, una: u64, end: u64) -> bool {
        end > self.pushed_to && (self.is_corked || (self.nagle && self.short_to > una))
    }
}

impl Sender {
    pub(super) fn holding_of(nagle: bool) -> Option<Box<NagleCork>> {
        nagle.then(|| Box::new(NagleCork { nagle, ..NagleCork::default() }))
    }

    fn holding(&mut self) -> &mut NagleCork {
        self.is_plain = false;
        self.queue.holding.get_or_insert_default()
    }

    /// Returns the stream position behind what was written.
    pub(super) fn written(&self) -> u64 {
        self.scoreboard.end_position().max(1) + self.queue.unsent
    }

    /// Switches Nagle's algorithm. Switched off, what waits leaves, even behind a cork.
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        if nagle || self.queue.holding.is_some() {
            self.holding().nagle = nagle;
        }
        if !nagle {
            self.push();
        }
    }

    /// Lets only full segments leave, or no more so.
    pub(crate) fn cork(&mut self, is_corked: bool) {
        self.holding().is_corked = is_corked;
    }

    /// Ends a record behind what was written: no segment goes beyond.
    pub(crate) fn end_record(&mut self) {
        let end = self.written();
        if self.queue.unsent > 0 && self.holding().records.back() != Some(&end) {
            self.holding().records.push_back(end);
        }
    }

    /// Lets all leave that was written so far.
    fn push(&mut self) {
        let written = self.written();
        if let Some(holding) = &mut self.queue.holding {
            holding.pushed_to = written;
            holding.deadline = None;
        }
    }

    /// Returns the most bytes of the next segment.
    #[inline]
    pub(super) fn most_of_segment(&self) -> u64 {
        let len = self.queue.unsent.min(self.queue.mss);
        match &self.queue.holding {
            Some(holding) => holding.within_record(self.scoreboard.end_position(), len),
            None => len,
        }
    }

    /// Returns whether a segment of `len` bytes ends a record.
    pub(super) fn ends_record(&self, len: u64) -> bool {
        let next = self.queue.holding.as_ref().and_then(|holding| holding.records.front());
        next.is_some_and(|end| *end == self.scoreboard.end_position() + len)
    }

    /// Returns whether the next segment, of `len` bytes, is to wait for more to be written. What probes a window is not, nor the
    /// last of all.
    #[inline]
    pub(super) fn is_held_back(&self, len: u64) -> bool {
        let Some(holding) = &self.queue.holding else { return false };
        let is_tail = len < self.queue.mss && len == self.queue.unsent && !self.queue.fin_queued;
        is_tail
            && self.queue.frames.is_none()
            && !self.queue.probes_window
            && holding.holds(self.scoreboard.una_position(), self.scoreboard.end_position() + len)
    }

    /// Takes note of the segment that is cut next.
    pub(super) fn note_cut(&mut self, len: u64) {
        let (end, is_short) = (self.scoreboard.end_position() + len, len < self.queue.mss);
        let Some(holding) = &mut self.queue.holding else { return };
        if is_short {
            holding.short_to = end;
        }
        holding.deadline = None;
        self.end_records(end);
    }

    /// Forgets the records that end at this stream position or before: they are cut.
    pub(super) fn end_records(&mut self, cut: u64) {
        if let Some(holding) = &mut self.queue.holding {
            while holding.records.pop_front_if(|record| *record <= cut).is_some() {}
        }
    }

    /// Returns whether what waits is held back, and sees to it that a cork does so not for ever.
    pub(super) fn watch_held(&mut self, now: Instant) -> bool {
        if self.queue.unsent == 0 || !self.is_held_back(self.most_of_segment()) {
            return false;
        }
        let holding = self.holding();
        if holding.is_corked {
            holding.deadline.get_or_insert(now + CORK_LIMIT);
        }
        true
    }

    /// Returns the time at which what a cork holds back leaves; [`Instant::NEVER`] if there is no such time.
    #[inline]
    pub(crate) fn held_until(&self) -> Instant {
        let held = self.queue.holding.as_ref().and_then(|holding| holding.deadline);
        held.unwrap_or(Instant::NEVER)
    }

    /// A cork that holds for too long is overcome.
    pub(crate) fn overcome_cork(&mut self, now: Instant) {
        if self.held_until() <= now {
            self.push();
        }
    }
}
