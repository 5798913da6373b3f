//! What a framing connection has written: frame by frame, each one segment.

use crate::scoreboard::ranges::Ranges;
use alloc::collections::VecDeque;
use core::ops::Range;
use earlybird_units::Instant;

/// A frame that was written and is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Held {
    number: u64,
    unit: u64,
    bytes: u16,
    written: Instant,
    /// Never to be sent again: it is worthless by now, or the peer has it.
    is_given_up: bool,
    /// It was sent since the retransmission timer last ran out: it counts as in flight.
    is_flying: bool,
}

/// Frames in order of writing: first those on the scoreboard, then those that wait.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    queue: VecDeque<Held>,
    /// So many of them are on the scoreboard.
    sent: usize,
    /// Number of the segment that carries the first one.
    first: u64,
    /// Frames ever written.
    written: u64,
    /// Those that were neither acknowledged nor given up.
    held: u64,
    /// What is written of this unit later is given up too.
    lost_unit: Option<u64>,
    /// What may be given up, beside what was never sent.
    pub(super) gives_up_sent: bool,
    discarded: u64,
    notes: VecDeque<Range<u64>>,
}

/// What of the sent frames must stay, and what of them the peer has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// Segments that the peer has.
    pub(super) sacked: &'a Ranges,
    /// The last one sent stays: nothing could be sent behind it.
    pub(super) keeps_last: bool,
}

/// Discards that the owner has not asked for are kept as so many ranges; the oldest are forgotten, but counted.
const NOTES: usize = 64;

// What the path of every segment asks for is marked as cold: ordinary TCP has no frames and must not be burdened.
impl Frames {
    pub(super) fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            sent: 0,
            first: 1,
            written: 0,
            held: 0,
            lost_unit: None,
            gives_up_sent: false,
            discarded: 0,
            notes: VecDeque::new(),
        }
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn held(&self) -> u64 {
        self.held
    }

    pub(super) fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Returns the number of the next discarded frame that was not asked for yet.
    pub(super) fn next_note(&mut self) -> Option<u64> {
        let note = self.notes.front_mut()?;
        let number = note.next();
        if note.is_empty() {
            self.notes.pop_front();
        }
        number
    }

    /// Appends a frame. One of a unit that was given up follows the others.
    pub(super) fn push(&mut self, now: Instant, bytes: u16, unit: u64) -> u64 {
        let number = self.written;
        self.written += 1;
        if self.lost_unit == Some(unit) {
            self.note(number);
        } else {
            self.lost_unit = None;
            self.held += 1;
            let frame = Held { number, unit, bytes, written: now, is_given_up: false, is_flying: false };
            self.queue.push_back(frame);
        }
        number
    }

    /// Returns whether the frame just written waits.
    pub(super) fn ends_with(&self, number: u64) -> bool {
        self.queue.back().is_some_and(|frame| frame.number == number)
    }

    /// Returns the bytes of the next frame to send for the first time.
    #[cold]
    pub(super) fn next_bytes(&self) -> Option<u64> {
        self.queue.get(self.sent).map(|frame| u64::from(frame.bytes))
    }

    /// Takes note that the next frame is on the scoreboard.
    #[cold]
    pub(super) fn on_cut(&mut self) {
        self.sent += 1;
    }

    /// Takes note that a segment is sent, for the first time or again.
    #[cold]
    pub(super) fn on_sent(&mut self, segment: u64) {
        if let Some(index) = self.index(segment) {
            self.queue[index].is_flying = true;
        }
    }

    /// Returns the place of the frame that a segment on the scoreboard carries.
    fn index(&self, segment: u64) -> Option<usize> {
        let index = segment.checked_sub(self.first)? as usize;
        (index < self.sent).then_some(index)
    }

    /// Returns the number of the frame that a segment on the scoreboard carries.
    #[cold]
    pub(super) fn number(&self, segment: u64) -> Option<u64> {
        self.index(segment).map(|index| self.queue[index].number)
    }

    pub(super) fn is_given_up(&self, segment: u64) -> bool {
        self.index(segment).is_some_and(|index| self.queue[index].is_given_up)
    }

    /// Forgets the frames of segments below `una`.
    #[cold]
    pub(super) fn settle(&mut self, una: u64) {
        while self.first < una
            && self.sent > 0
            && let Some(frame) = self.queue.pop_front()
        {
            self.held -= u64::from(!frame.is_given_up);
            self.sent -= 1;
            self.first += 1;
        }
    }

    /// The retransmission timer ran out: nothing counts as flying.
    pub(super) fn on_timeout(&mut self) {
        self.queue.iter_mut().take(self.sent).for_each(|frame| frame.is_flying = false);
    }

    /// Counts the first segments on the scoreboard that were given up and do not fly, and what the peer has behind them.
    pub(super) fn grounded(&self, sacked: &Ranges) -> u64 {
        let frames = self.queue.iter().take(self.sent).zip(self.first..);
        let is_grounded =
            |(frame, segment): &(&Held, u64)| (frame.is_given_up && !frame.is_flying) || sacked.contains(*segment);
        frames.take_while(is_grounded).count() as u64
    }

    /// Returns the place of the oldest frame that may be given up, and when it was written.
    pub(super) fn oldest(&self, bounds: &Bounds<'_>) -> Option<(usize, Instant)> {
        let from = if self.gives_up_sent { 0 } else { self.sent };
        let mut frames = self.queue.iter().enumerate().skip(from);
        frames
            .find(|(index, frame)| !frame.is_given_up && self.may_go(*index, bounds))
            .map(|(index, frame)| (index, frame.written))
    }

    /// Returns the place of the first frame that was never sent, and when it was written.
    pub(super) fn oldest_waiting(&self) -> Option<(usize, Instant)> {
        self.queue.get(self.sent).map(|frame| (self.sent, frame.written))
    }

    /// Returns when the frame of a segment on the scoreboard was written.
    pub(super) fn written_at(&self, segment: u64) -> Option<Instant> {
        self.index(segment).map(|index| self.queue[index].written)
    }

    fn may_go(&self, index: usize, bounds: &Bounds<'_>) -> bool {
        let is_last_sent = index + 1 == self.sent;
        index >= self.sent || (self.gives_up_sent && !(is_last_sent && bounds.keeps_last))
    }

    /// Abandons the frame of a segment on the scoreboard.
    pub(super) fn give_up_segment(&mut self, segment: u64, bounds: &Bounds<'_>) -> u64 {
        self.index(segment).map_or(0, |index| self.give_up(index, bounds))
    }

    /// Abandons frames that wait and have more bytes than this.
    pub(super) fn give_up_longer(&mut self, mss: u64, bounds: &Bounds<'_>) -> u64 {
        let mut bytes = 0;
        while let Some(index) = self.queue.iter().skip(self.sent).position(|frame| u64::from(frame.bytes) > mss) {
            bytes += self.give_up(self.sent + index, bounds);
        }
        bytes
    }

    /// Abandons a frame with all of its unit, as far as that may be; gives the bytes of those that were never sent, which
    /// leave no trace in the stream.
    pub(super) fn give_up(&mut self, index: usize, bounds: &Bounds<'_>) -> u64 {
        if index < self.sent && bounds.sacked.contains(self.first + index as u64) {
            self.let_go(index, bounds.sacked);
            return 0;
        }
        let unit = self.queue[index].unit;
        let is_other = |frame: &Held| frame.unit != unit;
        let start = self.queue.range(..index).rposition(is_other).map_or(0, |before| before + 1);
        let end = self.queue.range(index..).position(is_other).map_or(self.queue.len(), |behind| index + behind);
        if end == self.queue.len() {
            self.lost_unit = Some(unit);
        }
        for index in start..end.min(self.sent) {
            if self.may_go(index, bounds) {
                self.let_go(index, bounds.sacked);
            }
        }
        self.drop_waiting(start.max(self.sent)..end.max(self.sent))
    }

    /// What the peer has is not discarded, only held no longer.
    fn let_go(&mut self, index: usize, sacked: &Ranges) {
        let segment = self.first + index as u64;
        let frame = &mut self.queue[index];
        if !core::mem::replace(&mut frame.is_given_up, true) {
            let number = frame.number;
            self.held -= 1;
            if !sacked.contains(segment) {
                self.note(number);
            }
        }
    }

    /// Abandons the frame of a segment on the scoreboard for the oldest one that waits, has its length and was written no earlier than
    /// `limit`; gives the bytes that wait no more.
    #[cold]
    pub(super) fn replace(&mut self, segment: u64, limit: Instant) -> u64 {
        let Some(index) = self.index(segment) else { return 0 };
        let Held { number, bytes, .. } = self.queue[index];
        let fits = |frame: &Held| frame.bytes == bytes && frame.written >= limit;
        let waiting = self.queue.range(self.sent..).position(fits);
        let Some(newer) = waiting.and_then(|place| self.queue.remove(self.sent + place)) else { return 0 };
        self.queue[index] = newer;
        self.held -= 1;
        self.note(number);
        u64::from(bytes)
    }

    fn drop_waiting(&mut self, range: Range<usize>) -> u64 {
        let mut bytes = 0;
        for _ in range.clone() {
            if let Some(frame) = self.queue.remove(range.start) {
                bytes += u64::from(frame.bytes);
                self.held -= 1;
                self.note(frame.number);
            }
        }
        bytes
    }

    fn note(&mut self, number: u64) {
        self.discarded += 1;
        match self.notes.back_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => self.notes.push_back(number..number + 1),
        }
        if self.notes.len() > NOTES {
            self.notes.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_64_notes_of_what_was_given_up_are_kept() {
        let mut frames = Frames::new();
        (0..65).for_each(|number| frames.note(2 * number));
        assert_eq!((frames.notes.len(), frames.notes.front().cloned()), (64, Some(2..3)));
        frames.note(129);
        assert_eq!((frames.notes.len(), frames.notes.back().cloned()), (64, Some(128..130)));
    }
}
