//! Statistics of a relay. Names are those of SRT (`srt_bstats`) where the meaning is the same.

use crate::sink::Unsent;
use earlybird_tcp::Connection;
use earlybird_units::{Duration, Instant};

/// The state of a relay, reported once a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Time since the relay started.
    pub at: Instant,
    /// The number of connected relays.
    pub peers: usize,
    /// The number of connections after the first.
    pub reconnects: u64,
    /// The reason for which the last attempt to connect failed, if known.
    pub refusal: Option<String>,
    /// Counters since the start.
    pub counters: Counters,
    /// Statistics of the first connection.
    pub path: Option<PathStats>,
    /// Media in the playout buffer.
    pub buffer: Duration,
    /// Units that the destination had not accepted at the end.
    pub unsent: Unsent,
}

/// Counters of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of units that the source had, or that were received from a relay.
    pub units: u64,
    /// Bytes of these units.
    pub bytes: u64,
    /// Bytes of units that were passed to the sink, or sent to relays (counted once per relay).
    pub bytes_out: u64,
    /// Units that were dropped: too old to be sent or to be repaired, no room, no relay connected, or the connection failed.
    pub dropped: u64,
    /// Units that were not complete at their deadline.
    pub lost: u64,
    /// Units that were complete only after their deadline, and were delivered at once.
    pub late: u64,
    /// Units that the sink did not accept.
    pub refused: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Datagrams that were dropped because they were not made with the key, or were changed.
    pub undecrypted: u64,
}

/// Statistics of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathStats {
    /// Smoothed RTT; `None` before the first sample.
    pub rtt: Option<Duration>,
    /// Congestion window, in segments.
    pub cwnd: f64,
    /// Segments in flight.
    pub in_flight: u64,
}

impl PathStats {
    pub(crate) fn of(connection: &Connection) -> Self {
        Self { rtt: connection.timer().smoothed, cwnd: connection.cwnd(), in_flight: connection.outstanding() }
    }
}
