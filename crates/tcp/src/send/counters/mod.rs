//! The counters of a sender.

pub(crate) mod busy_time;
mod delivery_rate;

pub(crate) use self::busy_time::LimitedBy;

use self::busy_time::{BusyTime, LimitedTimes};
use self::delivery_rate::DeliveryRate;
use crate::scoreboard::{Acknowledgement, Scoreboard, clock};
use crate::trace::Statistics;
use earlybird_units::{Duration, Instant};

/// The counters of a sender.
#[derive(Debug, Default)]
pub(crate) struct SenderCounters {
    statistics: Statistics,
    busy_time: BusyTime,
    delivery_rate: DeliveryRate,
    /// Echoed timestamps that were read and are impossible.
    impossible_echoes: u64,
}

/// A retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeoutFacts {
    /// Whether the missing segment had been sent only once.
    pub(crate) without_fast_retransmit: bool,
    /// The time without progress before the timeout.
    pub(crate) frozen_for: Duration,
    /// The length of the expired timer.
    pub(crate) timer: Duration,
}

impl SenderCounters {
    /// Returns the counters of the sender.
    pub(crate) fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the number of echoed timestamps that were impossible.
    pub(crate) fn impossible_echoes(&self) -> u64 {
        self.impossible_echoes
    }

    /// Returns for how long each limit has held the sender back until `now`.
    pub(crate) fn limited_times(&self, now: Instant) -> LimitedTimes {
        self.busy_time.times(now)
    }

    /// Returns the delivery rate of the last round trip in bits per second.
    pub(crate) fn delivery_rate(&self) -> Option<u64> {
        self.delivery_rate.rate()
    }

    /// Counts a segment that is sent.
    #[inline]
    pub(super) fn on_sent(&mut self, is_retransmission: bool) {
        self.statistics.segments_sent += 1;
        self.statistics.retransmissions += u64::from(is_retransmission);
    }

    /// Counts a window probe. A new segment also counts as sent, but neither as a retransmission nor as a timeout.
    pub(super) fn on_window_probe(&mut self, is_new_segment: bool) {
        self.statistics.window_probes += 1;
        self.statistics.segments_sent += u64::from(is_new_segment);
    }

    /// Counts the bytes that an ACK newly acknowledges.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Instant, ack: &Acknowledgement, scoreboard: &Scoreboard) {
        if ack.bytes > 0 {
            self.delivery_rate.on_progress(now, scoreboard.acknowledged(), scoreboard.end_position());
        }
    }

    /// Counts a loss that the `duplicates`-th duplicate revealed; 0 if its age did.
    pub(super) fn on_loss(&mut self, duplicates: u32) {
        match duplicates {
            1 => self.statistics.early_on_first += 1,
            2 => self.statistics.early_on_second += 1,
            _ => self.statistics.fast_retransmits += 1,
        }
    }

    /// Counts a retransmission timeout.
    pub(super) fn on_timeout(&mut self, timeout: &TimeoutFacts) {
        self.statistics.timeouts += 1;
        self.statistics.timeouts_untriggered += u64::from(timeout.without_fast_retransmit);
        self.statistics.frozen += timeout.frozen_for;
        self.statistics.frozen_timers += timeout.timer;
    }

    /// Counts a timeout of the handshake, with no data outstanding.
    pub(super) fn on_handshake_timeout(&mut self) {
        self.statistics.timeouts += 1;
    }

    /// Counts a reduction for a mark.
    pub(super) fn on_mark_response(&mut self) {
        self.statistics.mark_responses += 1;
    }

    /// Counts a reduction that was undone.
    pub(super) fn on_undo(&mut self) {
        self.statistics.reductions_undone += 1;
    }

    /// Returns an echoed timestamp if it is possible, and counts it otherwise.
    #[inline]
    pub(super) fn check_echo(&mut self, now: Instant, echo: Option<u32>, ack: &Acknowledgement) -> Option<u32> {
        let echo = echo?;
        // An echo must be of a time that has come, and not before the oldest newly acknowledged segment was first sent. A peer
        // that echoes nonsense, or zero, would make a round trip of all the time since.
        let oldest = if ack.bytes > 0 { clock::age(now, ack.oldest_stamp) } else { u32::MAX / 2 };
        let is_possible = clock::age(now, echo) <= oldest;
        self.impossible_echoes += u64::from(!is_possible);
        is_possible.then_some(echo)
    }

    /// Counts an impossible echo of the handshake.
    pub(super) fn on_impossible_echo(&mut self) {
        self.impossible_echoes += 1;
    }

    /// Records what limits the sender now.
    #[inline]
    pub(super) fn set_limit(&mut self, now: Instant, limit: LimitedBy) {
        self.busy_time.set(now, limit);
    }

    /// Records that the connection is not open: no time counts.
    #[inline]
    pub(super) fn stop_busy_time(&mut self, now: Instant) {
        self.busy_time.stop(now);
    }
}
