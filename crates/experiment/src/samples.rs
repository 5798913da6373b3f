//! What endpoints of any kind tell of themselves.

use earlybird_tcp::{Connection, LimitedTimes, RealTimeStatistics, Statistics};
use earlybird_units::{Duration, Instant};

/// What can be read of a sender at a moment; what it does not have or tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowGauges {
    /// Congestion window in segments.
    pub cwnd: Option<f64>,
    /// Slow start's end in segments.
    pub ssthresh: Option<f64>,
    /// Segments in flight.
    pub in_flight: Option<f64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Option<Duration>,
    /// The age from which a duplicate ACK means loss, with early retransmission.
    pub early_threshold: Option<Duration>,
    /// Rate at which segments leave, in bits per second.
    pub pacing: Option<f64>,
    /// What its congestion control tells.
    pub control: earlybird_tcp::Gauges,
}

impl From<&Connection> for FlowGauges {
    fn from(connection: &Connection) -> Self {
        let timer = connection.timer();
        Self {
            cwnd: Some(connection.cwnd()),
            ssthresh: Some(connection.ssthresh()),
            in_flight: Some(connection.outstanding() as f64),
            srtt: timer.smoothed,
            rto: Some(timer.timeout),
            early_threshold: connection.early_threshold(),
            pacing: connection.pacing_rate().map(|rate| rate.bits_per_second() as f64),
            control: connection.gauges(),
        }
    }
}

/// What a flow's connection counted up to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowEnd {
    /// What its sender did.
    pub statistics: Statistics,
    /// For how long what held its sender back.
    pub limited: LimitedTimes,
    /// The shortest round-trip time that was measured.
    pub min_rtt: Option<Duration>,
    /// Reductions of the window before there was a loss.
    pub early_responses: u64,
    /// What the real-time mode counted at the sender and at the receiver.
    pub real_time: [RealTimeStatistics; 2],
    /// Bytes that the receiver has in order.
    pub bytes_delivered: u64,
}

impl FlowEnd {
    /// Counts of a connection of ours up to a time; its listener's end is there if the handshake got so far.
    pub fn of(at: Instant, opener: &Connection, listener: Option<&Connection>) -> Self {
        Self {
            statistics: *opener.statistics(),
            limited: opener.limited_times(at),
            min_rtt: opener.min_rtt(),
            early_responses: opener.gauges().early_responses,
            real_time: [
                opener.real_time_statistics(),
                listener.map(Connection::real_time_statistics).unwrap_or_default(),
            ],
            bytes_delivered: listener.map_or(0, Connection::received),
        }
    }
}
