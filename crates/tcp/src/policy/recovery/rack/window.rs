//! The reordering window: how much later than its successors a segment may arrive (RFC 8985 §6.2, steps 1, 3 and 4).

use super::RackConfig;
use crate::policy::dupthresh::DUP_THRESH;
use crate::scoreboard::{DeliveredSegment, Scoreboard};
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(super) struct ReorderingWindow {
    share: f64,
    expects_reordering: bool,
    adapts: bool,
    persistence: u32,
    smallest: SmallestRtt,
    /// One past the highest segment that arrived (`RACK.fack`).
    arrived_below: u64,
    /// Segments below this one may have arrived before the highest without having been told.
    untold_below: u64,
    /// A segment sent once arrived after one sent later.
    has_seen_reordering: bool,
    multiplier: u32,
    /// Recoveries left before the multiplier is forgotten.
    persists: u32,
    /// No second DSACK counts before this segment is acknowledged.
    round_ends: Option<u64>,
}

impl ReorderingWindow {
    pub(super) fn new(config: &RackConfig) -> Self {
        Self {
            share: config.reordering_window,
            expects_reordering: config.expects_reordering,
            adapts: config.adapts_window,
            persistence: config.window_persistence,
            smallest: SmallestRtt::default(),
            arrived_below: 0,
            untold_below: 0,
            has_seen_reordering: false,
            multiplier: 1,
            persists: 0,
            round_ends: None,
        }
    }

    pub(super) fn smallest_rtt(&self) -> Option<Duration> {
        self.smallest.value()
    }

    pub(super) fn on_delivered(&mut self, now: Instant, delivered: &DeliveredSegment) {
        let was_sent_once = delivered.transmissions == 1;
        if was_sent_once {
            self.smallest.on_rtt(now, now - delivered.departed);
        }
        self.has_seen_reordering |= was_sent_once && self.is_overtaken(delivered.number);
        self.arrived_below = self.arrived_below.max(delivered.number + 1);
    }

    /// Learns that the segments from `before` up to `una` arrived in order, each sent once, the last one after `rtt`.
    pub(super) fn on_progress(&mut self, now: Instant, rtt: Duration, before: u64, una: u64) {
        self.smallest.on_rtt(now, rtt);
        self.has_seen_reordering |= self.is_overtaken(before);
        self.arrived_below = self.arrived_below.max(una);
    }

    #[inline]
    fn is_overtaken(&self, number: u64) -> bool {
        number + 1 < self.arrived_below && number >= self.untold_below
    }

    /// Learns that not all that arrived by now was told: what is told later shows no reordering.
    #[cold]
    pub(super) fn on_missing_blocks(&mut self) {
        self.untold_below = self.arrived_below;
    }

    /// Widens the window once per round trip that brings a DSACK: something was sent again in vain.
    pub(super) fn on_ack(&mut self, has_duplicate: bool, scoreboard: &Scoreboard) {
        self.round_ends = self.round_ends.filter(|end| scoreboard.una() < *end);
        if self.adapts && has_duplicate && self.round_ends.is_none() {
            self.round_ends = Some(scoreboard.smax());
            self.multiplier += 1;
            self.persists = self.persistence;
        }
    }

    /// Learns that a recovery ended.
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.multiplier = 1;
        }
    }

    /// Returns the window. Before any reordering was seen there is none in recovery, and none after three segments arrived.
    pub(super) fn length(&self, is_repairing: bool, sacked: u64, smoothed: Option<Duration>) -> Duration {
        let is_sure = is_repairing || sacked >= u64::from(DUP_THRESH) || !self.expects_reordering;
        if !self.has_seen_reordering && is_sure {
            return Duration::ZERO;
        }
        let smallest = self.smallest.value().unwrap_or_default();
        let window = smallest.mul_f64(self.share * f64::from(self.multiplier));
        smoothed.map_or(window, |smoothed| window.min(smoothed))
    }
}

/// The smallest round trip of the last few minutes: of the present span and the one before.
#[derive(Clone, Copy, Debug)]
struct SmallestRtt {
    span_started: Instant,
    /// [`Duration::MAX`] without a sample.
    present: Duration,
    before: Duration,
}

impl Default for SmallestRtt {
    fn default() -> Self {
        Self { span_started: Instant::ZERO, present: Duration::MAX, before: Duration::MAX }
    }
}

/// RFC 8985 §6.2, step 1, asks for a windowed minimum; Linux's lasts 300 s (`tcp_min_rtt_wlen`).
const SPAN: Duration = Duration::from_secs(300);

impl SmallestRtt {
    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        if now - self.span_started > SPAN {
            *self = Self { span_started: now, present: Duration::MAX, before: self.present };
        }
        self.present = self.present.min(rtt);
    }

    fn value(&self) -> Option<Duration> {
        let smallest = self.present.min(self.before);
        (smallest < Duration::MAX).then_some(smallest)
    }
}
