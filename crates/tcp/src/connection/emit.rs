//! From a decision to a segment.

use super::events::Event;
use super::stray_reset::StrayReset;
use super::{Connection, SegmentMeta};
use crate::policy::acking::AckDue;
use crate::scoreboard::clock;
use crate::send::buffer::resegmentation::Piece;
use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags, Options, Segment, SeqNum, Timestamps};

/// What is to be sent before anything else, or in its place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// The opening segment.
    pub(super) opening: bool,
    /// A reset that ends the connection.
    pub(super) reset: bool,
    /// A segment that asks the peer whether it is there.
    pub(super) probe: bool,
    /// The answer to a segment that fits no connection.
    pub(super) rejection: Option<StrayReset>,
}

impl Due {
    pub(super) fn opening() -> Self {
        Self { opening: true, ..Self::default() }
    }

    /// Returns whether there is something that goes before everything else.
    pub(super) fn is_first(&self) -> bool {
        self.reset | self.opening
    }

    /// Returns whether there is something that goes after everything else.
    fn is_last(&self) -> bool {
        self.probe || self.rejection.is_some()
    }
}

// A segment is written where it travels: it is large to copy.
impl Connection {
    /// Emits what goes before everything else.
    #[cold]
    pub(super) fn emit_first(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        if core::mem::take(&mut self.due.reset) {
            return self.emit_bare(now, Flags::RST | Flags::ACK, segment);
        }
        self.due.opening = false;
        self.emit_opening(now, segment)
    }

    /// Emits what goes where there are no data.
    #[inline]
    pub(super) fn emit_beside(&mut self, now: Instant, segment: &mut Segment) -> Option<SegmentMeta> {
        if self.sender.take_emptied() {
            self.events.tell(Event::Drained);
        }
        if self.receiver.due == AckDue::Now {
            Some(self.emit_bare(now, Flags::ACK, segment))
        } else if self.due.is_last() || self.sender.loss().persist().is_empty_due() {
            self.emit_last(now, segment)
        } else {
            None
        }
    }

    /// Emits what goes where there is nothing else.
    #[cold]
    fn emit_last(&mut self, now: Instant, segment: &mut Segment) -> Option<SegmentMeta> {
        let asks = core::mem::take(&mut self.due.probe) | self.sender.take_empty_probe();
        if asks { Some(self.emit_probe(now, segment)) } else { self.emit_rejection(segment) }
    }

    /// Emits a segment that lies below the receiver's window: it must be answered, with what the window is now
    /// (RFC 9293 §3.10.7.4). One that asks whether the peer is there looks the same (§3.8.4: SEG.SEQ = SND.NXT-1).
    #[inline(never)]
    fn emit_probe(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        self.emit(now, Flags::ACK, self.sender.buffer().scoreboard().una_position() - 1, 0, segment);
        SegmentMeta::NOTHING
    }

    fn emit_rejection(&mut self, segment: &mut Segment) -> Option<SegmentMeta> {
        *segment = self.due.rejection?.segment();
        self.due.rejection = None;
        Some(SegmentMeta::NOTHING)
    }

    #[inline(never)]
    pub(super) fn emit_bare(&mut self, now: Instant, flags: Flags, segment: &mut Segment) -> SegmentMeta {
        self.emit(now, flags, self.sender.buffer().scoreboard().end_position(), 0, segment);
        SegmentMeta::NOTHING
    }

    /// Emits the next segment of the stream, as the sender decides; else what may go without.
    #[inline(never)]
    pub(super) fn emit_next(&mut self, now: Instant, segment: &mut Segment) -> Option<SegmentMeta> {
        if let Some(piece) = self.sender.next(now) {
            return Some(self.emit_piece(now, &piece, segment));
        }
        self.sender.note_limit(now, self.wants_room);
        self.emit_beside(now, segment)
    }

    #[inline]
    fn emit_piece(&mut self, now: Instant, piece: &Piece, segment: &mut Segment) -> SegmentMeta {
        let Piece { number, part, flags, is_retransmission } = piece;
        self.emit(now, *flags, part.start, (part.end - part.start) as u16, segment);
        if !is_retransmission {
            self.make_markable(segment, part.end);
        }
        if let Some(limit) = self.config.lifetimes.user_timeout {
            self.lifetime.wakes = self.lifetime.wakes.min(now + limit);
        }
        let frame = self.sender.buffer().frame(*number);
        SegmentMeta {
            number: Some(*number),
            is_retransmission: *is_retransmission,
            frame,
            data: part.start - 1..part.end - 1,
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is on the way of every segment")]
    pub(super) fn emit(&mut self, now: Instant, flags: Flags, position: u64, len: u16, segment: &mut Segment) {
        let owed = self.receiver.due;
        self.receiver.on_sent(now, len > 0);
        let window = self.receiver.tell_window(false);
        self.peer.last_ack_sent = self.receiver.nxt();
        let origin = self.peer.origin;
        *segment = Segment {
            seq: self.local_origin.at(position),
            ack: origin.at(self.receiver.nxt()),
            window,
            len,
            flags: flags | self.echo.flags,
            ecn: Ecn::NotCapable,
            options: Options { timestamps: self.peer.timestamps.then(|| self.timestamps(now)), ..Options::default() },
        };
        if self.receiver.has_more_to_tell() {
            self.tell_more(owed, origin, segment);
        }
    }

    /// Adds what the receiver has to say beyond a number and a window, where there is room for it.
    #[inline(never)]
    fn tell_more(&mut self, owed: AckDue, origin: SeqNum, segment: &mut Segment) {
        if segment.len > 0 && !self.sender.buffer().size().has_room_for_options(segment.len) {
            // It goes alone, right behind.
            self.receiver.due = owed;
            return;
        }
        let options = &mut segment.options;
        if self.peer.skip_notice {
            options.skip_notice = self.receiver.notice(origin);
        }
        if self.peer.sack {
            self.receiver.tell_sack(origin, options.skip_notice.is_some(), &mut options.sack);
        }
    }

    pub(super) fn timestamps(&self, now: Instant) -> Timestamps {
        Timestamps { value: clock::timestamp(now).wrapping_add(self.timestamp_offset), echo: self.peer.timestamp }
    }
}
