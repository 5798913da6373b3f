//! The reader of the real-time mode, which skips instead of waiting (rules R1 to R6 of the MTCP paper).
//!
//! R1 and R4 are ordinary TCP. R2 and R3 are one rule: a reader that waits without data in order gets what arrived behind
//! the hole, whether it arrived before the read (R3) or after it (R2). A skip is reported to the sender at once (R6); skipped data
//! that arrives later is dropped (R5).
//!
//! A FIN behind a hole is treated as data behind it. A waiting reader skips the hole and reaches the end: the missing data is as
//! late as any frame would be, and a sender that abandoned it never fills the hole.

use super::frames::Frames;
use super::skips::Skips;
use super::{RANGES_PER_SEGMENT, Receiver};
use crate::config::Config;
use crate::policy::acking::AckDue;
use crate::policy::delivery::Delivery;
use crate::real_time::RealTimeStatistics;
use alloc::collections::VecDeque;
use core::ops::Range;
use earlybird_units::Instant;
use earlybird_wire::{SackBlocks, SeqNum, SkipNotice};

/// The state of a receiver that keeps frames whole or skips.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    delivery: Delivery,
    /// Present with framing.
    frames: Option<Frames>,
    is_waiting: bool,
    waits: VecDeque<Wait>,
    max_waits: usize,
    /// Bytes of the longest segment that arrived.
    longest: u64,
    mss: u64,
    skips: Skips,
    /// The most SACK blocks beside a SNACK.
    sack_blocks: usize,
    statistics: RealTimeStatistics,
}

/// Data behind a hole that waits for a deadline: since when, and up to which position.
#[derive(Clone, Debug)]
struct Wait {
    since: Instant,
    end: u64,
}

impl Reader {
    /// Returns `None` for ordinary TCP.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let real_time = &config.real_time;
        if !real_time.framing && !real_time.delivery.skips() {
            return None;
        }
        let limit = (RANGES_PER_SEGMENT * config.largest_offer()) as usize;
        // Of the 40 bytes, timestamps take 12, a notice 16, and blocks 4 and 8 for each.
        let room = SackBlocks::MAX - usize::from(config.timestamps.enabled) - SkipNotice::WIRE_LEN / 8;
        Some(Self {
            delivery: real_time.delivery,
            frames: real_time.framing.then(|| Frames::new(limit)),
            is_waiting: false,
            waits: VecDeque::new(),
            max_waits: limit,
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
            // A read of bytes needs them in sequence; frames in any order are read by `read_frame`.
            return 0;
        }
        let mut read = 0;
        while let Some(frame) = self.next_frame(nxt, bytes - read) {
            read += frame.end - frame.start;
        }
        read
    }

    /// Returns the next frame if it has at most `bytes` bytes, and ends the wait of the reader.
    fn next_frame(&mut self, nxt: u64, bytes: u64) -> Option<Range<u64>> {
        let is_unordered = self.is_unordered();
        let frames = self.frames.as_mut()?;
        let frame = if is_unordered { frames.pop_unordered(nxt) } else { frames.pop(nxt, bytes) }?;
        self.is_waiting = false;
        self.statistics.frames_delivered += 1;
        Some(frame)
    }

    fn is_unordered(&self) -> bool {
        self.delivery == Delivery::Unordered && self.frames.is_some()
    }

    /// Returns the window in bytes below which the sender may be blocked, because a frame is never cut.
    #[cold]
    pub(super) fn smallest_window(&self) -> u64 {
        if self.frames.is_some() { self.mss } else { 0 }
    }

    /// Returns the length of a segment: the longest seen, or else the MSS.
    fn segment_bytes(&self) -> u64 {
        if self.longest > 0 { self.longest } else { self.mss }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let Delivery::SkipAtDeadline(time_limit) = self.delivery else { return None };
        self.waits.front().map(|wait| wait.since + time_limit)
    }

    /// Returns the earlier of the deadlines of the ACK and of the reader.
    #[cold]
    pub(super) fn earliest(&self, ack: Option<Instant>) -> Option<Instant> {
        [ack, self.deadline()].into_iter().flatten().min()
    }

    /// Starts a wait for the data missing before `end`. Data that ends before that of an older wait shares its deadline.
    fn begin_wait(&mut self, now: Instant, end: u64) {
        let is_full = self.waits.len() >= self.max_waits;
        match self.waits.back_mut() {
            Some(last) if last.end >= end => {}
            // One wait per arrival time; a full list extends its newest, so that memory stays bounded.
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

// Functions that ordinary TCP calls but never needs are cold, to keep them out of its hot path.
impl Receiver {
    /// Returns whether a segment has skipped data, and counts it (R5). It is no duplicate for DSACK: the sender would undo its
    /// reduction.
    #[cold]
    pub(super) fn is_late(&mut self, range: &Range<u64>) -> bool {
        let below = range.start..range.end.min(self.nxt);
        let Some(reader) = &mut self.reader else { return false };
        let is_late = reader.skips.overlaps(&below);
        reader.statistics.late_after_skip += u64::from(is_late);
        is_late
    }

    /// Stores a range, skips for a reader that waits (R2), and returns the stored part.
    #[cold]
    pub(super) fn store_for_reader(&mut self, now: Instant, range: Range<u64>) -> Range<u64> {
        let before = self.nxt;
        let range = self.fitting(range);
        if range.is_empty() {
            return 0..0;
        }
        if self.reader.as_ref().is_some_and(|reader| reader.frames.is_some()) {
            self.store_frames(&range);
        } else if self.can_store(&range) {
            self.insert(range.clone());
        }
        self.note_arrival(now, &range);
        // R2 applies only if no data became readable in order.
        if self.nxt == before {
            self.skip_for_waiting_reader();
        }
        // The skip may have moved RCV.NXT over the range that was just stored.
        let is_held = range.end <= self.nxt || self.out_of_order.contains(range.start);
        if is_held { range } else { 0..0 }
    }

    fn note_arrival(&mut self, now: Instant, range: &Range<u64>) {
        let payload = self.payload_of(range);
        let is_above = self.out_of_order.contains(range.end - 1);
        let Some(reader) = &mut self.reader else { return };
        reader.longest = reader.longest.max(payload.end - payload.start);
        reader.end_waits(self.nxt);
        if is_above && matches!(reader.delivery, Delivery::SkipAtDeadline(_)) {
            reader.begin_wait(now, range.end);
        }
    }

    /// Returns the part of a range that can be stored. A frame is stored whole or not at all, also as a probe of a closed window.
    fn fitting(&self, range: Range<u64>) -> Range<u64> {
        let cut = range.start.max(self.nxt)..range.end.min(self.end());
        if self.reader.as_ref().is_none_or(|reader| reader.frames.is_none()) {
            return cut;
        }
        // A FIN takes no buffer space, so the frame before it may end at the limit.
        let behind_fin = self.fin.map_or(range.end, |fin| fin + 1);
        let fits = self.payload_of(&range).end <= self.limit();
        if fits { cut.start..range.end.min(behind_fin) } else { cut.start..cut.start }
    }

    /// Returns the range without the peer's FIN.
    fn payload_of(&self, range: &Range<u64>) -> Range<u64> {
        range.start..self.fin.map_or(range.end, |fin| range.end.min(fin))
    }

    /// Stores a segment as a frame. If it overlaps held data, which no sender of frames causes, each new part becomes a frame, so
    /// that no byte is delivered twice or lost.
    fn store_frames(&mut self, range: &Range<u64>) {
        let mut from = range.start;
        while from < range.end {
            let held = self.out_of_order.first_within(&(from..range.end)).unwrap_or(range.end..range.end);
            if from < held.start {
                self.store_frame(from..held.start);
            }
            from = held.end;
        }
    }

    fn store_frame(&mut self, new: Range<u64>) {
        let payload = self.payload_of(&new);
        let is_next = new.start == self.nxt;
        if !self.can_store(&new) {
            return;
        }
        let frames = self.reader.as_mut().and_then(|reader| reader.frames.as_mut());
        if payload.is_empty() || frames.is_some_and(|frames| frames.insert(payload, is_next)) {
            self.insert(new);
        }
    }

    /// Skips if a reader waits, nothing is readable, and data is behind the hole (R2 and R3).
    fn skip_for_waiting_reader(&mut self) {
        let skips = |reader: &Reader| reader.is_waiting && reader.delivery == Delivery::SkipWhenWaiting;
        if self.unread == 0 && self.reader.as_deref().is_some_and(skips) {
            self.skip_hole();
        }
    }

    /// Skips the lowest hole and reports it at once (R6). Returns whether there was a hole.
    fn skip_hole(&mut self) -> bool {
        let (Some(first), Some(reader)) = (self.out_of_order.first(), &mut self.reader) else { return false };
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

    /// Starts a wait of the reader, and returns the bytes that became readable (R3).
    pub(crate) fn wait(&mut self) -> u64 {
        let before = self.received();
        if let Some(reader) = &mut self.reader {
            reader.is_waiting = self.unread == 0;
            self.skip_for_waiting_reader();
        }
        self.add_readable(before)
    }

    pub(crate) fn stop_waiting(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.is_waiting = false;
        }
    }

    /// Returns the bytes that became readable when `stored` arrived and made `delivered` bytes in order. An unordered reader reads
    /// each frame when it arrives.
    #[cold]
    pub(super) fn readable_of(&mut self, delivered: u64, stored: &Range<u64>) -> u64 {
        let payload = self.payload_of(stored);
        let Some(reader) = self.reader.as_mut().filter(|reader| reader.is_unordered()) else { return delivered };
        // Frames read early are not unread when the hole before them is filled.
        self.unread -= reader.frames.as_mut().map_or(0, |frames| frames.account_early_reads(self.nxt));
        payload.end.saturating_sub(payload.start)
    }

    /// Returns the bytes that can be read without a skip.
    pub(crate) fn readable(&self) -> u64 {
        let unordered = self.reader.as_ref().filter(|reader| reader.is_unordered());
        unordered.and_then(|reader| reader.frames.as_ref()).map_or(self.unread, Frames::bytes)
    }

    /// Returns the position below which all frames were read.
    pub(crate) fn read_below(&self) -> u64 {
        self.peek_frame().map_or(self.nxt, |frame| frame.start.min(self.nxt))
    }

    /// Returns the lowest frame.
    pub(crate) fn peek_frame(&self) -> Option<Range<u64>> {
        self.reader.as_ref()?.frames.as_ref()?.first()
    }

    /// Returns the highest frame.
    pub(crate) fn newest_frame(&self) -> Option<Range<u64>> {
        self.reader.as_ref()?.frames.as_ref()?.last()
    }

    /// Takes out the next frame.
    pub(crate) fn read_frame(&mut self) -> Option<Range<u64>> {
        let frame = self.reader.as_mut()?.next_frame(self.nxt, u64::MAX)?;
        let is_in_order = frame.end <= self.nxt;
        self.consume(if is_in_order { frame.end - frame.start } else { 0 });
        Some(frame)
    }

    /// Skips all holes whose deadline has expired, and returns the bytes that became readable.
    #[cold]
    pub(super) fn skip_overdue(&mut self, now: Instant) -> u64 {
        let before = self.received();
        let is_due =
            |receiver: &Self| receiver.reader.as_deref().and_then(Reader::deadline).is_some_and(|at| at <= now);
        // Several holes may be overdue; each skip closes the lowest.
        while is_due(self) && self.skip_hole() {}
        self.add_readable(before)
    }

    fn add_readable(&mut self, before: u64) -> u64 {
        let gained = self.received() - before;
        self.unread += gained;
        gained
    }

    /// Disables skipping: the peer does not support SNACK, or the connection has ended.
    pub(crate) fn disable_skipping(&mut self) {
        if let Some(reader) = self.reader.as_mut().filter(|reader| reader.delivery.skips()) {
            reader.delivery = Delivery::InOrder;
        }
    }

    pub(crate) fn poll_skipped(&mut self) -> Option<Range<u64>> {
        self.reader.as_mut()?.skips.poll()
    }

    /// Returns the SNACK of an ACK that is sent now; `origin` is the number of the peer's SYN.
    #[cold]
    pub(crate) fn notice(&mut self, origin: SeqNum) -> Option<SkipNotice> {
        let reader = self.reader.as_mut()?;
        let notice = reader.skips.notice(origin)?;
        reader.statistics.notices_sent += 1;
        Some(notice)
    }

    /// Returns the largest number of SACK blocks beside a SNACK.
    #[cold]
    pub(super) fn sack_limit_with_notice(&self) -> usize {
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

    /// Data beyond the largest number of waits joins the newest, and data of one arrival time shares one.
    #[test]
    fn the_list_of_what_waits_for_a_deadline_has_an_end() {
        let real_time =
            RealTime { delivery: Delivery::SkipAtDeadline(Duration::from_millis(1)), ..RealTime::default() };
        let mut reader = Reader::new(&Config::rfc().with_real_time(real_time)).expect("it skips");
        reader.max_waits = 3;
        for (millis, end) in [(1, 10), (1, 20), (2, 30), (3, 40), (4, 50), (5, 60), (6, 55)] {
            reader.begin_wait(Instant::from_nanos(millis * 1_000_000), end);
        }
        let waits: Vec<_> = reader.waits.iter().map(|wait| (wait.since.as_nanos() / 1_000_000, wait.end)).collect();
        assert_eq!(waits, [(1, 20), (2, 30), (3, 60)]);
    }

    /// The part of a segment's payload that a driver has to store.
    #[test]
    fn the_range_taken_of_an_arrival_is_returned() {
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
