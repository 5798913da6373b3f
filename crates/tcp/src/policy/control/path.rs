//! Delivery-rate samples and losses, for controls that model the path (draft-ietf-ccwg-bbr).

use earlybird_units::{Duration, Instant};

/// The rate sample (`RS`) and connection state (`C`) of the draft, for an ACK that delivered segments. All volumes are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateSample {
    /// Segments per second delivered since the transmission of the newest of them; `None` if the interval is too short to be valid.
    pub delivery_rate: Option<f64>,
    /// Segments delivered over that interval.
    pub delivered: u64,
    /// Segments delivered before the newest of them was sent.
    pub prior_delivered: u64,
    /// Segments that this ACK delivered.
    pub newly_acked: u64,
    /// Shortest RTT of those that were sent once.
    pub rtt: Option<Duration>,
    /// Segments lost since the newest of them was sent.
    pub lost: u64,
    /// Segments in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Whether the sample was limited by the application.
    pub is_app_limited: bool,
    /// Segments delivered so far (`C.delivered`).
    pub total_delivered: u64,
    /// Segments sent and neither delivered nor lost (`C.inflight`).
    pub in_flight: u64,
    /// The same before the ACK.
    pub prior_in_flight: u64,
    /// Segments that were lost and are not delivered yet, whether or not they were sent again.
    pub unrepaired: u64,
    /// Time until the pacer sends the next segment.
    pub pacing_delay: Duration,
    /// Whether the ACK may have been delayed: it acknowledges a short segment that nothing else was sent with.
    pub may_be_delayed: bool,
    /// Whether the window was full at some time in the last RTT.
    pub is_cwnd_limited: bool,
    /// Number of the lowest unacknowledged segment.
    pub una: u64,
    /// One past the highest segment ever sent.
    pub snd_max: u64,
}

impl RateSample {
    /// Returns a sample of an ACK that delivered `newly_acked` segments and left `in_flight`.
    pub fn new(newly_acked: u64, in_flight: u64) -> Self {
        Self { newly_acked, in_flight, ..Self::default() }
    }
}

/// A lost segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostSegment {
    /// Its number.
    pub number: u64,
    /// Segments in flight when it was sent, itself included.
    pub tx_in_flight: u64,
    /// Segments lost since it was sent, itself included.
    pub lost: u64,
    /// Whether the application limited the flight when it was sent.
    pub is_app_limited: bool,
    /// Segments delivered so far.
    pub total_delivered: u64,
    /// Segments that are still in flight.
    pub in_flight: u64,
}

impl LostSegment {
    /// Returns the lost segment `number`, with which `tx_in_flight` segments were in flight when it was sent and when it was lost.
    pub const fn new(number: u64, tx_in_flight: u64) -> Self {
        Self {
            number,
            tx_in_flight,
            lost: 1,
            is_app_limited: false,
            total_delivered: 0,
            in_flight: tx_in_flight.saturating_sub(1),
        }
    }
}

/// The times at which the application is found to be the limit, and the start of the interval of a rate sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplingRules {
    /// At writes, ACKs and timers; a segment that is sent with nothing in flight starts an interval
    /// (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
    #[default]
    Draft,
    /// At writes (`tcp_rate_check_app_limited`); a segment that is sent with nothing outstanding starts an interval
    /// (`tcp_rate_skb_sent`, which counts `packets_out`).
    Linux,
}

/// A congestion control that models the path by delivery rates and losses.
pub trait PathModel {
    /// Returns the rules of its rate samples.
    fn sampling_rules(&self) -> SamplingRules {
        SamplingRules::Draft
    }
    /// Processes the RTT of the handshake, if it was measured.
    fn on_opened(&mut self, now: Instant, rtt: Option<Duration>);
    /// Prepares for a transmission with nothing in flight: after an idle application, or after everything was lost.
    fn on_restart(&mut self, now: Instant, is_app_limited: bool);
    /// Processes a lost segment; the sample of the ACK that revealed it follows.
    fn on_lost(&mut self, now: Instant, lost: &LostSegment);
    /// Processes the sample of an ACK.
    fn on_sample(&mut self, now: Instant, sample: &RateSample);
    /// Returns whether it reduces the rate to probe the RTT, so that samples do not represent the path.
    fn is_probing_rtt(&self) -> bool;
}
