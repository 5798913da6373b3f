//! What a segment in the transfer state must be to be believed (RFC 9293 §3.10.7.4), and what of it goes where.

use super::events::Event;
use super::{Connection, Taken};
use crate::policy::acking::AckDue;
use crate::send::ack::Heard;
use crate::trace::Cx;
use core::ops::Range;
use earlybird_wire::{Flags, Segment};

impl Connection {
    /// Follows RFC 9293 §3.10.7.4: acceptability, reset, SYN, ACK, payload, FIN.
    pub(super) fn on_transfer_segment(&mut self, cx: &mut Cx<'_>, segment: &Segment) -> Taken {
        let Some(start) = segment.seq.unwrap_near(self.peer.origin, self.receiver.nxt()) else {
            return Taken::default();
        };
        let mut taken = Taken::default();
        let range = start..start + segment.sequence_len();
        let is_in_window = self.receiver.is_acceptable(&range);
        if segment.flags.contains(Flags::RST) {
            self.on_reset(start, is_in_window);
        } else if !is_in_window || self.is_too_old(segment) || segment.flags.contains(Flags::SYN) {
            if !segment.flags.contains(Flags::SYN) {
                self.receiver.note_duplicate(&range);
            }
            self.receiver.due = AckDue::Now;
        } else if segment.flags.contains(Flags::ACK) {
            self.note_timestamp(segment, start);
            self.note_mark(segment);
            if self.on_acknowledgement(cx, segment, start) && !range.is_empty() {
                taken = self.on_payload(cx, range, segment.flags.contains(Flags::FIN));
            }
            self.close_if_finished(cx.now);
        }
        taken
    }

    /// Only a reset at exactly the expected number counts; another one in the window is challenged (RFC 5961 §3.2).
    fn on_reset(&mut self, start: u64, is_in_window: bool) {
        if start == self.receiver.nxt() {
            self.end(Event::Reset);
        } else if is_in_window {
            self.receiver.due = AckDue::Now;
        }
    }

    /// Hands the sender the ACK of a segment that starts at `start`; says whether it is one of something sent.
    fn on_acknowledgement(&mut self, cx: &mut Cx<'_>, segment: &Segment, start: u64) -> bool {
        let Some(heard) = self.heard(segment, start) else {
            self.receiver.due = AckDue::Now;
            return false;
        };
        let was_drained = self.sender.is_drained();
        self.sender.on_acknowledgement(cx, &heard);
        if !was_drained && self.sender.is_drained() {
            self.events.tell(Event::Drained);
        }
        true
    }

    /// Reads a segment as an acknowledgement, if it is one of something sent.
    fn heard<'a>(&mut self, segment: &'a Segment, start: u64) -> Option<Heard<'a>> {
        let ack = segment.ack.unwrap_near(self.local_origin, self.sender.board.una_position())?;
        if ack > self.sender.board.end_position() {
            return None;
        }
        let stamps = segment.options.timestamps.filter(|_| self.peer.timestamps);
        Some(Heard {
            ack,
            start,
            window: u64::from(segment.window) << self.peer.window_shift,
            is_bare: !segment.takes_sequence_space(),
            flags: segment.flags,
            origin: self.local_origin,
            sack: &segment.options.sack,
            has_timestamps: self.peer.timestamps,
            echo: stamps.map(|stamps| stamps.echo.wrapping_sub(self.timestamp_offset)),
            skip: segment.options.skip_notice.and_then(|notice| self.read_notice(notice, ack)),
        })
    }

    fn on_payload(&mut self, cx: &mut Cx<'_>, range: Range<u64>, has_fin: bool) -> Taken {
        let start = range.start;
        let arrival = self.receiver.on_data(cx.now, range, has_fin);
        if arrival.delivered > 0 {
            self.events.tell(Event::Readable);
        }
        let taken = arrival.taken;
        Taken { skip: taken.start.saturating_sub(start) as u16, stream: taken.start.max(1) - 1..taken.end.max(1) - 1 }
    }

    /// PAWS: a timestamp older than the one to echo means an old duplicate (RFC 7323 §5.3).
    pub(super) fn is_too_old(&self, segment: &Segment) -> bool {
        let stamps = segment.options.timestamps.filter(|_| self.peer.timestamps);
        stamps.is_some_and(|stamps| stamps.value.wrapping_sub(self.peer.timestamp).cast_signed() < 0)
    }

    /// Remembers the timestamp to echo (RFC 7323 §4.3).
    pub(super) fn note_timestamp(&mut self, segment: &Segment, start: u64) {
        if let Some(stamps) = segment.options.timestamps
            && start <= self.peer.last_ack_sent
        {
            self.peer.timestamp = stamps.value;
        }
    }
}
