//! The window that the receiver advertises (RFC 9293 §3.8.6).

/// The receiver's window, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    size: u64,
    largest: u64,
    /// Acknowledgement and start of the segment that updated it last (SND.WL2 and SND.WL1 of RFC 9293).
    updated_by: (u64, u64),
}

impl PeerWindow {
    /// Returns the window that is in effect now.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the largest window that was ever advertised (`MAX.SND.WND` of RFC 5961 §5.2).
    #[inline]
    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    /// Returns the window in effect after a segment with this acknowledgement and start that advertises `window`.
    #[inline]
    pub(super) fn select(&mut self, ack: u64, start: u64, window: u64) -> u64 {
        // RFC 9293 §3.10.7.4, fifth: a reordered segment carries an old window. The order of comparison differs from the RFC's
        // (SEQ before ACK): an ACK that advances is new even on a retransmission, whose SEQ is old.
        if (ack, start) < self.updated_by {
            return self.size;
        }
        self.updated_by = (ack, start);
        window
    }

    #[inline]
    pub(super) fn set(&mut self, window: u64) {
        self.size = window;
        self.largest = self.largest.max(window);
    }
}
