//! What a control needs to know to model the path: how fast it delivers, and what it loses (draft-ietf-ccwg-bbr).

use earlybird_units::{Duration, Instant};

/// What one ACK that delivered something tells of the path: the draft's rate sample (`RS`) and connection state (`C`).
/// All volumes count segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateSample {
    /// Segments per second delivered between the sending of the newest of them and now; `None` if the interval is too short
    /// to be true.
    pub delivery_rate: Option<f64>,
    /// Segments delivered over that interval.
    pub delivered: u64,
    /// Segments delivered before the newest of them was sent.
    pub prior_delivered: u64,
    /// Segments that this ACK delivered.
    pub newly_acked: u64,
    /// Shortest round trip among those that were sent once.
    pub rtt: Option<Duration>,
    /// Segments found lost since the newest of them was sent.
    pub lost: u64,
    /// Segments in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// The application did not keep the path busy while it was measured.
    pub is_app_limited: bool,
    /// Segments delivered so far (`C.delivered`).
    pub total_delivered: u64,
    /// Segments sent and neither delivered nor lost (`C.inflight`).
    pub in_flight: u64,
    /// The window was full at some time in the last round trip.
    pub is_cwnd_limited: bool,
    /// Number of the lowest segment not acknowledged.
    pub una: u64,
    /// One past the highest segment ever sent.
    pub smax: u64,
}

impl RateSample {
    /// Makes one of an ACK that delivered `newly_acked` segments, with `in_flight` still on their way.
    pub fn new(newly_acked: u64, in_flight: u64) -> Self {
        Self { newly_acked, in_flight, ..Self::default() }
    }
}

/// One segment that was found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostSegment {
    /// Its number.
    pub number: u64,
    /// Segments in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Segments found lost since it was sent, itself included.
    pub lost: u64,
    /// The application did not keep the path busy when it was sent.
    pub is_app_limited: bool,
    /// Segments delivered so far.
    pub total_delivered: u64,
}

impl LostSegment {
    /// Makes segment `number`, lost from `tx_in_flight` segments in flight.
    pub const fn new(number: u64, tx_in_flight: u64) -> Self {
        Self { number, tx_in_flight, lost: 1, is_app_limited: false, total_delivered: 0 }
    }
}

/// A congestion control that models the path from what it delivers and loses.
pub trait PathModel {
    /// Learns the round trip of the handshake, if it could be measured.
    fn on_opened(&mut self, now: Instant, rtt: Option<Duration>);
    /// Prepares for sending with nothing in flight, because the application had nothing to send or because all was lost.
    fn on_restart(&mut self, now: Instant, is_app_limited: bool);
    /// Learns of a lost segment; the ACK that showed it follows.
    fn on_lost(&mut self, now: Instant, lost: &LostSegment);
    /// Learns what an ACK delivered.
    fn on_sample(&mut self, now: Instant, sample: &RateSample);
    /// Returns whether it now keeps the rate down on purpose, so that samples say little about the path.
    fn is_holding_back(&self) -> bool;
}
