//! Statistics of one flow in a form that all transports and backends share.

use crate::external_stack::ExternalState;
use earlybird_datagram as datagram;
use earlybird_tcp::{Connection, LimitedTimes, RealTimeStatistics, Statistics};
use earlybird_units::{Duration, Instant};

/// Values of a sender at one point in time. A value that the transport does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowGauges {
    /// The rate that TFRC allows, in bits per second (RFC 5348 §4.3).
    pub allowed_rate: Option<f64>,
    /// Loss events per datagram, as the receiver reported them last (RFC 5348 §5).
    pub loss_event_rate: Option<f64>,
    /// Congestion window in segments.
    pub cwnd: Option<f64>,
    /// Slow-start threshold in segments.
    pub ssthresh: Option<f64>,
    /// Segments in flight.
    pub in_flight: Option<f64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Option<Duration>,
    /// The age from which a duplicate ACK means loss, with early retransmission.
    pub early_threshold: Option<Duration>,
    /// Pacing rate in bits per second.
    pub pacing: Option<f64>,
    /// Values of the congestion control.
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
            ..Self::default()
        }
    }
}

impl From<datagram::tfrc::Gauges> for FlowGauges {
    fn from(sender: datagram::tfrc::Gauges) -> Self {
        Self {
            allowed_rate: Some(sender.rate * 8.0),
            loss_event_rate: Some(sender.loss_event_rate),
            srtt: sender.rtt,
            ..Self::default()
        }
    }
}

impl From<&ExternalState> for FlowGauges {
    fn from(sender: &ExternalState) -> Self {
        Self { cwnd: Some(sender.cwnd), srtt: sender.srtt, ..Self::default() }
    }
}

/// Counters of one connection at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowEnd {
    /// Counters of the sender.
    pub statistics: Statistics,
    /// Time for which each cause limited the sender.
    pub limited: LimitedTimes,
    /// The smallest round-trip time that was measured.
    pub min_rtt: Option<Duration>,
    /// Reductions of the window before there was a loss.
    pub early_responses: u64,
    /// Counters of the real-time mode at the sender and at the receiver.
    pub real_time: [RealTimeStatistics; 2],
    /// Bytes that the receiver has in order.
    pub bytes_delivered: u64,
}

impl FlowEnd {
    /// Returns the counters of a TCP connection at a time. There is no listener before the handshake is complete.
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

    /// Returns the counters of a flow of datagrams.
    pub(crate) fn of_datagrams(sender: &datagram::Endpoint, received: u64) -> Self {
        let (segments_sent, retransmissions) = (sender.sent(), sender.repeated());
        let statistics = Statistics { segments_sent, retransmissions, ..Statistics::default() };
        Self { statistics, bytes_delivered: received, ..Self::default() }
    }

    /// Returns the counters of a connection of an external stack.
    pub(crate) fn of_external(sender: &ExternalState, received: u64) -> Self {
        let ExternalState { statistics, min_rtt, .. } = *sender;
        Self { statistics, min_rtt, bytes_delivered: received, ..Self::default() }
    }
}
