//! The reordering window of RACK (RFC 8985 §6.2, steps 1, 3 and 4).

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
    /// One past the highest segment delivered (`RACK.fack`).
    fack: u64,
    /// Segments below this one may have arrived without being reported.
    unreported_below: u64,
    /// Whether a segment sent once arrived after one sent later (`RACK.reordering_seen`).
    reordering_seen: bool,
    reo_wnd_mult: u32,
    /// The number of recoveries until `reo_wnd_mult` is reset.
    reo_wnd_persist: u32,
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
            fack: 0,
            unreported_below: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            round_ends: None,
        }
    }

    pub(super) fn smallest_rtt(&self) -> Option<Duration> {
        self.smallest.value()
    }

    pub(super) fn on_delivered(&mut self, now: Instant, delivered: &DeliveredSegment) {
        let was_sent_once = delivered.transmissions == 1;
        // Karn's rule: a retransmitted segment gives no RTT and no proof of reordering.
        if was_sent_once {
            self.smallest.on_rtt(now, now - delivered.departed);
        }
        self.reordering_seen |= was_sent_once && self.is_overtaken(delivered.number);
        self.fack = self.fack.max(delivered.number + 1);
    }

    /// Processes segments from `before` up to `una` that arrived in order, each sent once, the last one after `rtt`.
    pub(super) fn on_progress(&mut self, now: Instant, rtt: Duration, before: u64, una: u64) {
        self.smallest.on_rtt(now, rtt);
        self.reordering_seen |= self.is_overtaken(before);
        self.fack = self.fack.max(una);
    }

    #[inline]
    fn is_overtaken(&self, number: u64) -> bool {
        number + 1 < self.fack && number >= self.unreported_below
    }

    /// Processes an ACK that may lack SACK blocks: later reports of older segments are no sign of reordering.
    #[cold]
    pub(super) fn on_missing_blocks(&mut self) {
        self.unreported_below = self.fack;
    }

    /// Widens the window once per RTT with a DSACK, which reports a spurious retransmission.
    pub(super) fn on_ack(&mut self, has_duplicate: bool, scoreboard: &Scoreboard) {
        self.round_ends = self.round_ends.filter(|end| scoreboard.una() < *end);
        if self.adapts && has_duplicate && self.round_ends.is_none() {
            // RFC 8985 §6.2, step 4: at most one increment per RTT.
            self.round_ends = Some(scoreboard.snd_max());
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = self.persistence;
        }
    }

    /// Processes the end of a recovery.
    pub(super) fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Returns the window. Before reordering was observed it is zero in recovery, and after three `SACKed` segments.
    pub(super) fn length(&self, is_repairing: bool, sacked: u64, smoothed: Option<Duration>) -> Duration {
        let is_unambiguous = is_repairing || sacked >= u64::from(DUP_THRESH) || !self.expects_reordering;
        if !self.reordering_seen && is_unambiguous {
            return Duration::ZERO;
        }
        let smallest = self.smallest.value().unwrap_or_default();
        let window = smallest.mul_f64(self.share * f64::from(self.reo_wnd_mult));
        // RFC 8985 §6.2, step 4: never more than SRTT.
        smoothed.map_or(window, |smoothed| window.min(smoothed))
    }
}

/// The smallest RTT of the present and the previous interval.
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

/// Length of an interval: RFC 8985 §6.2, step 1, uses a windowed minimum; that of Linux is 300 s (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

impl SmallestRtt {
    fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        if now - self.span_started > MIN_RTT_WINDOW {
            // Two intervals approximate a sliding minimum with constant memory.
            *self = Self { span_started: now, present: Duration::MAX, before: self.present };
        }
        self.present = self.present.min(rtt);
    }

    fn value(&self) -> Option<Duration> {
        let smallest = self.present.min(self.before);
        (smallest < Duration::MAX).then_some(smallest)
    }
}
