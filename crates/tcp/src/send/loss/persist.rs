//! The persist timer: probes a closed window until it opens (RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17).
//!
//! It shares the clock of the retransmission timer, because the two never run at once: while it runs, only probes are sent. It
//! reduces no window and counts as no timeout: a receiver may keep its window closed for as long as it likes.

/// Whether and for how long a closed window has been probed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Persist {
    /// The intervals that are over, each twice as long as the previous one; `None` while the window is open.
    intervals: Option<u32>,
    /// Whether a probe is to be sent now.
    is_due: bool,
    /// Whether that is an empty one.
    is_empty_due: bool,
}

impl Persist {
    /// Returns whether the timer runs for a closed window.
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.intervals.is_some()
    }

    /// Returns whether the window was probed for the first time.
    pub(crate) fn is_first(&self) -> bool {
        self.intervals == Some(1)
    }

    /// Returns whether an empty segment that the peer must answer is to be sent.
    #[inline]
    pub(crate) fn is_empty_due(&self) -> bool {
        self.is_empty_due
    }

    /// Returns, once, whether an empty segment that the peer must answer is to be sent.
    pub(super) fn take_empty(&mut self) -> bool {
        core::mem::take(&mut self.is_empty_due)
    }

    /// Returns whether a probe is to be sent now.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Returns the number of intervals that are over.
    pub(super) fn intervals(&self) -> u32 {
        self.intervals.unwrap_or_default()
    }

    pub(super) fn start(&mut self) {
        self.intervals = Some(0);
    }

    /// Records that an interval is over: a probe is due.
    pub(super) fn on_interval(&mut self) {
        self.is_due = true;
        self.intervals = self.intervals.map(|intervals| intervals.saturating_add(1));
    }

    /// Records that the probe is sent now; an empty one is sent by the connection.
    pub(super) fn on_probe(&mut self, is_empty: bool) {
        self.is_due = false;
        self.is_empty_due |= is_empty;
    }
}
