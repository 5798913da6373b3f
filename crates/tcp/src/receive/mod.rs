//! The receiving half: what arrived, what is missing, and what to tell the sender about it.

mod acks;
mod frames;
#[cfg(test)]
mod model;
mod reader;
mod room;
mod skips;

pub(crate) use self::acks::Circumstances;

use self::acks::Acks;
use self::reader::Reader;
use self::room::Room;
use crate::config::Config;
use crate::config::groups::Dsack;
use crate::policy::acking::AckDue;
use crate::policy::buffer::tuning::{Progress, Tuning};
use crate::scoreboard::ranges::Ranges;
use alloc::boxed::Box;
use arrayvec::ArrayVec;
use core::ops::Range;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{SackBlock, SackBlocks, SeqNum};

/// Stream positions received, and the acknowledgement owed. Position 0 is the peer's SYN.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    acks: Acks,
    pub(crate) due: AckDue,
    pub(crate) circumstances: Circumstances,
    nxt: u64,
    above: Ranges,
    /// The most ranges that are kept behind holes.
    places: usize,
    recent: ArrayVec<Range<u64>, { SackBlocks::MAX }>,
    sack_blocks: usize,
    tells_duplicates: bool,
    /// What the last segment brought a second time.
    duplicate: Option<Range<u64>>,
    /// Bytes delivered in order that the application has not read.
    pub(crate) unread: u64,
    room: Room,
    tuning: Option<Box<Tuning>>,
    fin: Option<u64>,
    /// Bytes stepped over.
    skipped: u64,
    /// For frames and skipping.
    reader: Option<Box<Reader>>,
    /// There is neither a reader nor a buffer that grows, and no FIN has come.
    is_simple: bool,
}

/// Ranges, frames and waits held for each segment of the buffer: a peer that sends a byte at a time must not fill the memory.
/// Sound in 100-byte frames beside full segments stays below it.
const PLACES_PER_SEGMENT: u64 = 16;
/// The most ranges, however large the buffer: finding the place of one costs what moving so many costs.
const MOST_PLACES: u64 = 4096;

/// What became of a segment's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The positions that were taken, those of payload only.
    pub(crate) taken: Range<u64>,
    /// The bytes that became readable.
    pub(crate) delivered: u64,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            acks: Acks::new(config),
            due: AckDue::Nothing,
            circumstances: Circumstances::default(),
            nxt: 0,
            above: Ranges::default(),
            places: (PLACES_PER_SEGMENT * config.largest_offer()).min(MOST_PLACES) as usize,
            recent: ArrayVec::new(),
            // Beside timestamps only three fit into a header (RFC 2018 §3).
            sack_blocks: config.acks.sack_blocks.min(SackBlocks::MAX - usize::from(config.timestamps.enabled)),
            tells_duplicates: config.acks.dsack != Dsack::Off && config.acks.sack_blocks > 0,
            duplicate: None,
            unread: 0,
            room: Room::new(
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

    /// Takes the peer's SYN: position 0 is in.
    pub(crate) fn on_syn(&mut self) {
        self.nxt = 1;
        self.is_simple = self.reader.is_none() && self.tuning.is_none() && !self.acks.is_spaced();
        self.room.begin();
        self.due = AckDue::Now;
    }

    /// Returns the next position expected.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns the bytes received in order: without the SYN, the FIN, and what was stepped over.
    pub(crate) fn received(&self) -> u64 {
        self.nxt.saturating_sub(1) - u64::from(self.is_finished()) - self.skipped
    }

    /// Returns whether everything up to the peer's FIN arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Returns the first position for which there is no room. It never moves back, so that nothing is refused that fitted
    /// when the peer was told so.
    fn limit(&self) -> u64 {
        self.nxt + self.room.free(self.unread)
    }

    /// Returns whether any of the positions lie in the window (RFC 9293 §3.10.7.4, first). Of a closed one it is the next:
    /// what else its segment tells is believed.
    pub(crate) fn is_acceptable(&self, range: &Range<u64>) -> bool {
        let end = self.limit();
        if range.is_empty() {
            (self.nxt..=end).contains(&range.start)
        } else {
            range.start < end.max(self.nxt + 1) && range.end > self.nxt
        }
    }

    /// Takes payload (and FIN) at these positions.
    pub(crate) fn on_data(&mut self, now: Instant, range: Range<u64>, has_fin: bool) -> Arrival {
        let range = if has_fin { self.hear_fin(range) } else { range };
        self.note_duplicate(&range);
        let had_holes = !self.above.is_empty();
        let opens_hole = range.start > self.nxt.max(self.above.end());
        let before = self.received();
        let end = range.end;
        let stored = self.store(now, range);
        let delivered = self.received() - before;
        let is_plain = !had_holes && self.above.is_empty() && delivered > 0;
        let is_spaced = self.acks.keeps_distance(now, opens_hole) && !stored.is_empty();
        let waits = (is_plain || is_spaced || self.waits_again(end)) && !has_fin;
        self.due = if waits { self.plain_due(now, delivered) } else { AckDue::Now };
        self.unread += delivered;
        if delivered > 0 && self.tuning.is_some() {
            self.tune(now);
        }
        let delivered = if self.reader.is_some() { self.readable_of(delivered, &stored) } else { delivered };
        Arrival { delivered, taken: stored.start..self.fin.map_or(stored.end, |fin| stored.end.min(fin)) }
    }

    /// Returns whether the next `len` bytes in order go a simple way: nothing is missing, all of them fit, the buffer does not
    /// grow, and nobody reads frame by frame.
    #[inline]
    pub(crate) fn has_simple_place(&self, len: u64) -> bool {
        self.is_simple && self.above.is_empty() && len <= self.room.free(self.unread)
    }

    /// Takes the next payload in order, for which [`Self::has_simple_place`], as [`Self::on_data`] would.
    #[inline]
    pub(crate) fn take_next(&mut self, now: Instant, len: u64) {
        self.nxt += len;
        self.duplicate = None;
        self.due = self.plain_due(now, len);
        self.unread += len;
    }

    /// Returns whether what arrived goes a simple way behind a hole: it fits, lies beyond all that came, and else as
    /// [`Self::has_simple_place`] asks.
    #[inline]
    pub(crate) fn has_simple_place_above(&self, range: &Range<u64>) -> bool {
        let is_beyond = range.start > self.nxt && range.start >= self.above.end();
        self.is_simple && is_beyond && range.end <= self.limit() && self.has_place(range)
    }

    /// Takes payload for which [`Self::has_simple_place_above`], as [`Self::on_data`] would.
    #[inline]
    pub(crate) fn take_above(&mut self, range: Range<u64>) {
        self.duplicate = None;
        self.due = AckDue::Now;
        let newest = self.above.insert(range);
        match self.recent.first_mut() {
            Some(first) if first.start == newest.start => *first = newest,
            _ => self.put_in_front(newest),
        }
    }

    /// Notes where the stream ends. An end before what came already, or another than the first, is a lie, and no byte of the
    /// stream either.
    fn hear_fin(&mut self, range: Range<u64>) -> Range<u64> {
        self.is_simple = false;
        let fin = range.end - 1;
        if fin >= self.nxt.max(self.above.end()) {
            self.fin.get_or_insert(fin);
        }
        if self.fin == Some(fin) { range } else { range.start..fin }
    }

    /// Lets a buffer grow that does.
    #[cold]
    fn tune(&mut self, now: Instant) {
        let progress = Progress {
            now,
            nxt: self.nxt,
            read: self.nxt - self.unread,
            edge: self.room.edge(),
            echoed: self.circumstances.echoed,
        };
        let size = self.tuning.as_mut().and_then(|tuning| tuning.on_arrival(&progress));
        size.inspect(|size| self.room.grow(*size));
    }

    #[inline]
    fn plain_due(&mut self, now: Instant, len: u64) -> AckDue {
        if self.acks.remembers() {
            self.remembered_due(now, len)
        } else {
            self.acks.on_plain_data(now, self.due, self.nxt, len)
        }
    }

    #[inline(never)]
    fn remembered_due(&mut self, now: Instant, len: u64) -> AckDue {
        let window = self.room.window(self.nxt);
        self.acks.on_data(now, self.due, (self.nxt, len, window), &self.circumstances)
    }

    /// Returns whether the ACK of a segment up to `end` may wait though it came before: ns-2's sink looks at nothing but whether
    /// it ends all that arrived (`DelAckSink::recv`, with `RFC2581_immediate_ack_`).
    fn waits_again(&self, end: u64) -> bool {
        end == self.nxt && self.above.is_empty() && self.acks.is_ns2_sink()
    }

    /// Remembers the first part of an arrival that had arrived before (RFC 2883 §4).
    fn note_duplicate(&mut self, range: &Range<u64>) {
        let is_late = self.reader.is_some() && self.is_late(range);
        let below = range.start..range.end.min(self.nxt);
        if !below.is_empty() {
            self.acks.on_duplicate(self.room.window(self.nxt));
        }
        if is_late || !self.tells_duplicates {
            return;
        }
        self.duplicate = if below.is_empty() { self.above.first_within(range) } else { Some(below) };
    }

    /// The peer's SYN came a second time.
    pub(crate) fn on_repeated_syn(&mut self) {
        self.note_duplicate(&(0..1));
    }

    /// Remembers what of a refused segment had arrived in order, as Linux does: what else it has was not looked at. It is
    /// answered.
    pub(crate) fn note_refused(&mut self, now: Instant, range: &Range<u64>) {
        if range.start < self.nxt {
            self.note_duplicate(&(range.start..range.end.min(self.nxt)));
        }
        self.due = if self.waits_again(range.end) { self.plain_due(now, 0) } else { AckDue::Now };
    }

    /// Returns what of it was stored.
    fn store(&mut self, now: Instant, range: Range<u64>) -> Range<u64> {
        if self.reader.is_some() {
            return self.store_for_reader(now, range);
        }
        let range = range.start.max(self.nxt)..range.end.min(self.end());
        if range.is_empty() || !self.has_place(&range) {
            return 0..0;
        }
        self.place(range.clone());
        range
    }

    /// Returns whether there is a place for what would be stored. What is refused for want of one was never told of as there, so
    /// that nothing has to be taken back (RFC 2018 §8), and what is next in order always has one.
    #[inline]
    fn has_place(&self, range: &Range<u64>) -> bool {
        range.start == self.nxt || self.above.as_slice().len() < self.places || self.above.meets(range)
    }

    #[inline]
    fn place(&mut self, range: Range<u64>) {
        if range.start == self.nxt {
            self.nxt = range.end;
            if !self.above.is_empty() {
                self.close_holes();
            }
        } else {
            self.place_above(range);
        }
    }

    /// Returns the position up to which something can be taken: as far as there is room, but nothing behind the peer's FIN,
    /// which itself needs none.
    fn end(&self) -> u64 {
        let limit = self.limit();
        self.fin.map_or(limit, |fin| if fin <= limit { fin + 1 } else { limit })
    }

    #[inline(never)]
    fn close_holes(&mut self) {
        self.nxt = self.above.take_from(self.nxt);
        let nxt = self.nxt;
        self.recent.retain(|range| range.end > nxt);
    }

    /// Takes what arrived behind a hole.
    #[inline(never)]
    fn place_above(&mut self, arrived: Range<u64>) {
        let newest = self.above.insert(arrived);
        self.put_in_front(newest);
    }

    /// The newest ranges are in front (RFC 2018 §4); older ones than fit into an ACK are forgotten, as ns-2 does.
    fn put_in_front(&mut self, newest: Range<u64>) {
        self.recent.retain(|range| range.start < newest.start || range.end > newest.end);
        self.recent.truncate(self.sack_blocks.saturating_sub(1));
        if self.sack_blocks > 0 {
            self.recent.insert(0, newest);
        }
    }

    /// Adds the SACK blocks of an ACK sent now, the peer's SYN having number `origin`: fewer beside a skip notice. A
    /// duplicate is told once.
    pub(crate) fn tell_sack(&mut self, origin: SeqNum, has_notice: bool, blocks: &mut SackBlocks) {
        let block = |range: &Range<u64>| SackBlock { left: origin.at(range.start), right: origin.at(range.end) };
        if let Some(duplicate) = self.duplicate.take() {
            blocks.push(block(&duplicate));
        }
        let room = if has_notice { self.sack_room_beside_notice() } else { self.sack_blocks };
        let room = room.saturating_sub(blocks.len());
        for range in self.recent.iter().take(room) {
            blocks.push(block(range));
        }
    }

    /// Returns whether an ACK has more to say than a number and a window.
    pub(crate) fn has_more_to_tell(&self) -> bool {
        !self.recent.is_empty() || self.duplicate.is_some() || self.reader.is_some()
    }

    /// Reads up to `bytes` and gives how many were there.
    #[inline]
    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let read = match &mut self.reader {
            None => bytes.min(self.unread),
            Some(reader) => reader.read(bytes, self.unread, self.nxt),
        };
        self.take_out(read);
        read
    }

    /// Makes room for so many bytes. A window that was nearly closed is told anew.
    #[inline]
    fn take_out(&mut self, bytes: u64) {
        self.unread -= bytes;
        let smallest = self.reader.as_ref().map_or(0, |reader| reader.smallest_window());
        if self.nxt > 1 && self.room.has_reopened(self.window_start(), self.unread, smallest) {
            self.due = AckDue::Now;
        }
        if bytes > 0 && matches!(self.due, AckDue::By(_)) && self.acks.on_read(self.nxt, self.unread == 0) {
            self.due = AckDue::Now;
        }
    }

    /// Learns that a segment with the current acknowledgement leaves.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, has_data: bool) {
        self.acks.on_sent(now, self.due, self.nxt, has_data);
        self.due = AckDue::Nothing;
    }

    /// Returns the window that a segment tells; an opening one's is not scaled.
    #[inline]
    pub(crate) fn tell_window(&mut self, is_opening: bool) -> u16 {
        let start = self.window_start();
        self.room.tell(start, self.unread);
        self.room.field(start, is_opening)
    }

    /// Returns where the room begins: the peer's FIN takes none.
    fn window_start(&self) -> u64 {
        self.nxt - u64::from(self.is_finished())
    }

    /// Returns the bits by which the window is to be scaled.
    pub(crate) fn wanted_shift(&self) -> u8 {
        self.room.wanted_shift()
    }

    /// Learns whether windows are scaled.
    pub(crate) fn scale_window(&mut self, is_scaled: bool) {
        self.room.scale(if is_scaled { self.wanted_shift() } else { 0 });
    }

    /// Returns whether [`Self::circumstances`] are read.
    #[inline]
    pub(crate) fn asks_for_circumstances(&self) -> bool {
        self.acks.remembers() || self.tuning.is_some()
    }

    /// Returns the delay of ACKs, where it adapts.
    pub(crate) fn ack_delay(&self) -> Option<Duration> {
        self.acks.delay()
    }

    /// Lets ACKs wait for answers, or not.
    pub(crate) fn set_interactive(&mut self, is_interactive: bool) {
        self.acks.set_interactive(is_interactive);
        if !is_interactive && matches!(self.due, AckDue::By(_)) {
            self.due = AckDue::Now;
        }
    }

    /// Returns the time at which a delayed ACK must go, or the reader steps over what is missing.
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

    /// Acts on whatever deadline has come; gives the bytes that became readable if something was stepped over.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> Option<u64> {
        if let AckDue::By(at) = self.due
            && at <= now
        {
            self.due = AckDue::Now;
            self.acks.on_late();
        }
        let is_due = self.reader.as_ref()?.deadline()? <= now;
        is_due.then(|| self.step_over_what_is_due(now))
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
                prop_assert!(receiver.unread + receiver.above.total() <= 40, "held is what the buffer holds");
            }
        }
    }

    proptest! {
        #[test]
        fn the_short_ways_leave_what_the_long_one_does(arrivals in vec((1_u64..100, 1_u64..15), 1..30)) {
            let mut receiver = receiver();
            for (start, len) in arrivals {
                let (range, mut short) = (start..start + len, receiver.clone());
                let is_next = start == receiver.nxt() && receiver.has_simple_place(len);
                let is_above = receiver.has_simple_place_above(&range);
                receiver.on_data(Instant::ZERO, range.clone(), false);
                if is_next {
                    short.take_next(Instant::ZERO, len);
                } else if is_above {
                    short.take_above(range);
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
