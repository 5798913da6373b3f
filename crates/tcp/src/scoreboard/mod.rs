//! The scoreboard: every segment between the first unacknowledged one and the last one sent (RFC 6675 §3).
//!
//! Segments are numbered; their boundaries in the stream never change. SACK information is kept beside them as ranges of numbers.

pub(crate) mod age;
pub(crate) mod clock;
pub(crate) mod ranges;
mod segments;
#[cfg(test)]
mod tests;

use age::Age;
use alloc::vec::Vec;
use core::ops::Range;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, SackBlock, SackBlocks, SeqNum};
use ranges::Ranges;
use segments::Segments;

/// A segment that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Stream position after the segment.
    pub(crate) end: u64,
    /// The time of its last transmission.
    pub(crate) departed: Instant,
    /// The timestamp clock when it was first sent.
    first_stamp: u32,
    pub(crate) transmissions: u16,
    pub(crate) flags: Flags,
}

impl Sent {
    /// Returns the stream position after the payload.
    pub(crate) fn payload_end(&self) -> u64 {
        self.end - u64::from(self.flags.contains(Flags::FIN))
    }

    fn delivered(&self, number: u64) -> DeliveredSegment {
        DeliveredSegment { number, departed: self.departed, transmissions: u32::from(self.transmissions) }
    }
}

/// The changes that one ACK made on the scoreboard, and what else it reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acknowledgement {
    /// Segments newly acknowledged by the cumulative number.
    pub(crate) advanced: u64,
    /// Bytes newly acknowledged by it, SYN and FIN counting as one each. An ACK inside a segment has bytes, but no segments.
    pub(crate) bytes: u64,
    /// Exact round-trip time of the newest of them, unless one had been retransmitted (Karn's rule).
    pub(crate) rtt: Option<Duration>,
    /// Whether it repeats the cumulative number and carries nothing else (RFC 5681 §2).
    pub(crate) is_duplicate: bool,
    /// Whether it covers nothing but abandoned segments.
    pub(crate) is_of_abandoned: bool,
    /// Segments that the peer newly reports as skipped.
    pub(crate) skipped: u64,
    /// Whether SACK reported something new.
    pub(crate) has_new_sack: bool,
    /// Segments newly known to have arrived, by the number or by SACK.
    pub(crate) delivered: u64,
    /// Whether there are no SACK blocks.
    pub(crate) has_no_blocks: bool,
    /// Whether there may be more SACK blocks than it had room for.
    pub(crate) may_lack_blocks: bool,
    /// The part of the stream that arrived twice, as DSACK reports (RFC 2883), where that is read.
    pub(crate) duplicate: Option<Span>,
    /// The timestamp clock when the oldest newly acknowledged segment was first sent.
    pub(crate) oldest_stamp: u32,
    /// The timestamp that the peer echoes, where that is read.
    pub(crate) echo: Option<u32>,
}

impl Acknowledgement {
    /// Returns whether it ends inside the first segment: data arrived, but no whole segment.
    pub(crate) fn is_partial_segment(&self) -> bool {
        self.advanced == 0 && self.bytes > 0
    }
}

/// A part of the stream, by positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Segments by number (0 is the SYN), with their stream positions and SACK information.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: Segments,
    /// The number to send next.
    nxt: u64,
    /// Stream position of the lowest byte that is not acknowledged.
    una_position: u64,
    /// Stream position after the last segment sent.
    end_position: u64,
    /// Stream position of the highest cumulative ACK: below `una_position` only where segments were abandoned.
    acknowledged: u64,
    /// The timestamp clock when the oldest of the segments in between was first sent.
    abandoned_stamp: u32,
    /// The number of impossible SACK blocks.
    impossible_blocks: u64,
    /// The numbers that SACK has reported.
    sacked: Ranges,
    /// The possible blocks of the last ACK: most are repeated, and need not be entered again.
    last_blocks: SackBlocks,
    /// The largest distance, in segments, by which a segment was overtaken.
    reordering: u64,
    /// The transmission time of the last segment that was acknowledged in order.
    last_in_order_at: Instant,
    /// Whether `delivered` is filled: RACK and the rate sampler read it; skipped otherwise, for speed.
    lists_delivered: bool,
    delivered: Vec<DeliveredSegment>,
    /// One past the highest segment when a segment was last retransmitted.
    retransmitted_below: u64,
}

/// A segment that has newly arrived at the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeliveredSegment {
    pub(crate) number: u64,
    /// The time of its last transmission.
    pub(crate) departed: Instant,
    pub(crate) transmissions: u32,
}

/// The reordering that is assumed before any was seen: the duplicate threshold of RFC 5681 §3.2.
const DEFAULT_REORDERING: u64 = 3;

impl Scoreboard {
    /// Makes an empty scoreboard; `lists_delivered` if [`Self::delivered`] is to be filled.
    pub(crate) fn new(lists_delivered: bool) -> Self {
        Self { lists_delivered, ..Self::default() }
    }

    /// Sets whether [`Self::delivered`] is to be filled.
    pub(crate) fn set_lists_delivered(&mut self, lists_delivered: bool) {
        self.lists_delivered = lists_delivered;
    }

    /// Returns the segments that the last ACK delivered, by its number or by SACK: each segment once, lowest first.
    pub(crate) fn delivered(&self) -> &[DeliveredSegment] {
        &self.delivered
    }

    /// Returns the number of the lowest segment not acknowledged.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.segments.numbers().start
    }

    /// Returns the number to send next; after a timeout it moves back to `una`.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns one past the highest number ever sent.
    #[inline]
    pub(crate) fn snd_max(&self) -> u64 {
        self.segments.numbers().end
    }

    /// Returns how many segments are sent and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.segments.len()
    }

    /// Returns the stream position of the lowest byte not acknowledged.
    pub(crate) fn una_position(&self) -> u64 {
        self.una_position
    }

    /// Returns the stream position of the highest cumulative ACK.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns whether an ACK up to stream position `ack` acknowledges a whole segment.
    #[inline]
    pub(crate) fn is_advanced_by(&self, ack: u64) -> bool {
        self.segments.first().is_some_and(|first| first.end <= ack)
    }

    /// Returns the stream position after the last segment sent.
    pub(crate) fn end_position(&self) -> u64 {
        self.end_position
    }

    /// Returns whether the last segment sent is a FIN.
    pub(crate) fn ends_with_fin(&self) -> bool {
        self.segments.last().is_some_and(|sent| sent.flags.contains(Flags::FIN))
    }

    /// Returns how many SACK blocks were empty or reported data that were never sent.
    pub(crate) fn impossible_blocks(&self) -> u64 {
        self.impossible_blocks
    }

    /// Returns the numbers of the segments that SACK has reported.
    pub(crate) fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    /// Returns start position and record of an outstanding segment.
    #[inline]
    pub(crate) fn segment(&self, number: u64) -> Option<(u64, &Sent)> {
        Some((self.start_of(number), self.segments.get(number)?))
    }

    /// Returns the number of the outstanding segment that contains a stream position.
    pub(crate) fn number_at(&self, position: u64) -> Option<u64> {
        let number = self.segments.partition_point(|sent| sent.end <= position);
        (self.una_position..self.end_position).contains(&position).then_some(number)
    }

    /// Appends a new segment that ends at stream position `end` and is sent at this time.
    #[inline]
    pub(crate) fn push(&mut self, departed: Instant, end: u64, flags: Flags) {
        let first_stamp = clock::timestamp(departed);
        self.segments.push(Sent { end, departed, first_stamp, transmissions: 1, flags });
        self.end_position = end;
    }

    /// Appends a segment that ends at stream position `end` and was sent with the SYN.
    pub(crate) fn push_syn_data(&mut self, end: u64, flags: Flags) {
        // The SYN is the only segment that was acknowledged.
        self.push(self.last_in_order_at, end, flags);
    }

    /// Extends the SYN, which carried data, to stream position `end`.
    pub(crate) fn extend_syn(&mut self, end: u64) {
        // With Fast Open segments may have followed it.
        let is_only_outstanding = self.outstanding() == 1;
        let Some(opening) = self.segments.get_mut(0) else { return };
        opening.end = end;
        if is_only_outstanding {
            self.end_position = end;
        }
    }

    /// Records that `number` is retransmitted now.
    pub(crate) fn on_retransmission(&mut self, now: Instant, number: u64) {
        if let Some(sent) = self.segments.get_mut(number) {
            sent.departed = now;
            sent.transmissions = sent.transmissions.saturating_add(1);
        }
        self.retransmitted_below = self.snd_max();
    }

    /// Returns whether all outstanding segments were sent once, in the order of their numbers.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        // One comparison instead of a search: it misses only segments above a retransmission, until that is acknowledged.
        self.una() >= self.retransmitted_below
    }

    /// Applies an ACK up to stream position `ack` with its SACK blocks. `origin` is the number of position 0.
    ///
    /// `is_pure` if the segment has no payload and does not change the window, so that it may count as a duplicate.
    #[inline]
    pub(crate) fn apply(
        &mut self,
        ack: u64,
        origin: SeqNum,
        blocks: &SackBlocks,
        is_pure: bool,
        now: Instant,
    ) -> Acknowledgement {
        let mut change = Acknowledgement {
            is_duplicate: is_pure && ack == self.una_position && self.outstanding() > 0,
            has_no_blocks: blocks.is_empty(),
            ..Acknowledgement::default()
        };
        self.delivered.clear();
        // Read before the ACK moves these numbers.
        let is_below_abandoned = ack < self.una_position && is_pure && ack == self.acknowledged;
        let before = self.una() + self.sacked.total();
        if ack > self.una_position {
            self.advance(ack, now, &mut change, self.lists_delivered);
        } else if ack > self.acknowledged {
            self.advance_in_abandoned(ack, &mut change);
        }
        if !blocks.is_empty() {
            change.has_new_sack = self.mark_sacked(origin, blocks);
        }
        if is_below_abandoned {
            // The peer waits for abandoned segments, which are no loss. Another hole counts only if something arrived behind it.
            change.is_duplicate = self.sacked.next_hole(self.una()).is_some();
        }
        change.delivered = self.una() + self.sacked.total() - before;
        // The cumulative ACK lists in order; blocks come in the order of their age (RFC 2018 §4).
        if self.lists_delivered && !blocks.is_empty() {
            self.delivered.sort_unstable_by_key(|delivered| delivered.number);
        }
        change
    }

    /// Enters an ACK that [advances](Self::is_advanced_by) and has no SACK blocks, where nothing is `SACKed`.
    ///
    /// Has the effect of [`Self::apply`], but does not list what was [delivered](Self::delivered): all below [`Self::una`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "`Acknowledgement` is large to copy")]
    pub(crate) fn apply_advance(&mut self, ack: u64, now: Instant) -> Acknowledgement {
        let mut change = Acknowledgement { has_no_blocks: true, ..Acknowledgement::default() };
        self.delivered.clear();
        self.advance(ack, now, &mut change, false);
        change.delivered = change.advanced;
        change
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "`Acknowledgement` is large to copy")]
    fn advance(&mut self, ack: u64, now: Instant, change: &mut Acknowledgement, lists_delivered: bool) {
        change.oldest_stamp = self.oldest_stamp();
        let before = self.una();
        let (mut was_retransmitted, mut departed) = (false, self.last_in_order_at);
        let mut sacked = self.sacked.ascending();
        self.segments.take_up_to(ack, |number, sent| {
            was_retransmitted |= sent.transmissions > 1;
            departed = sent.departed;
            if lists_delivered && !sacked.contains(number) {
                self.delivered.push(sent.delivered(number));
            }
        });
        self.last_in_order_at = departed;
        let una = self.una();
        self.una_position = ack;
        self.end_position = self.end_position.max(ack);
        change.advanced = una - before;
        change.bytes = ack - self.acknowledged;
        self.acknowledged = ack;
        // After a timeout `nxt` may lie below data that the peer already had.
        self.nxt = self.nxt.max(una);
        // Karn's algorithm: an ACK of retransmitted segments is ambiguous.
        change.rtt = (change.advanced > 0 && !was_retransmitted).then(|| now - departed);
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
    }

    /// Returns the timestamp clock when the oldest segment that is not acknowledged was first sent.
    #[inline]
    pub(crate) fn oldest_stamp(&self) -> u32 {
        match self.segments.first() {
            Some(sent) if self.acknowledged == self.una_position => sent.first_stamp,
            _ => self.abandoned_stamp,
        }
    }

    /// Enters an ACK that covers only abandoned segments.
    #[cold]
    fn advance_in_abandoned(&mut self, ack: u64, change: &mut Acknowledgement) {
        // It counts as progress: else the timer would back off for ever while the peer skips.
        change.oldest_stamp = self.abandoned_stamp;
        change.bytes = ack - self.acknowledged;
        self.acknowledged = ack;
        change.advanced = 1;
        change.is_of_abandoned = true;
    }

    fn mark_sacked(&mut self, origin: SeqNum, blocks: &SackBlocks) -> bool {
        let before = self.sacked.total();
        let known = core::mem::replace(&mut self.last_blocks, *blocks);
        let known = known.as_slice();
        for (place, block) in blocks.as_slice().iter().enumerate() {
            // Most blocks are repeated at the same index, and the first one has mostly grown.
            let same = known.get(place).filter(|same| same.left == block.left);
            let is_known = same.is_some_and(|same| same.right == block.right) || known.contains(block);
            if !is_known && !self.enter(origin, *block, same) {
                self.forget_impossible(*block);
            }
        }
        self.sacked.total() != before
    }

    /// Counts an impossible block, and removes it from the blocks that need not be entered again.
    #[cold]
    fn forget_impossible(&mut self, block: SackBlock) {
        // It may become possible when more was sent, and is counted each time until then.
        self.impossible_blocks += 1;
        let entered = core::mem::take(&mut self.last_blocks);
        entered.as_slice().iter().filter(|other| **other != block).for_each(|other| self.last_blocks.push(*other));
    }

    /// Enters a block, which may have grown from the one at the same index of the last ACK; returns whether it is possible.
    fn enter(&mut self, origin: SeqNum, block: SackBlock, grown: Option<&SackBlock>) -> bool {
        let left = block.left.unwrap_near(origin, self.una_position);
        let right = block.right.unwrap_near(origin, self.una_position);
        let (Some(left), Some(right)) = (left, right) else { return false };
        let is_possible = left < right && right <= self.end_position;
        // A block at or below the cumulative ACK is a DSACK, or old.
        if is_possible && left > self.acknowledged {
            let from = grown.and_then(|grown| grown.right.unwrap_near(origin, self.una_position));
            self.mark(self.first_beyond(from, right), left, right);
        }
        is_possible
    }

    /// Returns the first segment that a block reports beyond one that ended at `known` and was entered.
    fn first_beyond(&self, known: Option<u64>, right: u64) -> Option<u64> {
        let known = known.filter(|known| *known < right)?;
        // Data mostly arrive in order, so the highest range grows: no search is needed.
        let above = self.sacked.end();
        let is_highest = above > self.una() && self.start_of(above) == known;
        if is_highest { Some(above) } else { self.boundary(known, self.una()) }
    }

    /// Returns the part of the stream that arrived twice, if the first block is a DSACK (RFC 2883 §4).
    #[inline]
    pub(crate) fn duplicate(&self, origin: SeqNum, blocks: &SackBlocks) -> Option<Span> {
        let mut spans = blocks.as_slice().iter().filter_map(|block| {
            let start = block.left.unwrap_near(origin, self.una_position)?;
            let end = block.right.unwrap_near(origin, self.una_position)?;
            (start < end).then_some(Span { start, end })
        });
        let first = spans.next()?;
        // Below the cumulative ACK, or inside the second block.
        let is_inside = |outer: Span| outer.start <= first.start && first.end <= outer.end;
        (first.end <= self.acknowledged || spans.next().is_some_and(is_inside)).then_some(first)
    }

    /// Marks the whole segments between two stream positions; from number `first` on if all before it are marked.
    fn mark(&mut self, first: Option<u64>, left: u64, right: u64) {
        let left = left.max(self.una_position);
        let first = first.or_else(|| self.boundary(left, self.una()));
        // `+ 1`: the peer cannot have the first missing segment, which it would acknowledge.
        let first = first.unwrap_or_else(|| self.segments.partition_point(|sent| sent.end < left) + 1);
        let last = self.boundary(right, first);
        let last = last.unwrap_or_else(|| self.segments.partition_point(|sent| sent.end <= right));
        if first < last {
            let range = first..last;
            self.note_reordering(&range);
            if self.lists_delivered {
                self.list_delivered(range.clone());
            }
            self.sacked.insert(range);
        }
    }

    /// Measures the reordering that newly `SACKed` segments show.
    fn note_reordering(&mut self, range: &Range<u64>) {
        let lowest = self.sacked.next_hole(range.start).filter(|number| *number < range.end);
        // Of a retransmitted segment the second copy may have arrived, which shows no reordering.
        let overtaken = lowest.filter(|number| self.segment(*number).is_some_and(|(_, sent)| sent.transmissions == 1));
        if let Some(number) = overtaken {
            self.reordering = self.reordering.max(self.sacked.end() - number);
        }
    }

    /// Returns the degree of reordering, in segments; at least the duplicate threshold.
    pub(crate) fn reordering(&self) -> u64 {
        self.reordering.max(DEFAULT_REORDERING)
    }

    /// Returns the number of segments that were sent more than once and not reported by SACK.
    pub(crate) fn retransmitted(&self) -> u64 {
        let is_retransmission = |number: &u64| self.segments.get(*number).is_some_and(|sent| sent.transmissions > 1);
        self.segments.numbers().filter(is_retransmission).filter(|number| !self.sacked.contains(*number)).count() as u64
    }

    /// Adds the segments that SACK had not reported before to the list of delivered ones.
    fn list_delivered(&mut self, range: Range<u64>) {
        let mut from = range.start;
        while from < range.end {
            let known = self.sacked.first_within(&(from..range.end)).unwrap_or(range.end..range.end);
            for number in from..known.start {
                if let Some(sent) = self.segments.get(number) {
                    self.delivered.push(sent.delivered(number));
                }
            }
            from = known.end;
        }
    }

    /// Returns the number of the segment that starts at `position`, if all from number `from` up to there have one size.
    fn boundary(&self, position: u64, from: u64) -> Option<u64> {
        let sent = self.segments.get(from);
        if sent.is_some_and(|sent| sent.end == position) {
            return Some(from + 1);
        }
        let start = self.start_of(from);
        // They mostly have: a division and a comparison replace a binary search.
        let size = sent.map_or(1, |sent| sent.end - start).max(1);
        let guess = from + (position - start.min(position)) / size;
        (guess <= self.snd_max() && self.start_of(guess) == position).then_some(guess)
    }

    #[inline]
    fn start_of(&self, number: u64) -> u64 {
        number.checked_sub(1).and_then(|before| self.segments.get(before)).map_or(self.una_position, |sent| sent.end)
    }

    /// Returns the lowest hole from number `from` on, if something above it was `SACKed`.
    #[inline]
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        if self.sacked.is_empty() { None } else { self.sacked.next_hole(from.max(self.una())) }
    }

    /// Drops all SACK information: after a timeout the peer may have reneged (RFC 2018 §8).
    pub(crate) fn forget_sacked(&mut self) {
        self.sacked.clear();
        self.last_blocks = SackBlocks::default();
    }

    /// Returns the number of the lowest segment that starts at a stream position or behind it.
    pub(crate) fn number_from(&self, position: u64) -> u64 {
        let number = self.segments.partition_point(|sent| sent.end <= position);
        number + u64::from(self.start_of(number) < position)
    }

    /// Removes from the list of delivered segments those that the cumulative ACK covers: some of them were skipped.
    pub(crate) fn forget_delivered(&mut self) {
        self.delivered.retain(|delivered| delivered.number >= self.segments.numbers().start);
    }

    /// Removes the first `count` segments, which were abandoned and are not acknowledged.
    pub(crate) fn remove_front(&mut self, count: u64) {
        self.abandoned_stamp = self.oldest_stamp();
        let una = self.una() + count;
        self.una_position = self.start_of(una);
        self.segments.remove_below(una);
        self.nxt = self.nxt.max(una);
        self.sacked.remove_below(una);
    }

    /// Moves `nxt` past a segment that was sent, or passed over.
    #[inline]
    pub(crate) fn advance_nxt(&mut self, number: u64) {
        self.nxt = self.nxt.max(number + 1);
    }

    /// Moves `nxt` back to `una`, to send everything again.
    pub(crate) fn rewind_nxt(&mut self) {
        self.nxt = self.una();
    }

    /// Moves `nxt` to `snd_max`, to send new data next.
    pub(crate) fn skip_to_new(&mut self) {
        self.nxt = self.snd_max();
    }

    /// Returns the age of the packets around the first hole.
    pub(crate) fn age(&self, now: Instant) -> Age {
        let missing = self.segments.first().map_or(now, |sent| sent.departed);
        Age { missing: now - missing, last_in_order: now - self.last_in_order_at }
    }
}
