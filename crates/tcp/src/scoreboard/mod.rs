//! The scoreboard: every segment between the first unacknowledged one and the last one sent.

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

/// A segment that was sent and is not acknowledged. Its boundaries never change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Stream position after the segment.
    pub(crate) end: u64,
    pub(crate) departed: Instant,
    /// What the timestamp clock told when it was first sent.
    first_told: u32,
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

/// What one ACK changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acknowledgement {
    /// Segments newly acknowledged by the cumulative number.
    pub(crate) advanced: u64,
    /// Bytes newly acknowledged by it, SYN and FIN counting as one each. That is progress even inside a segment.
    pub(crate) bytes: u64,
    /// Exact round-trip time of the newest of them, unless one had been retransmitted (Karn's rule).
    pub(crate) rtt: Option<Duration>,
    /// Repeats the cumulative number and carries nothing else.
    pub(crate) is_duplicate: bool,
    /// It covers nothing but what was given up.
    pub(crate) is_of_given_up: bool,
    /// Segments that the peer newly tells it stepped over.
    pub(crate) skipped: u64,
    /// SACK told something new.
    pub(crate) brings_news: bool,
    /// Segments newly known to have arrived, by the number or by SACK.
    pub(crate) delivered: u64,
    /// There are no SACK blocks.
    pub(crate) is_bare: bool,
    /// There may be more SACK blocks than it had room for.
    pub(crate) may_lack_blocks: bool,
    /// What arrived twice, as DSACK tells (RFC 2883), where that is read.
    pub(crate) duplicate: Option<Span>,
    /// What the timestamp clock told when the oldest of what it newly acknowledges was first sent.
    pub(crate) oldest_told: u32,
    /// The time of sending that the peer echoes, where that is read.
    pub(crate) echo: Option<u32>,
}

impl Acknowledgement {
    /// Returns whether it ends inside the first segment: something arrived, but no segment as a whole.
    pub(crate) fn is_of_part(&self) -> bool {
        self.advanced == 0 && self.bytes > 0
    }
}

/// A part of the stream, by positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Segments by number (0 is the SYN), with their place in the stream and what SACK says of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: Segments,
    nxt: u64,
    una_position: u64,
    end_position: u64,
    /// Stream position of the highest cumulative ACK: below `una_position` only where segments were given up.
    acknowledged: u64,
    /// What the timestamp clock told when the oldest of the segments in between was first sent.
    given_up_told: u32,
    /// Blocks of SACK that cannot be.
    refused_blocks: u64,
    sacked: Ranges,
    /// The blocks that came last and were entered: most come several times.
    entered: SackBlocks,
    /// How far a segment was seen to be overtaken.
    reordering: u64,
    last_in_order_at: Instant,
    lists_delivered: bool,
    delivered: Vec<DeliveredSegment>,
    /// One past the highest segment when one was last sent again.
    repeated_below: u64,
}

/// A segment that the peer has now got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeliveredSegment {
    pub(crate) number: u64,
    /// When it was last sent.
    pub(crate) departed: Instant,
    pub(crate) transmissions: u32,
}

/// Duplicates by which loss is told, before anything is known of the path (RFC 5681 §3.2).
const USUAL_REORDERING: u64 = 3;

impl Scoreboard {
    /// Makes an empty scoreboard; `lists_delivered` says whether [`Self::delivered`] is of use.
    pub(crate) fn new(lists_delivered: bool) -> Self {
        Self { lists_delivered, ..Self::default() }
    }

    /// Changes whether [`Self::delivered`] is of use.
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
    pub(crate) fn smax(&self) -> u64 {
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

    /// Returns how many blocks of SACK told of something never sent, or of nothing.
    pub(crate) fn refused_blocks(&self) -> u64 {
        self.refused_blocks
    }

    pub(crate) fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    /// Returns start position and record of an outstanding segment.
    #[inline]
    pub(crate) fn segment(&self, number: u64) -> Option<(u64, &Sent)> {
        Some((self.start_of(number), self.segments.get(number)?))
    }

    /// Returns the number of the outstanding segment in which a stream position lies.
    pub(crate) fn number_at(&self, position: u64) -> Option<u64> {
        let number = self.segments.partition_point(|sent| sent.end <= position);
        (self.una_position..self.end_position).contains(&position).then_some(number)
    }

    /// Appends a new segment that ends at stream position `end` and leaves at this time.
    #[inline]
    pub(crate) fn push(&mut self, departed: Instant, end: u64, flags: Flags) {
        let first_told = clock::timestamp(departed);
        self.segments.push(Sent { end, departed, first_told, transmissions: 1, flags });
        self.end_position = end;
    }

    /// Appends a segment that ends at stream position `end` and left on the opening one, which was the last to be acknowledged.
    pub(crate) fn push_carried(&mut self, end: u64, flags: Flags) {
        self.push(self.last_in_order_at, end, flags);
    }

    /// The opening segment, which nobody acknowledged yet, ends at stream position `end`: it carried data.
    pub(crate) fn stretch_opening(&mut self, end: u64) {
        let is_alone = self.outstanding() == 1;
        let Some(opening) = self.segments.get_mut(0) else { return };
        opening.end = end;
        if is_alone {
            self.end_position = end;
        }
    }

    /// Takes note that `number` leaves again now.
    pub(crate) fn on_sent_again(&mut self, now: Instant, number: u64) {
        if let Some(sent) = self.segments.get_mut(number) {
            sent.departed = now;
            sent.transmissions = sent.transmissions.saturating_add(1);
        }
        self.repeated_below = self.smax();
    }

    /// Returns whether no segment was sent again since the lowest one not acknowledged was sent: all were sent once, in the order
    /// of their numbers.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.una() >= self.repeated_below
    }

    /// Enters an ACK up to stream position `ack` with its SACK blocks. `origin` is the number of position 0.
    ///
    /// `is_pure`: no payload and no change of the window, so that it may count as a duplicate.
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
            is_bare: blocks.is_empty(),
            ..Acknowledgement::default()
        };
        self.delivered.clear();
        let is_below_given_up = ack < self.una_position && is_pure && ack == self.acknowledged;
        let before = self.una() + self.sacked.total();
        if ack > self.una_position {
            self.advance(ack, now, &mut change, self.lists_delivered);
        } else if ack > self.acknowledged {
            self.advance_in_given_up(ack, &mut change);
        }
        if !blocks.is_empty() {
            change.brings_news |= self.mark_sacked(origin, blocks);
        }
        if is_below_given_up {
            // The hole is what was given up. Another one counts only if something arrived behind it.
            change.is_duplicate = self.sacked.next_hole(self.una()).is_some();
        }
        change.delivered = self.una() + self.sacked.total() - before;
        if self.lists_delivered && !blocks.is_empty() {
            self.delivered.sort_unstable_by_key(|delivered| delivered.number);
        }
        change
    }

    /// Enters an ACK that [advances](Self::is_advanced_by) and tells nothing else, as [`Self::apply`] does, where nothing is
    /// `SACKed`, but does not list what was [delivered](Self::delivered): all below [`Self::una`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what an ACK changes is large to hand over")]
    pub(crate) fn apply_advance(&mut self, ack: u64, now: Instant) -> Acknowledgement {
        let mut change = Acknowledgement { is_bare: true, ..Acknowledgement::default() };
        self.delivered.clear();
        self.advance(ack, now, &mut change, false);
        change.delivered = change.advanced;
        change
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what an ACK changes is large to hand over")]
    fn advance(&mut self, ack: u64, now: Instant, change: &mut Acknowledgement, lists_delivered: bool) {
        change.oldest_told = self.oldest_told();
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
        self.nxt = self.nxt.max(una);
        change.rtt = (change.advanced > 0 && !was_retransmitted).then(|| now - departed);
        if !self.sacked.is_empty() {
            change.brings_news = change.advanced > 0;
            self.sacked.remove_below(una);
        }
    }

    /// Returns what the timestamp clock told when the oldest segment not acknowledged was first sent.
    #[inline]
    pub(crate) fn oldest_told(&self) -> u32 {
        match self.segments.first() {
            Some(sent) if self.acknowledged == self.una_position => sent.first_told,
            _ => self.given_up_told,
        }
    }

    /// Only what was given up is acknowledged: that is progress all the same, or the timer would back off for ever.
    #[cold]
    fn advance_in_given_up(&mut self, ack: u64, change: &mut Acknowledgement) {
        change.oldest_told = self.given_up_told;
        change.bytes = ack - self.acknowledged;
        self.acknowledged = ack;
        change.advanced = 1;
        change.is_of_given_up = true;
    }

    fn mark_sacked(&mut self, origin: SeqNum, blocks: &SackBlocks) -> bool {
        let before = self.sacked.total();
        let known = core::mem::replace(&mut self.entered, *blocks);
        let known = known.as_slice();
        for (place, block) in blocks.as_slice().iter().enumerate() {
            // Most have the same place again, and the first one mostly has grown.
            let same = known.get(place).filter(|same| same.left == block.left);
            let is_known = same.is_some_and(|same| same.right == block.right) || known.contains(block);
            if !is_known && !self.enter(origin, *block, same) {
                self.refuse(*block);
            }
        }
        self.sacked.total() != before
    }

    /// A block cannot be: it is not known the next time either.
    #[cold]
    fn refuse(&mut self, block: SackBlock) {
        self.refused_blocks += 1;
        let entered = core::mem::take(&mut self.entered);
        entered.as_slice().iter().filter(|other| **other != block).for_each(|other| self.entered.push(*other));
    }

    /// Enters a block, which may have `grown` from one that was; says whether it can be.
    fn enter(&mut self, origin: SeqNum, block: SackBlock, grown: Option<&SackBlock>) -> bool {
        let left = block.left.unwrap_near(origin, self.una_position);
        let right = block.right.unwrap_near(origin, self.una_position);
        let (Some(left), Some(right)) = (left, right) else { return false };
        let is_possible = left < right && right <= self.end_position;
        if is_possible && left > self.acknowledged {
            let from = grown.and_then(|grown| grown.right.unwrap_near(origin, self.una_position));
            self.mark(self.grown_from(from, right), left, right);
        }
        is_possible
    }

    /// Returns the number of the first segment that a block tells more of than one that ended at `known` and was entered.
    fn grown_from(&self, known: Option<u64>, right: u64) -> Option<u64> {
        let known = known.filter(|known| *known < right)?;
        // Mostly it is the highest one that grows.
        let above = self.sacked.end();
        let is_highest = above > self.una() && self.start_of(above) == known;
        if is_highest { Some(above) } else { self.boundary(known, self.una()) }
    }

    /// Returns what arrived twice, if the first block tells it: a part of what is acknowledged, or of the second block
    /// (RFC 2883 §4).
    #[inline]
    pub(crate) fn duplicate(&self, origin: SeqNum, blocks: &SackBlocks) -> Option<Span> {
        let mut spans = blocks.as_slice().iter().filter_map(|block| {
            let start = block.left.unwrap_near(origin, self.una_position)?;
            let end = block.right.unwrap_near(origin, self.una_position)?;
            (start < end).then_some(Span { start, end })
        });
        let first = spans.next()?;
        let is_inside = |outer: Span| outer.start <= first.start && first.end <= outer.end;
        (first.end <= self.acknowledged || spans.next().is_some_and(is_inside)).then_some(first)
    }

    /// Marks the whole segments between two stream positions, from number `first` on if all before it are marked. The first
    /// segment is never among them: it would be acknowledged.
    fn mark(&mut self, first: Option<u64>, left: u64, right: u64) {
        let left = left.max(self.una_position);
        let first = first.or_else(|| self.boundary(left, self.una()));
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

    /// A segment that was sent once arrives behind one sent later: it was overtaken.
    fn note_reordering(&mut self, range: &Range<u64>) {
        let lowest = self.sacked.next_hole(range.start).filter(|number| *number < range.end);
        let overtaken = lowest.filter(|number| self.segment(*number).is_some_and(|(_, sent)| sent.transmissions == 1));
        if let Some(number) = overtaken {
            self.reordering = self.reordering.max(self.sacked.end() - number);
        }
    }

    /// Returns how far packets were seen to overtake others, in segments.
    pub(crate) fn reordering(&self) -> u64 {
        self.reordering.max(USUAL_REORDERING)
    }

    /// Returns the segments that were sent more than once and not reported by SACK.
    pub(crate) fn retransmitted(&self) -> u64 {
        let is_retransmission = |number: &u64| self.segments.get(*number).is_some_and(|sent| sent.transmissions > 1);
        self.segments.numbers().filter(is_retransmission).filter(|number| !self.sacked.contains(*number)).count() as u64
    }

    /// Lists what SACK told nothing of before.
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

    /// Returns the number of the segment that starts at `position`, if all from number `from` up to there are of one size: they
    /// mostly are.
    fn boundary(&self, position: u64, from: u64) -> Option<u64> {
        let sent = self.segments.get(from);
        if sent.is_some_and(|sent| sent.end == position) {
            return Some(from + 1);
        }
        let start = self.start_of(from);
        let size = sent.map_or(1, |sent| sent.end - start).max(1);
        let guess = from + (position - start.min(position)) / size;
        (guess <= self.smax() && self.start_of(guess) == position).then_some(guess)
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

    /// Drops all SACK information.
    pub(crate) fn forget_sacked(&mut self) {
        self.sacked.clear();
        self.entered = SackBlocks::default();
    }

    /// Returns the lowest segment that starts at a stream position or behind it.
    pub(crate) fn number_from(&self, position: u64) -> u64 {
        let number = self.segments.partition_point(|sent| sent.end <= position);
        number + u64::from(self.start_of(number) < position)
    }

    /// Forgets what the last ACK delivered by its number: some of it was stepped over.
    pub(crate) fn forget_delivered(&mut self) {
        self.delivered.retain(|delivered| delivered.number >= self.segments.numbers().start);
    }

    /// Takes the first `count` segments off, although nobody acknowledged them.
    pub(crate) fn give_up(&mut self, count: u64) {
        self.given_up_told = self.oldest_told();
        let una = self.una() + count;
        self.una_position = self.start_of(una);
        self.segments.remove_below(una);
        self.nxt = self.nxt.max(una);
        self.sacked.remove_below(una);
    }

    /// Goes past a segment that was sent, or passed over.
    #[inline]
    pub(crate) fn go_past(&mut self, number: u64) {
        self.nxt = self.nxt.max(number + 1);
    }

    /// Moves `nxt` back to `una`, to send everything again.
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una();
    }

    /// Moves `nxt` on, to send new data next.
    pub(crate) fn go_on(&mut self) {
        self.nxt = self.smax();
    }

    /// Returns how old the packets around the first hole are.
    pub(crate) fn age(&self, now: Instant) -> Age {
        let missing = self.segments.first().map_or(now, |sent| sent.departed);
        Age { missing: now - missing, last_in_order: now - self.last_in_order_at }
    }
}
