//! What a relay counted. Names are those of SRT's statistics (`srt_bstats`) where the meaning is the same.

use crate::sink::Left;
use earlybird_tcp::Connection;
use earlybird_units::{Duration, Instant};

/// A relay's state, once a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Time since the relay began.
    pub at: Instant,
    /// Connections that are ready now.
    pub peers: usize,
    /// Connections that became ready so far, beyond the first.
    pub reconnects: u64,
    /// Why the last attempt to connect failed, if that is known.
    pub refusal: Option<String>,
    /// What was counted since the beginning.
    pub counts: Counts,
    /// What is known of the first connection that is ready.
    pub way: Option<Way>,
    /// Media that wait for their time.
    pub buffer: Duration,
    /// What the destination had not taken at the end.
    pub left: Left,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Units and bytes that the source had, or that came from a relay.
    pub units: u64,
    /// See above.
    pub bytes: u64,
    /// Bytes of units that were handed to the sink, or to the connections with relays, to each of them anew.
    pub bytes_out: u64,
    /// Units that were left out before they were sent: too old, no room for them, or nobody there who wants them.
    pub dropped: u64,
    /// Units that did not come whole in time.
    pub lost: u64,
    /// Units that came whole after their time, and were handed on at once.
    pub late: u64,
    /// Units that the sink did not take.
    pub refused: u64,
    /// Segments sent again.
    pub repeated: u64,
}

/// What is known of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// The smoothed round trip, once one was measured.
    pub rtt: Option<Duration>,
    /// Segments that may be on their way at once.
    pub cwnd: f64,
    /// Segments that are.
    pub in_flight: u64,
}

impl Way {
    pub(crate) fn of(connection: &Connection) -> Self {
        Self { rtt: connection.timer().smoothed, cwnd: connection.cwnd(), in_flight: connection.outstanding() }
    }
}
