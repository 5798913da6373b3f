//! What can be asked of a connection at any time.

use super::Connection;
use super::state::RfcState;
use crate::policy::control::Gauges;
use crate::send::account::busy_time::LimitedTimes;
use crate::send::loss::timer::TimerValue;
use crate::trace::Statistics;
use earlybird_units::{Duration, Instant, Rate};

impl Connection {
    /// Returns the state's name in RFC 9293.
    pub fn state(&self) -> RfcState {
        self.state.rfc()
    }

    /// Returns whether anything written waits to be sent or acknowledged.
    pub fn has_data(&self) -> bool {
        !self.sender.has_nothing_to_send()
    }

    /// Returns the bytes received in order so far, without those stepped over.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Returns the sender's counters.
    pub fn statistics(&self) -> &Statistics {
        self.sender.account().statistics()
    }

    /// Returns the congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.sender.rate().cwnd()
    }

    /// Returns the slow-start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.sender.rate().control().ssthresh()
    }

    /// Returns the segments sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.sender.buffer().scoreboard().outstanding()
    }

    /// Returns the estimate of the segments in the network; without SACK, those not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.loss().recovery().pipe(&self.sender.buffer().scoreboard())
    }

    /// Returns the segments beyond the first gap that the peer has told it holds, by SACK.
    pub fn sacked(&self) -> u64 {
        self.sender.buffer().scoreboard().sacked().total()
    }

    /// Returns the segments that count as lost and were not sent again since.
    pub fn lost(&self) -> u64 {
        let (scoreboard, mut count) = (&self.sender.buffer().scoreboard(), 0);
        self.sender.loss().recovery().visit_lost(scoreboard, &mut |_| count += 1);
        count
    }

    /// Returns the segments that were sent again and are still not known to have arrived.
    pub fn retransmitted(&self) -> u64 {
        self.sender.buffer().scoreboard().retransmitted()
    }

    /// Returns how far packets were seen to overtake others, in segments: 3 before any did, as Linux counts.
    pub fn reordering(&self) -> u64 {
        self.sender.buffer().scoreboard().reordering()
    }

    /// Returns whether the window is on its way down to what a loss or a mark left of it.
    pub fn is_reducing(&self) -> bool {
        self.sender.rate().is_reducing()
    }

    /// Returns how many bytes of the stream the peer has acknowledged, from the first one on: a driver needs them no more.
    pub fn acknowledged(&self) -> u64 {
        self.sender
            .buffer()
            .scoreboard()
            .acknowledged()
            .min(self.sender.buffer().queue().fin_at().unwrap_or(u64::MAX))
            .saturating_sub(1)
    }

    /// Returns the most payload bytes that a segment carries.
    pub fn effective_mss(&self) -> u64 {
        self.sender.buffer().size().mss()
    }

    /// Returns the number of the highest segment acknowledged in order, the opening one being 0; `None` before that.
    pub fn highest_acknowledged(&self) -> Option<u64> {
        self.sender.buffer().scoreboard().una().checked_sub(1)
    }

    /// Returns the state of the retransmission timer.
    pub fn timer(&self) -> TimerValue {
        self.sender.loss().timer().value()
    }

    /// Returns the shortest round trip that the timer measured; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.sender.loss().timer().min_rtt()
    }

    /// Returns the mean deviation of round trips (RTTVAR of RFC 6298); `None` before the first sample.
    pub fn rttvar(&self) -> Option<Duration> {
        self.sender.loss().timer().rttvar()
    }

    /// Returns the rate at which payload was acknowledged over the last round trip; `None` before that is over.
    pub fn delivery_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_second(self.sender.account().delivery_rate()?)
    }

    /// Returns what held the sender back until `now`, and for how long each.
    pub fn limited_times(&self, now: Instant) -> LimitedTimes {
        self.sender.account().limited_times(now)
    }

    /// Returns the early-retransmission threshold, if that rule is on and has a sample.
    pub fn early_threshold(&self) -> Option<Duration> {
        self.sender.loss().trigger().threshold()
    }

    /// Returns the rate at which payload leaves, if it is paced and the rate is known.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let bits = self.sender.pacing_rate()? * self.sender.buffer().size().mss() as f64 * 8.0;
        Rate::from_bits_per_second(bits as u64)
    }

    /// Returns the congestion control's inner values.
    pub fn gauges(&self) -> Gauges {
        self.sender.rate().control().gauges()
    }

    /// Returns whether a loss is being repaired.
    pub fn is_recovering(&self) -> bool {
        self.sender.loss().recovery().is_recovering()
    }

    /// Returns how many segments the peer's reader stepped over so far, as the peer tells.
    pub fn losses_reported(&self) -> u64 {
        self.sender.partial().snack().skipped()
    }

    /// Returns the frames written, and neither acknowledged nor given up.
    pub fn frames_held(&self) -> u64 {
        self.sender.buffer().frames_held()
    }
}
