//! Statistics of a relay. Names are those of SRT (`srt_bstats`) where the meaning is the same.

use crate::sink::Unsent;
use earlybird_tcp::Connection;
use earlybird_units::{Duration, Instant};
use std::net::SocketAddr;

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
    /// Other protocols that arrived at the relay's port, each with the sender of its last message.
    pub foreign: Option<String>,
    /// The last event of the local end, such as a sender that was refused.
    pub notice: Option<String>,
    /// Counters since the start.
    pub counters: Counters,
    /// Statistics of the first connection.
    pub path: Option<PathStats>,
    /// The connections that are ready, oldest first.
    pub connections: Vec<ConnectionStats>,
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
    /// Connections that a listener has refused: another stream or direction, not permitted, or no place.
    pub refused_connections: u64,
    /// Datagrams that were dropped because they were not made with the key, or were changed.
    pub undecrypted: u64,
}

/// One of the connections of a relay.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionStats {
    /// The socket of the other relay, from which it connected.
    pub address: SocketAddr,
    /// The name of the caller, if callers have keys of their own.
    pub caller: Option<String>,
    /// Time since both relays agreed.
    pub age: Duration,
    /// Bytes of units that were sent over it.
    pub bytes_out: u64,
    /// Units that were dropped before they were sent over it, or given up after that.
    pub dropped: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Its path.
    pub path: PathStats,
}

/// Statistics of the path of a connection.
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
