//! The receiving half: reassembly, the window that is advertised, and the ACK that is due.

mod acks;
mod frames;
#[cfg(test)]
mod model;
mod rcv_window;
mod reader;
mod skips;

pub(crate) use self::acks::AckContext;

use self::acks::AckScheduler;
use self::rcv_window::RcvWindow;
use self::reader::Reader;
use crate::config::Config;
use crate::config::groups::Dsack;
use crate::policy::acking::AckDue;
use crate::policy::buffer::tuning::{Autotuning, RcvProgress};
use crate::scoreboard::ranges::Ranges;
use alloc::boxed::Box;
use arrayvec::ArrayVec;
use core::ops::Range;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{SackBlock, SackBlocks, SeqNum};

/// Stream positions received, and the ACK that is due. Position 0 is the peer's SYN.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    acks: AckScheduler,
    pub(crate) due: AckDue,
    pub(crate) ack_context: AckContext,
    nxt: u64,
    out_of_order: Ranges,
    /// The largest number of out-of-order ranges.
    max_ranges: usize,
    recent: ArrayVec<Range<u64>, { SackBlocks::MAX }>,
    sack_blocks: usize,
    sends_dsack: bool,
    /// The duplicate part of the last segment, for DSACK.
    duplicate: Option<Range<u64>>,
    /// Bytes delivered in order that the application has not read.
    pub(crate) unread: u64,
    rcv_window: RcvWindow,
    tuning: Option<Box<Autotuning>>,
    fin: Option<u64>,
    /// Bytes skipped.
    skipped: u64,
    /// Present with framing or skipping.
    reader: Option<Box<Reader>>,
    /// Whether there is neither a reader nor a buffer that grows, and no FIN has arrived: the fast path applies.
    is_simple: bool,
}

/// Largest number of ranges, frames and waits per segment of the buffer: a peer that sends single bytes must not exhaust memory.
/// Audio in 100-byte frames beside full segments needs fewer.
const RANGES_PER_SEGMENT: u64 = 16;
/// Largest number of ranges for any buffer: an insertion moves all ranges behind it.
const MAX_RANGES: u64 = 4096;

/// The result of storing a segment's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The positions that were stored, of payload only.
    pub(crate) taken: Range<u64>,
    /// The bytes that became readable.
    pub(crate) delivered: u64,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            acks: AckScheduler::new(config),
            due: AckDue::Nothing,
            ack_context: AckContext::default(),
            nxt: 0,
            out_of_order: Ranges::default(),
            max_ranges: (RANGES_PER_SEGMENT * config.largest_offer()).min(MAX_RANGES) as usize,
            recent: ArrayVec::new(),
            // Beside timestamps only three fit into a header (RFC 2018 §3).
            sack_blocks: config.acks.sack_blocks.min(SackBlocks::MAX - usize::from(config.timestamps.enabled)),
            sends_dsack: config.acks.dsack != Dsack::Off && config.acks.sack_blocks > 0,
            duplicate: None,
            unread: 0,
            rcv_window: RcvWindow::new(
                config.receive_buffer_sizes(),
                if config.real_time.framing { 1 } else { u64::from(config.segments.mss) },
            ),
            tuning: config.buffers.receive.tuning(config.segments.mss).map(Box::new),
            fin: None,
            skipped: 0,
            reader: Reader::new(config).map(Box::new),
            is_simple: false,
        }
    }

    /// Processes the peer's SYN, which is position 0.
    pub(crate) fn on_syn(&mut self) {
        self.nxt = 1;
        self.is_simple = self.reader.is_none() && self.tuning.is_none() && !self.acks.is_spaced();
        self.rcv_window.reset();
        self.due = AckDue::Now;
    }

    /// Returns the next position expected.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns the number of bytes received in order, without SYN, FIN and skipped bytes.
    pub(crate) fn received(&self) -> u64 {
        self.nxt.saturating_sub(1) - u64::from(self.is_finished()) - self.skipped
    }

    /// Returns whether everything up to the peer's FIN arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Returns the end of the buffer space. It never moves back: data within an advertised window is never dropped.
    fn limit(&self) -> u64 {
        self.nxt + self.rcv_window.free(self.unread)
    }

    /// Returns whether any of the positions lie in the window (RFC 9293 §3.10.7.4, first). The next position is acceptable in a
    /// closed window too, so that its ACK and window are processed.
    pub(crate) fn is_acceptable(&self, range: &Range<u64>) -> bool {
        let end = self.limit();
        if range.is_empty() {
            (self.nxt..=end).contains(&range.start)
        } else {
            range.start < end.max(self.nxt + 1) && range.end > self.nxt
        }
    }

    /// Stores payload (and FIN) at these positions, and decides about the ACK.
    pub(crate) fn on_data(&mut self, now: Instant, range: Range<u64>, has_fin: bool) -> Arrival {
        // The FIN first: an invalid one must not be stored or counted as a duplicate.
        let range = if has_fin { self.note_fin(range) } else { range };
        self.note_duplicate(&range);
        // State before the segment is stored, which decides about the ACK.
        let had_holes = !self.out_of_order.is_empty();
        let opens_hole = range.start > self.nxt.max(self.out_of_order.end());
        let before = self.received();
        let end = range.end;
        let stored = self.store(now, range);
        let delivered = self.received() - before;
        // RFC 5681 §4.2: a segment that fills a hole or is behind one is acknowledged at once, as is a FIN.
        let is_plain = !had_holes && self.out_of_order.is_empty() && delivered > 0;
        let is_spaced = self.acks.keeps_spacing(now, opens_hole) && !stored.is_empty();
        let waits = (is_plain || is_spaced || self.delays_duplicate_ack(end)) && !has_fin;
        self.due = if waits { self.plain_due(now, delivered) } else { AckDue::Now };
        self.unread += delivered;
        // Before the next window is advertised: the buffer may have grown.
        if delivered > 0 && self.tuning.is_some() {
            self.tune(now);
        }
        let delivered = if self.reader.is_some() { self.readable_of(delivered, &stored) } else { delivered };
        Arrival { delivered, taken: stored.start..self.fin.map_or(stored.end, |fin| stored.end.min(fin)) }
    }

    /// Returns whether the fast path can take the next `len` bytes in order: there are no holes, all bytes fit, the buffer does not
    /// grow, and there is no reader of frames.
    #[inline]
    pub(crate) fn can_take_next(&self, len: u64) -> bool {
        self.is_simple && self.out_of_order.is_empty() && len <= self.rcv_window.free(self.unread)
    }

    /// Stores the next payload in order as [`Self::on_data`] would, if [`Self::can_take_next`].
    #[inline]
    pub(crate) fn take_next(&mut self, now: Instant, len: u64) {
        self.nxt += len;
        self.duplicate = None;
        self.due = self.plain_due(now, len);
        self.unread += len;
    }

    /// Returns whether the fast path can take payload behind a hole: it fits, is beyond all that arrived, and the other conditions
    /// of [`Self::can_take_next`] hold.
    #[inline]
    pub(crate) fn can_take_out_of_order(&self, range: &Range<u64>) -> bool {
        let is_beyond = range.start > self.nxt && range.start >= self.out_of_order.end();
        self.is_simple && is_beyond && range.end <= self.limit() && self.can_store(range)
    }

    /// Stores payload as [`Self::on_data`] would, if [`Self::can_take_out_of_order`].
    #[inline]
    pub(crate) fn take_out_of_order(&mut self, range: Range<u64>) {
        self.duplicate = None;
        self.due = AckDue::Now;
        let newest = self.out_of_order.insert(range);
        match self.recent.first_mut() {
            // The common case: the newest block grew at its end and is in front already.
            Some(first) if first.start == newest.start => *first = newest,
            _ => self.move_to_front(newest),
        }
    }

    /// Records the end of the stream. A FIN before data that has arrived, or at another position than the first, is invalid and
    /// not part of the stream.
    fn note_fin(&mut self, range: Range<u64>) -> Range<u64> {
        self.is_simple = false;
        let fin = range.end - 1;
        // A FIN must not lie before received data; the first one counts (RFC 9293 §3.10.7.4).
        if fin >= self.nxt.max(self.out_of_order.end()) {
            self.fin.get_or_insert(fin);
        }
        if self.fin == Some(fin) { range } else { range.start..fin }
    }

    /// Grows an autotuned buffer.
    #[cold]
    fn tune(&mut self, now: Instant) {
        let progress = RcvProgress {
            now,
            nxt: self.nxt,
            read: self.nxt - self.unread,
            edge: self.rcv_window.edge(),
            echoed: self.ack_context.echoed,
        };
        let size = self.tuning.as_mut().and_then(|tuning| tuning.on_arrival(&progress));
        size.inspect(|size| self.rcv_window.grow(*size));
    }

    #[inline]
    fn plain_due(&mut self, now: Instant, len: u64) -> AckDue {
        if self.acks.is_stateful() {
            self.stateful_due(now, len)
        } else {
            self.acks.on_plain_data(now, self.due, self.nxt, len)
        }
    }

    #[inline(never)]
    fn stateful_due(&mut self, now: Instant, len: u64) -> AckDue {
        let window = self.rcv_window.window(self.nxt);
        self.acks.on_data(now, self.due, (self.nxt, len, window), &self.ack_context)
    }

    /// Returns whether the ACK of a duplicate segment up to `end` is delayed: ns-2's sink only checks whether the segment ends at
    /// RCV.NXT (`DelAckSink::recv`, with `RFC2581_immediate_ack_`).
    fn delays_duplicate_ack(&self, end: u64) -> bool {
        end == self.nxt && self.out_of_order.is_empty() && self.acks.is_ns2_sink()
    }

    /// Records the first duplicate part of a segment (RFC 2883 §4).
    fn note_duplicate(&mut self, range: &Range<u64>) {
        let is_late = self.reader.is_some() && self.is_late(range);
        let below = range.start..range.end.min(self.nxt);
        if !below.is_empty() {
            self.acks.on_duplicate(self.rcv_window.window(self.nxt));
        }
        // Skipped data that arrives late is no duplicate: DSACK would make the sender undo its reduction.
        if is_late || !self.sends_dsack {
            return;
        }
        self.duplicate = if below.is_empty() { self.out_of_order.first_within(range) } else { Some(below) };
    }

    /// Records a duplicate of the peer's SYN.
    pub(crate) fn on_repeated_syn(&mut self) {
        self.note_duplicate(&(0..1));
    }

    /// Records the duplicate in-order part of a segment that was not acceptable, as Linux does, and schedules an ACK.
    pub(crate) fn note_refused(&mut self, now: Instant, range: &Range<u64>) {
        if range.start < self.nxt {
            self.note_duplicate(&(range.start..range.end.min(self.nxt)));
        }
        self.due = if self.delays_duplicate_ack(range.end) { self.plain_due(now, 0) } else { AckDue::Now };
    }

    /// Stores a range, and returns the stored part.
    fn store(&mut self, now: Instant, range: Range<u64>) -> Range<u64> {
        if self.reader.is_some() {
            return self.store_for_reader(now, range);
        }
        // Trim to the window (RFC 9293 §3.10.7.4): bytes before it are duplicates, bytes behind it do not fit.
        let range = range.start.max(self.nxt)..range.end.min(self.end());
        if range.is_empty() || !self.can_store(&range) {
            return 0..0;
        }
        self.insert(range.clone());
        range
    }

    /// Returns whether the range fits into the list of ranges. A range that does not fit was never `SACKed`, so there is no reneging
    /// (RFC 2018 §8); the next one in order always fits.
    #[inline]
    fn can_store(&self, range: &Range<u64>) -> bool {
        range.start == self.nxt
            || self.out_of_order.as_slice().len() < self.max_ranges
            || self.out_of_order.meets(range)
    }

    #[inline]
    fn insert(&mut self, range: Range<u64>) {
        if range.start == self.nxt {
            self.nxt = range.end;
            if !self.out_of_order.is_empty() {
                self.close_holes();
            }
        } else {
            self.insert_out_of_order(range);
        }
    }

    /// Returns the end of the positions that can be stored: the end of the buffer, or the peer's FIN, which takes no space.
    fn end(&self) -> u64 {
        let limit = self.limit();
        self.fin.map_or(limit, |fin| if fin <= limit { fin + 1 } else { limit })
    }

    #[inline(never)]
    fn close_holes(&mut self) {
        self.nxt = self.out_of_order.take_from(self.nxt);
        let nxt = self.nxt;
        // Blocks at or below RCV.NXT are covered by the cumulative ACK.
        self.recent.retain(|range| range.end > nxt);
    }

    /// Stores a range behind a hole.
    #[inline(never)]
    fn insert_out_of_order(&mut self, arrived: Range<u64>) {
        let newest = self.out_of_order.insert(arrived);
        self.move_to_front(newest);
    }

    /// Moves the newest range to the front (RFC 2018 §4). Ranges that do not fit into an ACK are dropped from the list, as in ns-2.
    fn move_to_front(&mut self, newest: Range<u64>) {
        self.recent.retain(|range| range.start < newest.start || range.end > newest.end);
        // Room for the newest: RFC 2018 §4 requires it in the first block.
        self.recent.truncate(self.sack_blocks.saturating_sub(1));
        if self.sack_blocks > 0 {
            self.recent.insert(0, newest);
        }
    }

    /// Writes the SACK blocks of an ACK that is sent now; `origin` is the number of the peer's SYN. Beside a SNACK fewer blocks
    /// fit. A duplicate is reported once.
    pub(crate) fn write_sack(&mut self, origin: SeqNum, has_notice: bool, blocks: &mut SackBlocks) {
        let block = |range: &Range<u64>| SackBlock { left: origin.at(range.start), right: origin.at(range.end) };
        // The DSACK block is the first one (RFC 2883 §4).
        if let Some(duplicate) = self.duplicate.take() {
            blocks.push(block(&duplicate));
        }
        let room = if has_notice { self.sack_limit_with_notice() } else { self.sack_blocks };
        let room = room.saturating_sub(blocks.len());
        for range in self.recent.iter().take(room) {
            blocks.push(block(range));
        }
    }

    /// Returns whether an ACK may carry SACK blocks or a SNACK.
    pub(crate) fn has_ack_options(&self) -> bool {
        !self.recent.is_empty() || self.duplicate.is_some() || self.reader.is_some()
    }

    /// Reads up to `bytes` bytes, and returns how many were read.
    #[inline]
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let read = match &mut self.reader {
            None => bytes.min(self.unread),
            Some(reader) => reader.read(bytes, self.unread, self.nxt),
        };
        self.consume(read);
        read
    }

    /// Frees buffer space. A window update is due if the window was nearly closed.
    #[inline]
    fn consume(&mut self, bytes: u64) {
        self.unread -= bytes;
        let smallest = self.reader.as_ref().map_or(0, |reader| reader.smallest_window());
        // Before the handshake is done there is no window to update.
        if self.nxt > 1 && self.rcv_window.has_reopened(self.window_start(), self.unread, smallest) {
            self.due = AckDue::Now;
        }
        if bytes > 0 && matches!(self.due, AckDue::By(_)) && self.acks.on_read(self.nxt, self.unread == 0) {
            self.due = AckDue::Now;
        }
    }

    /// Clears the ACK that is due: a segment with the current acknowledgement is sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, has_data: bool) {
        self.acks.on_sent(now, self.due, self.nxt, has_data);
        self.due = AckDue::Nothing;
    }

    /// Advertises the window, and returns its header field; on a SYN it is not scaled.
    #[inline]
    pub(crate) fn advertise_window(&mut self, is_opening: bool) -> u16 {
        let start = self.window_start();
        self.rcv_window.advertise(start, self.unread);
        self.rcv_window.header_field(start, is_opening)
    }

    /// Returns the left edge of the window: the peer's FIN takes no space.
    fn window_start(&self) -> u64 {
        self.nxt - u64::from(self.is_finished())
    }

    /// Returns the window scale shift to offer.
    pub(crate) fn scale_shift(&self) -> u8 {
        self.rcv_window.scale_shift()
    }

    /// Sets whether windows are scaled.
    pub(crate) fn scale_window(&mut self, is_scaled: bool) {
        self.rcv_window.scale(if is_scaled { self.scale_shift() } else { 0 });
    }

    /// Returns whether [`Self::ack_context`] is read.
    #[inline]
    pub(crate) fn reads_ack_context(&self) -> bool {
        self.acks.is_stateful() || self.tuning.is_some()
    }

    /// Returns the adaptive delay of ACKs; `None` if the policy has none.
    pub(crate) fn ack_delay(&self) -> Option<Duration> {
        self.acks.delay()
    }

    /// Sets whether ACKs wait for data to be carried on (Linux: pingpong mode).
    pub(crate) fn set_interactive(&mut self, is_interactive: bool) {
        self.acks.set_interactive(is_interactive);
        // Leaving pingpong mode sends a pending ACK at once (Linux: `__tcp_sock_set_quickack`).
        if !is_interactive && matches!(self.due, AckDue::By(_)) {
            self.due = AckDue::Now;
        }
    }

    /// Returns the earliest deadline: of a delayed ACK, or of a skip.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let ack = match self.due {
            AckDue::By(at) => Some(at),
            AckDue::Nothing | AckDue::Now => None,
        };
        match &self.reader {
            None => ack,
            Some(reader) => reader.earliest(ack),
        }
    }

    /// Handles deadlines that have expired. Returns the bytes that became readable if something was skipped.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> Option<u64> {
        if let AckDue::By(at) = self.due
            && at <= now
        {
            self.due = AckDue::Now;
            self.acks.on_delay_expired();
        }
        let is_due = self.reader.as_ref()?.deadline()? <= now;
        is_due.then(|| self.skip_overdue(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A receiver with a buffer of 40 bytes that has seen the SYN.
    fn receiver() -> Receiver {
        let mut receiver = Receiver::new(&Config::rfc().with_mss(10).with_max_window(4));
        receiver.on_syn();
        receiver
    }

    proptest! {
        #[test]
        fn takes_what_a_set_of_bytes_would_take(arrivals in vec((1_u64..100, 1_u64..15, 0_u64..30), 1..30)) {
            let mut receiver = receiver();
            let (mut held, mut nxt, mut read) = (BTreeSet::new(), 1, 0);
            for (start, len, reads) in arrivals {
                let range = start..start + len;
                if receiver.is_acceptable(&range) {
                    let window = 40 - (nxt - 1 - read);
                    held.extend(range.start.max(nxt)..range.end.min(nxt + window));
                    let before = nxt;
                    nxt = (nxt..nxt + 100).find(|byte| !held.contains(byte)).unwrap();
                    prop_assert_eq!(receiver.on_data(Instant::ZERO, range.clone(), false).delivered, nxt - before);
                    let newest = receiver.recent.first().filter(|_| range.start > nxt);
                    prop_assert!(newest.is_none_or(|newest| newest.contains(&range.start)), "the newest block is first");
                }
                prop_assert_eq!((receiver.nxt(), receiver.received()), (nxt, nxt - 1));
                prop_assert!(receiver.recent.len() <= 3);
                for range in &receiver.recent {
                    prop_assert!(range.start > nxt && range.clone().all(|byte| held.contains(&byte)));
                    prop_assert!(!held.contains(&range.end) && !held.contains(&(range.start - 1)), "blocks are whole");
                }
                read += receiver.read(reads);
                prop_assert!(read < nxt);
                prop_assert_eq!(receiver.limit(), nxt + 40 - (nxt - 1 - read));
                prop_assert!(receiver.unread + receiver.out_of_order.total() <= 40, "held is what the buffer holds");
            }
        }
    }

    proptest! {
        #[test]
        fn the_short_ways_leave_what_the_long_one_does(arrivals in vec((1_u64..100, 1_u64..15), 1..30)) {
            let mut receiver = receiver();
            for (start, len) in arrivals {
                let (range, mut short) = (start..start + len, receiver.clone());
                let is_next = start == receiver.nxt() && receiver.can_take_next(len);
                let is_above = receiver.can_take_out_of_order(&range);
                receiver.on_data(Instant::ZERO, range.clone(), false);
                if is_next {
                    short.take_next(Instant::ZERO, len);
                } else if is_above {
                    short.take_out_of_order(range);
                }
                if is_next || is_above {
                    prop_assert_eq!(alloc::format!("{short:?}"), alloc::format!("{receiver:?}"));
                }
            }
        }
    }

    /// Two segments may come before an ACK leaves.
    #[test]
    fn a_refused_segment_made_a_duplicate_before_it_forgotten() {
        let mut receiver = receiver();
        receiver.on_data(Instant::ZERO, 1..11, false);
        receiver.on_data(Instant::ZERO, 1..11, false);
        assert_eq!(receiver.duplicate, Some(1..11));
        receiver.note_refused(Instant::ZERO, &(11..60));
        assert_eq!(receiver.duplicate, Some(1..11));
        receiver.note_refused(Instant::ZERO, &(10..60));
        assert_eq!(receiver.duplicate, Some(10..11));
    }

    #[test]
    fn the_positions_before_the_window_and_behind_it_are_not_acceptable() {
        let mut receiver = receiver();
        receiver.on_data(Instant::ZERO, 1..11, false);
        for (range, is_acceptable) in [
            (5..11, false),
            (5..12, true),
            (11..12, true),
            (40..50, true),
            (41..51, false),
            (10..10, false),
            (11..11, true),
            (41..41, true),
            (42..42, false),
        ] {
            assert_eq!(receiver.is_acceptable(&range), is_acceptable, "{range:?}");
        }
    }
}
