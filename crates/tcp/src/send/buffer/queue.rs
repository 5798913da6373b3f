//! Written data that are not cut into segments yet.

use super::frames::FrameQueue;
use super::nagle_cork::NagleCork;
use crate::config::Config;
use alloc::boxed::Box;

/// Written data that are not cut into segments yet.
#[derive(Debug)]
pub(crate) struct UnsentQueue {
    /// Bytes that were never sent.
    pub(super) unsent: u64,
    /// Whether a FIN waits behind them.
    pub(super) fin_queued: bool,
    /// Stream position of the FIN, once it was cut.
    pub(super) fin_at: Option<u64>,
    /// Present if one write is one segment.
    pub(super) frames: Option<Box<FrameQueue>>,
    /// Present if segments may wait for more data, or end where records do.
    pub(super) nagle_cork: Option<Box<NagleCork>>,
    /// Whether the next new segment probes the window: its length is what the window holds, one byte at least.
    pub(super) probes_window: bool,
}

impl UnsentQueue {
    pub(super) fn new(config: &Config) -> Self {
        let has_nagle = config.segments.nagle && !config.real_time.framing;
        Self {
            unsent: 0,
            fin_queued: false,
            fin_at: None,
            frames: config
                .real_time
                .framing
                .then(|| Box::new(FrameQueue::new(config.real_time.abandoned_stay_in_flight))),
            nagle_cork: has_nagle.then(|| Box::new(NagleCork::new(true))),
            probes_window: false,
        }
    }

    /// Returns the number of bytes that were never sent.
    #[inline]
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Returns the stream position of the FIN, once it was cut.
    pub(crate) fn fin_at(&self) -> Option<u64> {
        self.fin_at
    }

    /// Returns whether a FIN was queued or sent, so that nothing may follow.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin_queued || self.fin_at.is_some()
    }

    /// Returns whether nothing but lengths decides how data are cut: no frames, no records, nothing that holds back.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.frames.is_none() && self.nagle_cork.is_none()
    }
}
