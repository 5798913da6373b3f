//! From a decision to a segment.

use super::events::Event;
use super::state::TcpState;
use super::stray_reset::StrayReset;
use super::{Connection, SegmentMeta, Transmit};
use crate::policy::acking::AckDue;
use crate::scoreboard::clock;
use crate::send::buffer::resegmentation::Piece;
use crate::trace::Cx;
use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags, Options, Segment, SeqNum, Timestamps};

/// Pending control segments: some precede data, others follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingControl {
    /// The SYN or SYN-ACK, or the pure ACK that ends a handshake with accurate ECN.
    pub(super) syn: bool,
    /// A reset that ends the connection.
    pub(super) reset: bool,
    /// A keep-alive probe.
    pub(super) probe: bool,
    /// The answer to a segment that belongs to no connection.
    pub(super) stray_reset: Option<StrayReset>,
}

impl PendingControl {
    pub(super) fn syn() -> Self {
        Self { syn: true, ..Self::default() }
    }

    /// Returns whether a control segment is to be sent before data.
    #[inline]
    fn has_control_before_data(&self) -> bool {
        // `|` instead of `||`: one test instead of two, for every packet.
        self.reset | self.syn
    }

    /// Returns whether a control segment is to be sent after data.
    #[inline]
    fn has_control_after_data(&self) -> bool {
        self.probe || self.stray_reset.is_some()
    }
}

// A segment is written into the caller's memory, because it is large to copy.
impl Connection {
    /// Returns the next segment to send, if there is one. To be called until there is none, after every other call.
    #[must_use]
    pub fn poll_transmit(&mut self, cx: &mut Cx<'_>) -> Option<Transmit> {
        let mut segment = Segment::default();
        let SegmentMeta { number, is_retransmission, frame, data } = self.poll_transmit_into(cx, &mut segment)?;
        Some(Transmit { segment, number, is_retransmission, frame, data })
    }

    /// Writes the next segment to send into `segment`, if there is one; else the contents of `segment` have no meaning.
    ///
    /// Like [`Self::poll_transmit`], without the copy.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is called twice for every packet, and its result is large to copy")]
    pub fn poll_transmit_into(&mut self, cx: &mut Cx<'_>, segment: &mut Segment) -> Option<SegmentMeta> {
        if self.pending.has_control_before_data() {
            return Some(self.emit_control_before_data(cx.now, segment));
        }
        if !self.may_send_data() {
            self.sender.stop_busy_time(cx.now);
        } else if self.sender.has_nothing_to_send() {
            self.sender.note_idle(cx.now);
        } else {
            return self.emit_next(cx.now, segment);
        }
        self.emit_without_data(cx.now, segment)
    }

    #[inline]
    fn may_send_data(&self) -> bool {
        matches!(self.state, TcpState::Transfer(_)) || (self.state == TcpState::SynReceived && self.may_send_early())
    }

    /// Writes a segment that is sent before all others.
    #[cold]
    fn emit_control_before_data(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        if core::mem::take(&mut self.pending.reset) {
            return self.emit_bare(now, Flags::RST | Flags::ACK, segment);
        }
        self.pending.syn = false;
        self.emit_syn(now, segment)
    }

    /// Writes a segment without data, if one is due.
    #[inline]
    fn emit_without_data(&mut self, now: Instant, segment: &mut Segment) -> Option<SegmentMeta> {
        if self.sender.take_emptied() {
            self.events.add(Event::Drained);
        }
        if self.receiver.due == AckDue::Now {
            Some(self.emit_bare(now, Flags::ACK, segment))
        } else if self.pending.has_control_after_data() || self.sender.loss().persist().is_empty_due() {
            self.emit_last(now, segment)
        } else {
            None
        }
    }

    /// Writes a segment that is sent after all others.
    #[cold]
    fn emit_last(&mut self, now: Instant, segment: &mut Segment) -> Option<SegmentMeta> {
        // `|`: both probes are the same segment, so one answers for both.
        let probes = core::mem::take(&mut self.pending.probe) | self.sender.take_empty_probe();
        if probes { Some(self.emit_probe(now, segment)) } else { self.emit_stray_reset(segment) }
    }

    /// Writes an empty window probe or a keep-alive probe (RFC 9293 §3.8.4: SEG.SEQ = SND.NXT-1).
    #[inline(never)]
    fn emit_probe(&mut self, now: Instant, segment: &mut Segment) -> SegmentMeta {
        // Below the receiver's window, so that it must be answered (RFC 9293 §3.10.7.4).
        self.emit(now, Flags::ACK, self.sender.buffer().scoreboard().una_position() - 1, 0, segment);
        SegmentMeta::CONTROL
    }

    fn emit_stray_reset(&mut self, segment: &mut Segment) -> Option<SegmentMeta> {
        *segment = self.pending.stray_reset.take()?.segment();
        Some(SegmentMeta::CONTROL)
    }

    /// Writes a segment without data.
    #[inline(never)]
    pub(super) fn emit_bare(&mut self, now: Instant, flags: Flags, segment: &mut Segment) -> SegmentMeta {
        self.emit(now, flags, self.sender.buffer().scoreboard().end_position(), 0, segment);
        SegmentMeta::CONTROL
    }

    /// Writes the next segment of the stream, as the sender decides, or one without data.
    #[inline(never)]
    fn emit_next(&mut self, now: Instant, segment: &mut Segment) -> Option<SegmentMeta> {
        if let Some(piece) = self.sender.next(now) {
            return Some(self.emit_piece(now, &piece, segment));
        }
        self.sender.note_limit(now, self.awaits_send_space);
        self.emit_without_data(now, segment)
    }

    #[inline]
    fn emit_piece(&mut self, now: Instant, piece: &Piece, segment: &mut Segment) -> SegmentMeta {
        let Piece { number, part, flags, is_retransmission } = piece;
        self.emit(now, *flags, part.start, (part.end - part.start) as u16, segment);
        if !is_retransmission {
            self.make_markable(segment, part.end);
        }
        // The timeout of data that were written while nothing was outstanding starts now.
        if let Some(limit) = self.config.lifetimes.user_timeout {
            self.lifetime.deadline = self.lifetime.deadline.min(now + limit);
        }
        let frame = self.sender.buffer().frame(*number);
        SegmentMeta {
            number: Some(*number),
            is_retransmission: *is_retransmission,
            frame,
            data: part.start - 1..part.end - 1,
        }
    }

    /// Writes a segment with `len` bytes at a stream position, and everything that the receiving half has to report.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every segment is written here")]
    fn emit(&mut self, now: Instant, flags: Flags, position: u64, len: u16, segment: &mut Segment) {
        let ack_due_before = self.receiver.due;
        self.receiver.on_sent(now, len > 0);
        let window = self.receiver.advertise_window(false);
        self.peer.last_ack_sent = self.receiver.nxt();
        let origin = self.peer.origin;
        *segment = Segment {
            seq: self.local_origin.at(position),
            ack: origin.at(self.receiver.nxt()),
            window,
            len,
            flags: flags | self.ecn.flags(),
            ecn: Ecn::NotCapable,
            options: Options { timestamps: self.peer.timestamps.then(|| self.timestamps(now)), ..Options::default() },
        };
        if self.receiver.has_ack_options() {
            self.emit_reports(ack_due_before, origin, segment);
        }
    }

    /// Adds SACK and SNACK options, if there is room for them.
    #[inline(never)]
    fn emit_reports(&mut self, ack_due_before: AckDue, origin: SeqNum, segment: &mut Segment) {
        if segment.len > 0 && !self.sender.buffer().size().has_room_for_options(segment.len) {
            // The payload fills the packet: the reports follow at once in a segment of their own.
            self.receiver.due = ack_due_before;
            return;
        }
        let options = &mut segment.options;
        if self.peer.skip_notice {
            options.skip_notice = self.receiver.notice(origin);
        }
        if self.peer.sack {
            self.receiver.write_sack(origin, options.skip_notice.is_some(), &mut options.sack);
        }
    }

    /// Returns the timestamps of a segment that is sent now.
    pub(super) fn timestamps(&self, now: Instant) -> Timestamps {
        Timestamps { value: clock::timestamp(now).wrapping_add(self.timestamp_offset), echo: self.peer.timestamp }
    }

    /// Lets queues mark a segment that ends at stream position `end`; the first one after a reduction carries CWR.
    fn make_markable(&mut self, segment: &mut Segment, end: u64) {
        // New data only: no retransmissions, window probes and pure ACKs (RFC 3168 §6.1.4 to §6.1.6).
        let codepoint = self.sender.rate().ecn().codepoint();
        if codepoint == Ecn::NotCapable || segment.len == 0 || self.sender.buffer().is_probe(end) {
            return;
        }
        segment.ecn = codepoint;
        if self.sender.take_cwr() {
            segment.flags |= Flags::CWR;
        }
    }
}
