//! The receiver's window.

use super::sender::Sender;

/// What the receiver told of its window, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    pub(crate) size: u64,
    pub(crate) largest: u64,
    /// Acknowledgement and start of the segment that told it last (SND.WL2 and SND.WL1 of RFC 9293).
    told_by: (u64, u64),
}

impl Sender {
    /// Returns the receiver's window after a segment with this acknowledgement and start told `window`: a late segment tells
    /// an old one (RFC 9293 §3.10.7.4, fifth; but an ACK that goes forward is new even on a retransmission).
    #[inline]
    pub(crate) fn window_told(&mut self, ack: u64, start: u64, window: u64) -> u64 {
        if (ack, start) < self.peer_window.told_by {
            return self.peer_window.size;
        }
        self.peer_window.told_by = (ack, start);
        window
    }

    /// Learns the receiver's window. A probe beyond the old one was probably not taken: it goes again at once.
    #[inline]
    pub(crate) fn on_window(&mut self, window: u64) {
        let end = self.scoreboard.end_position() - self.scoreboard.acknowledged();
        let was_beyond =
            self.scoreboard.outstanding() == 1 && end > self.peer_window.size && !self.scoreboard.ends_with_fin();
        if was_beyond && end <= window {
            self.scoreboard.go_back();
        }
        self.learn_window(window);
    }

    #[inline]
    pub(crate) fn learn_window(&mut self, window: u64) {
        self.peer_window.size = window;
        self.peer_window.largest = self.peer_window.largest.max(window);
    }
}
