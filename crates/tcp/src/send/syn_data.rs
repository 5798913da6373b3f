//! The opening segment where Fast Open lets data go with it, or right behind it (RFC 7413).

use super::sender::Sender;
use crate::trace::Cx;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, SackBlocks, SeqNum};

impl Sender {
    /// The opening segment carried `bytes` of what was written, and the peer took them.
    pub(crate) fn on_opening_carried(&mut self, bytes: u64) {
        self.queue.unsent -= bytes;
        self.scoreboard.stretch_opening(1 + bytes);
        self.end_records(1 + bytes);
    }

    /// The opening segment carried `bytes` more, and the peer did not take them: they go again at once, by themselves, and no
    /// window falls, for nothing was lost (RFC 7413 §4.2.1; Linux, `tcp_rcv_fastopen_synack`). Segments may have become so short
    /// that the largest window does not hold them all: the others are yet to be sent.
    pub(crate) fn repeat_carried(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let start = self.scoreboard.end_position();
        let end = start + bytes;
        while self.scoreboard.end_position() < end && self.scoreboard.outstanding() < self.largest_window {
            let position = (self.scoreboard.end_position() + self.queue.mss).min(end);
            let pushes = self.queue.is_real && position == end;
            self.scoreboard.push_carried(position, if pushes { Flags::ACK | Flags::PSH } else { Flags::ACK });
        }
        self.queue.unsent -= self.scoreboard.end_position() - start;
        self.end_records(self.scoreboard.end_position());
        self.recovery.repeat_all(&self.scoreboard);
    }

    /// Data may leave before the handshake ends: the window opens.
    pub(crate) fn on_opened_early(&mut self, cx: &mut Cx<'_>, peer_window: u64) {
        self.learn_window(peer_window);
        self.control.on_established(cx, self.initial_window);
    }

    /// Sends the answer to a SYN, for the first time or again, where data leave behind it at once: it is off the scoreboard, for
    /// it takes no room in the window. Says whether it was sent before.
    pub(crate) fn send_answer_early(&mut self, flags: Flags, now: Instant) -> bool {
        let is_retransmission = self.scoreboard.smax() > 0;
        if is_retransmission {
            self.statistics.segments_sent += 1;
            self.statistics.retransmissions += 1;
            self.timer.cancel_measurement();
        } else {
            self.send_opening(flags, now);
            self.scoreboard.apply(1, SeqNum(0), &SackBlocks::default(), false, now);
        }
        is_retransmission
    }

    /// The answer's ACK did not come in time. What was sent behind it is sent again, when it has come.
    pub(crate) fn on_answer_lost(&mut self, cx: &mut Cx<'_>, heard: Instant) {
        if self.scoreboard.outstanding() > 0 {
            self.on_timeout(cx, heard);
        } else {
            self.timer.back_off(cx.now);
            self.statistics.timeouts += 1;
        }
    }

    /// Returns the round trip of an answer that was sent before what is on the scoreboard.
    pub(crate) fn answered_rtt(&self, now: Instant) -> Duration {
        self.scoreboard.age(now).last_in_order
    }
}
