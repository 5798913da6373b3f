//! The reader of the real-time mode: it would rather skip than wait (rules R1 to R6 of the MTCP paper).
//!
//! R1 and R4 are ordinary TCP. R2 and R3 are one rule: a reader that waits while nothing is there in order gets what
//! arrived behind the hole, whether that was there before it asked (R3) or comes later (R2). What is stepped over is told
//! to the sender at once (R6), and dropped if it comes after all (R5).
//!
//! A FIN behind a hole counts as anything else behind it. A reader that waits with only the FIN left to come steps over
//! the hole and is at the end: whatever is missing has missed its time as any frame would have, and a sender that gave it
//! up will never fill the hole.

use super::frames::Frames;
use super::skips::Skips;
use super::{PLACES_PER_SEGMENT, Receiver};
use crate::config::Config;
use crate::policy::acking::AckDue;
use crate::policy::delivery::Delivery;
use crate::real_time::RealTimeStatistics;
use alloc::collections::VecDeque;
use core::ops::Range;
use earlybird_units::Instant;
use earlybird_wire::{SackBlocks, SeqNum, SkipNotice};

/// What a receiver needs to know beyond an ordinary one, to keep frames whole or to skip.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    delivery: Delivery,
    /// With framing only.
    frames: Option<Frames>,
    is_waiting: bool,
    waits: VecDeque<Wait>,
    waits_limit: usize,
    /// Bytes of the longest segment that came.
    longest: u64,
    mss: u64,
    skips: Skips,
    /// The most SACK blocks beside a notice.
    sack_blocks: usize,
    statistics: RealTimeStatistics,
}

/// Data behind a hole that wait for a deadline: since when, and to which position.
#[derive(Clone, Debug)]
struct Wait {
    since: Instant,
    end: u64,
}

impl Reader {
    /// Returns nothing for ordinary TCP, which needs none of this.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let real_time = &config.real_time;
        if !real_time.framing && !real_time.delivery.skips() {
            return None;
        }
        let limit = (PLACES_PER_SEGMENT * config.largest_offer()) as usize;
        // Of the 40 bytes, timestamps take 12, a notice 16, and blocks 4 and 8 for each.
        let room = SackBlocks::MAX - usize::from(config.timestamps.enabled) - SkipNotice::WIRE_LEN / 8;
        Some(Self {
            delivery: real_time.delivery,
            frames: real_time.framing.then(|| Frames::new(limit)),
            is_waiting: false,
            waits: VecDeque::new(),
            waits_limit: limit,
            longest: 0,
            mss: u64::from(config.segments.mss),
            skips: Skips::default(),
            sack_blocks: config.acks.sack_blocks.min(room),
            statistics: RealTimeStatistics::default(),
        })
    }

    /// Reads up to `bytes` of the `unread` ones; with framing only whole frames.
    #[cold]
    pub(super) fn read(&mut self, bytes: u64, unread: u64, nxt: u64) -> u64 {
        if self.frames.is_none() {
            self.is_waiting &= unread == 0;
            return bytes.min(unread);
        }
        if self.is_unordered() {
            // Bytes that follow one another, which frames in any order do not.
            return 0;
        }
        let mut read = 0;
        while let Some(frame) = self.next_frame(nxt, bytes - read) {
            read += frame.end - frame.start;
        }
        read
    }

    /// Hands over the next frame if it is there and has at most so many bytes; then the reader waits no more.
    fn next_frame(&mut self, nxt: u64, bytes: u64) -> Option<Range<u64>> {
        let is_unordered = self.is_unordered();
        let frames = self.frames.as_mut()?;
        let frame = if is_unordered { frames.pop_any(nxt) } else { frames.pop(nxt, bytes) }?;
        self.is_waiting = false;
        self.statistics.frames_delivered += 1;
        Some(frame)
    }

    fn is_unordered(&self) -> bool {
        self.delivery == Delivery::Unordered && self.frames.is_some()
    }

    /// Returns the window, in bytes, below which the sender may be at rest because nothing fits: a frame is never cut.
    #[cold]
    pub(super) fn smallest_window(&self) -> u64 {
        if self.frames.is_some() { self.mss } else { 0 }
    }

    /// Returns the length of a segment as far as it is known.
    fn segment_bytes(&self) -> u64 {
        if self.longest > 0 { self.longest } else { self.mss }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let Delivery::SkipAtDeadline(patience) = self.delivery else { return None };
        self.waits.front().map(|wait| wait.since + patience)
    }

    /// Returns the first of an ACK's deadline and the reader's.
    #[cold]
    pub(super) fn earliest(&self, ack: Option<Instant>) -> Option<Instant> {
        [ack, self.deadline()].into_iter().flatten().min()
    }

    /// Begins to wait for what is missing before `end`. What ends no later than something older waits with that.
    fn begin_wait(&mut self, now: Instant, end: u64) {
        let is_full = self.waits.len() >= self.waits_limit;
        match self.waits.back_mut() {
            Some(last) if last.end >= end => {}
            Some(last) if is_full || last.since == now => last.end = end,
            _ => self.waits.push_back(Wait { since: now, end }),
        }
    }

    /// Returns the number of frames and of waits that are held.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.frames.as_ref().map_or(0, Frames::len), self.waits.len()]
    }

    fn end_waits(&mut self, nxt: u64) {
        while self.waits.pop_front_if(|wait| wait.end <= nxt).is_some() {}
    }
}

// The functions that ordinary TCP asks for and never needs are marked as cold: they must not burden its path.
impl Receiver {
    /// Returns whether a segment brings something that was stepped over, and counts it (R5). It is no duplicate, nothing that
    /// DSACK tells of: the sender would take its reduction back.
    #[cold]
    pub(super) fn is_late(&mut self, range: &Range<u64>) -> bool {
        let below = range.start..range.end.min(self.nxt);
        let Some(reader) = &mut self.reader else { return false };
        let is_late = reader.skips.touches(&below);
        reader.statistics.late_after_skip += u64::from(is_late);
        is_late
    }

    /// Takes an arrival and does what it means for a reader that waits (R2), or may wait too long.
    /// Returns what of it was stored.
    #[cold]
    pub(super) fn store_for_reader(&mut self, now: Instant, range: Range<u64>) -> Range<u64> {
        let before = self.nxt;
        let range = self.fitting(range);
        if range.is_empty() {
            return 0..0;
        }
        if self.reader.as_ref().is_some_and(|reader| reader.frames.is_some()) {
            self.store_frames(&range);
        } else if self.has_place(&range) {
            self.place(range.clone());
        }
        self.note_arrival(now, &range);
        if self.nxt == before {
            self.step_over_for_waiting();
        }
        let is_held = range.end <= self.nxt || self.above.contains(range.start);
        if is_held { range } else { 0..0 }
    }

    fn note_arrival(&mut self, now: Instant, range: &Range<u64>) {
        let payload = self.payload_of(range);
        let is_above = self.above.contains(range.end - 1);
        let Some(reader) = &mut self.reader else { return };
        reader.longest = reader.longest.max(payload.end - payload.start);
        reader.end_waits(self.nxt);
        if is_above && matches!(reader.delivery, Delivery::SkipAtDeadline(_)) {
            reader.begin_wait(now, range.end);
        }
    }

    /// Returns what of an arrival can be taken. A frame is taken whole or not at all, not even to probe a closed window.
    fn fitting(&self, range: Range<u64>) -> Range<u64> {
        let cut = range.start.max(self.nxt)..range.end.min(self.end());
        if self.reader.as_ref().is_none_or(|reader| reader.frames.is_none()) {
            return cut;
        }
        let behind_fin = self.fin.map_or(range.end, |fin| fin + 1);
        let fits = self.payload_of(&range).end <= self.limit();
        if fits { cut.start..range.end.min(behind_fin) } else { cut.start..cut.start }
    }

    /// Returns the range without the peer's FIN.
    fn payload_of(&self, range: &Range<u64>) -> Range<u64> {
        range.start..self.fin.map_or(range.end, |fin| range.end.min(fin))
    }

    /// A segment is a frame. One that overlaps what is held was cut differently before, which no sender of frames does:
    /// each part that is new becomes a frame, so that nothing is delivered twice and nothing is lost.
    fn store_frames(&mut self, range: &Range<u64>) {
        let mut from = range.start;
        while from < range.end {
            let held = self.above.first_within(&(from..range.end)).unwrap_or(range.end..range.end);
            if from < held.start {
                self.store_frame(from..held.start);
            }
            from = held.end;
        }
    }

    fn store_frame(&mut self, new: Range<u64>) {
        let payload = self.payload_of(&new);
        let is_next = new.start == self.nxt;
        if !self.has_place(&new) {
            return;
        }
        let frames = self.reader.as_mut().and_then(|reader| reader.frames.as_mut());
        if payload.is_empty() || frames.is_some_and(|frames| frames.insert(payload, is_next)) {
            self.place(new);
        }
    }

    /// R2 and R3: a reader waits, nothing is readable, something lies behind the hole.
    fn step_over_for_waiting(&mut self) {
        let skips = |reader: &Reader| reader.is_waiting && reader.delivery == Delivery::SkipWhenWaiting;
        if self.unread == 0 && self.reader.as_deref().is_some_and(skips) {
            self.step_over();
        }
    }

    /// Steps over the lowest hole, says that it was there, and has it told at once (R6).
    fn step_over(&mut self) -> bool {
        let (Some(first), Some(reader)) = (self.above.first(), &mut self.reader) else { return false };
        reader.skips.note(self.nxt..first, reader.segment_bytes());
        self.skipped = reader.skips.bytes;
        self.nxt = first;
        self.close_holes();
        if let Some(reader) = &mut self.reader {
            reader.end_waits(self.nxt);
        }
        self.due = AckDue::Now;
        true
    }

    /// The reader waits from now on; gives the bytes that this made readable (R3).
    pub(crate) fn wait(&mut self) -> u64 {
        let before = self.received();
        if let Some(reader) = &mut self.reader {
            reader.is_waiting = self.unread == 0;
            self.step_over_for_waiting();
        }
        self.gain(before)
    }

    pub(crate) fn stop_waiting(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.is_waiting = false;
        }
    }

    /// What arrived made so many bytes deliverable in order, and was stored there: gives what of it a reader can now read that it
    /// could not before.
    #[cold]
    pub(super) fn readable_of(&mut self, delivered: u64, stored: &Range<u64>) -> u64 {
        let payload = self.payload_of(stored);
        let Some(reader) = self.reader.as_mut().filter(|reader| reader.is_unordered()) else { return delivered };
        self.unread -= reader.frames.as_mut().map_or(0, |frames| frames.pass(self.nxt));
        payload.end.saturating_sub(payload.start)
    }

    /// Returns the bytes that can be read without stepping over anything.
    pub(crate) fn readable(&self) -> u64 {
        let unordered = self.reader.as_ref().filter(|reader| reader.is_unordered());
        unordered.and_then(|reader| reader.frames.as_ref()).map_or(self.unread, Frames::bytes)
    }

    /// Returns the position below which no frame is left to be read.
    pub(crate) fn read_below(&self) -> u64 {
        self.peek_frame().map_or(self.nxt, |frame| frame.start.min(self.nxt))
    }

    /// Returns the lowest frame that is there.
    pub(crate) fn peek_frame(&self) -> Option<Range<u64>> {
        self.reader.as_ref()?.frames.as_ref()?.first()
    }

    /// Returns the highest frame that is there.
    pub(crate) fn newest_frame(&self) -> Option<Range<u64>> {
        self.reader.as_ref()?.frames.as_ref()?.last()
    }

    /// Takes out the next frame.
    pub(crate) fn read_frame(&mut self) -> Option<Range<u64>> {
        let frame = self.reader.as_mut()?.next_frame(self.nxt, u64::MAX)?;
        let is_in_order = frame.end <= self.nxt;
        self.take_out(if is_in_order { frame.end - frame.start } else { 0 });
        Some(frame)
    }

    /// Steps over whatever has kept something waiting too long; gives the bytes that became readable.
    #[cold]
    pub(super) fn step_over_what_is_due(&mut self, now: Instant) -> u64 {
        let before = self.received();
        let is_due =
            |receiver: &Self| receiver.reader.as_deref().and_then(Reader::deadline).is_some_and(|at| at <= now);
        while is_due(self) && self.step_over() {}
        self.gain(before)
    }

    fn gain(&mut self, before: u64) -> u64 {
        let gained = self.received() - before;
        self.unread += gained;
        gained
    }

    /// Waits for everything from now on: the peer would not understand a skip, or the connection has ended.
    pub(crate) fn skip_nothing(&mut self) {
        if let Some(reader) = self.reader.as_mut().filter(|reader| reader.delivery.skips()) {
            reader.delivery = Delivery::InOrder;
        }
    }

    pub(crate) fn poll_skipped(&mut self) -> Option<Range<u64>> {
        self.reader.as_mut()?.skips.poll()
    }

    /// Returns the notice that an ACK sent now carries, the peer's SYN having number `origin`.
    #[cold]
    pub(crate) fn notice(&mut self, origin: SeqNum) -> Option<SkipNotice> {
        let reader = self.reader.as_mut()?;
        let notice = reader.skips.notice(origin)?;
        reader.statistics.notices_sent += 1;
        Some(notice)
    }

    /// Returns the most SACK blocks beside a notice.
    #[cold]
    pub(super) fn sack_room_beside_notice(&self) -> usize {
        self.reader.as_ref().map_or(0, |reader| reader.sack_blocks)
    }

    pub(crate) fn real_time_statistics(&self) -> RealTimeStatistics {
        let of_reader = |reader: &Reader| RealTimeStatistics {
            segments_skipped: reader.skips.segments,
            bytes_skipped: reader.skips.bytes,
            ..reader.statistics
        };
        self.reader.as_deref().map_or_else(RealTimeStatistics::default, of_reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_time::RealTime;
    use alloc::vec::Vec;
    use earlybird_units::Duration;

    /// What waits beyond as many waits as are kept waits with the newest, and what comes at one time waits together.
    #[test]
    fn the_list_of_what_waits_for_a_deadline_has_an_end() {
        let real_time =
            RealTime { delivery: Delivery::SkipAtDeadline(Duration::from_millis(1)), ..RealTime::default() };
        let mut reader = Reader::new(&Config::rfc().with_real_time(real_time)).expect("it skips");
        reader.waits_limit = 3;
        for (millis, end) in [(1, 10), (1, 20), (2, 30), (3, 40), (4, 50), (5, 60), (6, 55)] {
            reader.begin_wait(Instant::from_nanos(millis * 1_000_000), end);
        }
        let waits: Vec<_> = reader.waits.iter().map(|wait| (wait.since.as_nanos() / 1_000_000, wait.end)).collect();
        assert_eq!(waits, [(1, 20), (2, 30), (3, 60)]);
    }

    /// What a driver has to keep of a segment's payload.
    #[test]
    fn what_was_taken_of_an_arrival_is_told() {
        for framing in [false, true] {
            let delivery = Delivery::SkipAtDeadline(Duration::from_millis(1));
            let real_time = RealTime { delivery, framing, ..RealTime::default() };
            let mut receiver = Receiver::new(&Config::rfc().with_mss(10).with_max_window(4).with_real_time(real_time));
            receiver.on_syn();
            let mut taken = |range: Range<u64>| receiver.on_data(Instant::ZERO, range, false).taken;
            assert_eq!([taken(1..11), taken(21..31), taken(100..110)], [1..11, 21..31, 0..0], "framing: {framing}");
        }
    }
}
