//! Data on the SYN, and data that are sent before the handshake ends (Fast Open, RFC 7413).

use super::{Sender, TimeoutKind};
use crate::trace::Cx;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, SackBlocks, SeqNum};

impl Sender {
    /// Sends the SYN or SYN-ACK, number 0; returns whether it was sent before.
    pub(crate) fn send_syn(&mut self, flags: Flags, now: Instant) -> bool {
        let is_retransmission = self.buffer.scoreboard().snd_max() > 0;
        let scoreboard = self.buffer.scoreboard_mut();
        if is_retransmission {
            scoreboard.on_retransmission(now, 0);
        } else {
            scoreboard.push(now, 1, flags);
        }
        self.on_sent(now, 0, is_retransmission);
        is_retransmission
    }

    /// Sends a SYN-ACK that data may follow at once; returns whether it was sent before.
    pub(crate) fn send_syn_ack_early(&mut self, flags: Flags, now: Instant) -> bool {
        let is_retransmission = self.buffer.scoreboard().snd_max() > 0;
        if is_retransmission {
            self.counters.on_sent(true);
            self.loss.timer_mut().cancel_measurement();
        } else {
            self.send_syn(flags, now);
            // It leaves the scoreboard at once, because it takes no room in the window of the data behind it.
            self.buffer.apply(1, SeqNum(0), &SackBlocks::default(), false, now);
        }
        is_retransmission
    }

    /// Cancels the measurement of the SYN-ACK: it is retransmitted, and its ACK is ambiguous (Karn's algorithm).
    pub(crate) fn on_syn_repeated(&mut self) {
        self.loss.timer_mut().cancel_measurement();
    }

    /// Records that the SYN carried `bytes` of the written data, and the peer took them.
    pub(crate) fn on_syn_data_accepted(&mut self, bytes: u64) {
        self.buffer.on_syn_data_accepted(bytes);
    }

    /// Sends `bytes` that the SYN carried and the peer did not take again, as segments of their own.
    pub(crate) fn resend_syn_data(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.buffer.requeue_syn_data(bytes);
        // At once and without a reduction: nothing was lost (RFC 7413 §4.2.1; Linux, `tcp_rcv_fastopen_synack`).
        self.loss.recovery_mut().retransmit_all(self.buffer.scoreboard());
    }

    /// Opens the window before the handshake ends.
    pub(crate) fn on_opened_early(&mut self, cx: &mut Cx<'_>, peer_window: u64) {
        self.buffer.set_window(peer_window);
        self.rate.open(cx, false);
    }

    /// Acts on the timeout of a SYN-ACK that data have followed.
    pub(crate) fn on_early_timeout(&mut self, cx: &mut Cx<'_>, last_received: Instant) -> TimeoutKind {
        // The data behind the SYN-ACK are marked for retransmission, which begins when the handshake is done.
        if self.buffer.scoreboard().outstanding() > 0 {
            self.on_timeout(cx, last_received);
        } else {
            self.loss.timer_mut().back_off(cx.now);
            self.counters.on_handshake_timeout();
        }
        TimeoutKind::Loss
    }

    /// Returns the round trip of a SYN-ACK that was sent before everything on the scoreboard.
    pub(crate) fn syn_ack_rtt(&self, now: Instant) -> Duration {
        self.buffer.scoreboard().age(now).last_in_order
    }
}
