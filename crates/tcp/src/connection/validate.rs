//! What a segment in the transfer state must be to be believed (RFC 9293 §3.10.7.4), and what of it goes where.

use super::events::Event;
use super::{AcceptedRange, Connection};
use crate::send::sender::AckInfo;
use crate::trace::Cx;
use core::ops::Range;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, Options, SackBlocks, Segment};

/// How long a timestamp tells what is older: half the cycle of a clock of 1 ms, the fastest there is (RFC 7323 §5.5).
const RECENT_HOLDS: Duration = Duration::from_secs(24 * 24 * 3600);

/// Returns whether there are as many SACK blocks as may fit, so that more may have been left out: three beside timestamps (RFC 2018
/// §3), which is what most hosts tell without them too, and two less beside a skip notice.
fn is_full_of_blocks(options: &Options) -> bool {
    let room = match (options.skip_notice, options.timestamps) {
        (None, _) => 3,
        (Some(_), None) => 2,
        (Some(_), Some(_)) => 1,
    };
    options.sack.as_slice().len() >= room
}

impl Connection {
    /// Takes a segment in the transfer state.
    #[inline]
    pub(super) fn on_transfer_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let expected = if self.is_usual(cx.now, segment) { self.take_expected(cx, segment) } else { None };
        expected.unwrap_or_else(|| self.examine(cx, segment))
    }

    /// Follows RFC 9293 §3.10.7.4: acceptability, reset, SYN, ACK, payload, FIN.
    #[inline(never)]
    fn examine(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> AcceptedRange {
        let mut taken = AcceptedRange::default();
        let Some(range) = self.admitted(cx.now, segment) else { return taken };
        let Some(heard) = self.heard(segment, range.start) else {
            self.challenge(cx.now);
            return taken;
        };
        self.lifetime.heard = cx.now;
        self.note_timestamp(cx.now, segment, range.start);
        self.note_mark(segment);
        let was_drained = self.sender.is_drained();
        self.sender.on_acknowledgement(cx, &heard);
        self.tell_if_drained(was_drained);
        let has_fin = segment.flags.contains(Flags::FIN);
        if self.nobody_reads(&range, has_fin) {
            self.reset_peer(segment);
        } else if !range.is_empty() {
            self.tell_circumstances(cx.now, segment);
            taken = self.on_payload(cx, range, has_fin);
        }
        self.close_if_finished(cx.now);
        taken
    }

    /// Returns whether a segment looks as nearly all do: numbers and a window, the timestamps that were agreed, blocks of SACK
    /// perhaps, and nothing else.
    #[inline]
    fn is_usual(&self, now: Instant, segment: &Segment) -> bool {
        let is_plain = segment.flags.difference(Flags::PSH) == Flags::ACK && segment.options.skip_notice.is_none();
        let is_stamped = segment.options.timestamps.is_some() == self.peer.timestamps;
        is_plain && is_stamped && !self.is_too_old(now, segment) && self.state.is_open()
    }

    /// Takes a usual segment that is one of those that are expected, for which most of what follows has one outcome (header
    /// prediction, Jacobson, "4BSD TCP header prediction", CCR 20(2), 1990). Gives nothing if it has to be looked at closely.
    #[inline]
    fn take_expected(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> Option<AcceptedRange> {
        let nxt = self.receiver.nxt();
        let is_next = segment.seq == self.peer.origin.at(nxt);
        if segment.len == 0 {
            return if is_next { self.take_acknowledgement(cx, segment, nxt) } else { None };
        }
        let is_repetition = segment.ack == self.local_origin.at(self.sender.buffer().scoreboard().una_position());
        if !is_repetition || !segment.options.sack.is_empty() {
            return None;
        }
        if is_next && self.receiver.has_simple_place(u64::from(segment.len)) {
            self.take_next(cx.now, segment, nxt)
        } else {
            self.take_payload(cx, segment)
        }
    }

    /// Takes the next payload in order, with an acknowledgement that tells nothing: most of what comes to a side that only
    /// receives.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all payload comes by")]
    fn take_next(&mut self, now: Instant, segment: &Segment, start: u64) -> Option<AcceptedRange> {
        if !self.hears_nothing(now, segment, start) {
            return None;
        }
        let len = u64::from(segment.len);
        self.receiver.take_next(now, len);
        self.events.tell(Event::Readable);
        Some(AcceptedRange { skip: 0, stream: start - 1..start - 1 + len })
    }

    /// Takes other payload with such an acknowledgement: out of order, and mostly beyond all that came.
    #[inline(never)]
    fn take_payload(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> Option<AcceptedRange> {
        let start = segment.seq.unwrap_near(self.peer.origin, self.receiver.nxt())?;
        let range = start..start + u64::from(segment.len);
        let is_simple = self.receiver.has_simple_place_above(&range);
        if !(is_simple || self.receiver.is_acceptable(&range)) || !self.hears_nothing(cx.now, segment, start) {
            return None;
        }
        if is_simple {
            let taken = AcceptedRange { skip: 0, stream: range.start - 1..range.end - 1 };
            self.receiver.take_above(range);
            return Some(taken);
        }
        let taken = self.on_payload(cx, range, false);
        self.close_if_finished(cx.now);
        Some(taken)
    }

    /// Takes note of a segment with payload that repeats the last acknowledgement, if that tells nothing but the window; says
    /// whether it does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all payload comes by")]
    fn hears_nothing(&mut self, now: Instant, segment: &Segment, start: u64) -> bool {
        let window = u64::from(segment.window) << self.peer.window_shift;
        if !self.sender.on_repetition(now, start, window, self.echoed(segment)) {
            return false;
        }
        self.lifetime.heard = now;
        self.note_timestamp(now, segment, start);
        self.tell_circumstances(now, segment);
        true
    }

    /// Takes an acknowledgement alone, of something that was sent and not before the last one: nearly all that comes to a side
    /// that only sends. It mostly goes forward and has no blocks.
    #[inline(never)]
    fn take_acknowledgement(&mut self, cx: &mut Cx<'_>, segment: &Segment, start: u64) -> Option<AcceptedRange> {
        let una = self.sender.buffer().scoreboard().una_position();
        let ack = segment.ack.unwrap_near(self.local_origin, una)?;
        if ack < una || ack > self.sender.buffer().scoreboard().end_position() {
            return None;
        }
        self.lifetime.heard = cx.now;
        self.note_timestamp(cx.now, segment, start);
        self.note_mark(segment);
        let was_drained = self.sender.is_drained();
        if segment.options.sack.is_empty() && self.sender.expects_progress(ack) {
            self.sender.on_plain_progress(cx, &self.plainly_heard(segment, ack, start));
        } else {
            self.sender.on_acknowledgement(cx, &self.plainly_heard(segment, ack, start));
        }
        self.tell_if_drained(was_drained);
        Some(AcceptedRange::default())
    }

    /// Returns the time that a segment echoes, as this side's clock told it.
    #[inline]
    fn echoed(&self, segment: &Segment) -> Option<u32> {
        let stamps = segment.options.timestamps.filter(|_| self.peer.timestamps);
        stamps.map(|stamps| stamps.echo.wrapping_sub(self.timestamp_offset))
    }

    /// Returns the stream positions of a segment that may be believed, as far as its ACK may be; answers one that may not, or
    /// acts on its reset.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK comes by, and a range is large to hand over")]
    pub(super) fn admitted(&mut self, now: Instant, segment: &Segment) -> Option<Range<u64>> {
        let start = segment.seq.unwrap_near(self.peer.origin, self.receiver.nxt());
        let Some(start) = start else {
            self.guard.drop_counters.out_of_window += 1;
            return None;
        };
        let range = start..start + segment.sequence_len();
        if segment.flags.intersects(Flags::RST | Flags::SYN) {
            self.on_reset_or_opening(now, segment, &range);
            return None;
        }
        let is_in_window = self.receiver.is_acceptable(&range);
        if !is_in_window || self.is_too_old(now, segment) {
            self.guard.drop_counters.out_of_window += u64::from(!is_in_window);
            self.guard.drop_counters.too_old += u64::from(is_in_window);
            self.refuse(now, segment, &range);
            return None;
        }
        self.is_complete(segment).then_some(range)
    }

    /// RFC 5961 §3.2: only a reset at exactly the expected number counts; another one in the window is challenged, and so is
    /// every SYN (§4.2).
    #[cold]
    fn on_reset_or_opening(&mut self, now: Instant, segment: &Segment, range: &Range<u64>) {
        if !segment.flags.contains(Flags::RST) {
            self.guard.drop_counters.openings += 1;
            self.challenge(now);
        } else if range.start == self.receiver.nxt() {
            self.on_reset();
        } else {
            self.guard.drop_counters.resets += 1;
            if self.receiver.is_acceptable(range) {
                self.challenge(now);
            }
        }
    }

    /// Returns whether a segment has what each has: an ACK, and a timestamp if that was agreed (RFC 7323 §3.2: "SHOULD silently
    /// drop the segment").
    #[inline]
    fn is_complete(&mut self, segment: &Segment) -> bool {
        let is_unstamped = self.peer.must_stamp && segment.options.timestamps.is_none();
        let has_ack = segment.flags.contains(Flags::ACK);
        if is_unstamped || !has_ack {
            self.guard.drop_counters.unstamped += u64::from(is_unstamped);
            self.guard.drop_counters.without_ack += u64::from(!has_ack);
        }
        has_ack && !is_unstamped
    }

    /// Tells that nothing of what was written waits for an acknowledgement any more, if that is so only since an ACK.
    #[inline]
    fn tell_if_drained(&mut self, was_drained: bool) {
        if !was_drained && self.sender.is_drained() {
            self.events.tell(Event::Drained);
        }
    }

    /// Reads a segment as an acknowledgement, if it is one of something sent, and not older than anything that can still be on
    /// its way (RFC 5961 §5.2).
    #[inline]
    fn heard<'a>(&mut self, segment: &'a Segment, start: u64) -> Option<AckInfo<'a>> {
        let ack = segment.ack.unwrap_near(self.local_origin, self.sender.buffer().scoreboard().una_position());
        let ack = ack.filter(|ack| {
            ack + self.sender.buffer().peer_window().largest() >= self.sender.buffer().scoreboard().acknowledged()
        });
        let Some(ack) = ack else {
            self.guard.drop_counters.acks_behind += 1;
            return None;
        };
        if ack > self.sender.buffer().scoreboard().end_position() {
            self.guard.drop_counters.acks_ahead += 1;
            return None;
        }
        let skip = segment.options.skip_notice.and_then(|notice| self.read_notice(notice, ack));
        let may_lack_blocks = self.peer.skip_notice && is_full_of_blocks(&segment.options);
        Some(AckInfo { skip, may_lack_blocks, ..self.plainly_heard(segment, ack, start) })
    }

    /// Reads a segment that acknowledges up to stream position `ack` and starts at `start`, but for its skip notice.
    #[inline]
    fn plainly_heard<'a>(&self, segment: &'a Segment, ack: u64, start: u64) -> AckInfo<'a> {
        AckInfo {
            ack,
            start,
            window: u64::from(segment.window) << self.peer.window_shift,
            is_pure: !segment.takes_sequence_space(),
            flags: segment.flags,
            origin: self.local_origin,
            sack: if self.peer.sack { &segment.options.sack } else { &SackBlocks::NONE },
            echo: self.echoed(segment),
            skip: None,
            may_lack_blocks: false,
        }
    }

    /// Returns whether a segment brings new data to a connection that was left to itself.
    #[inline]
    fn nobody_reads(&self, range: &Range<u64>, has_fin: bool) -> bool {
        self.lifetime.is_orphan && range.end - u64::from(has_fin) > self.receiver.nxt()
    }

    #[inline]
    pub(super) fn on_payload(&mut self, cx: &mut Cx<'_>, range: Range<u64>, has_fin: bool) -> AcceptedRange {
        let start = range.start;
        let arrival = self.receiver.on_data(cx.now, range, has_fin);
        if arrival.delivered > 0 {
            self.events.tell(Event::Readable);
        }
        let taken = arrival.taken;
        AcceptedRange {
            skip: taken.start.saturating_sub(start) as u16,
            stream: taken.start.max(1) - 1..taken.end.max(1) - 1,
        }
    }

    /// PAWS: a timestamp older than the one to echo means an old duplicate (RFC 7323 §5.3), unless that one is so old itself
    /// that the clock may have gone round (§5.5).
    #[inline]
    fn is_too_old(&self, now: Instant, segment: &Segment) -> bool {
        let stamps = segment.options.timestamps.filter(|_| self.peer.timestamps);
        stamps.is_some_and(|stamps| stamps.value.wrapping_sub(self.peer.timestamp).cast_signed() < 0)
            && now - self.peer.timestamp_at < RECENT_HOLDS
    }

    /// Remembers the timestamp to echo (RFC 7323 §4.3), of a segment that is acceptable in everything else: one that is not
    /// could end the connection by letting all that follow look old.
    #[inline]
    fn note_timestamp(&mut self, now: Instant, segment: &Segment, start: u64) {
        if let Some(stamps) = segment.options.timestamps
            && start <= self.peer.last_ack_sent
        {
            self.peer.timestamp = stamps.value;
            self.peer.timestamp_at = now;
        }
    }
}
