//! The state of a proxy, once a second.

use earlybird_tcp::Statistics;
use earlybird_units::{Duration, Instant};

/// The state of a proxy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Time since the start.
    pub at: Instant,
    /// Pairs that are open.
    pub open: usize,
    /// Counters since the start.
    pub counters: Counters,
    /// Counters of the senders to clients since the start.
    pub senders: Statistics,
    /// Median smoothed RTT of the open connections to clients; `None` without samples.
    pub srtt: Option<Duration>,
    /// Whether no more connections are accepted, as the proxy ends.
    pub is_draining: bool,
}

/// Counters of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections of clients that were accepted.
    pub accepted: u64,
    /// Connections that were reset because there were too many.
    pub refused: u64,
    /// Connections that were reset because the server could not be reached.
    pub unreachable: u64,
    /// Connections that either side reset, or that broke.
    pub broken: u64,
    /// Connections that were reset because no byte was moved for too long.
    pub idle: u64,
    /// Bytes from clients that the server's connection accepted.
    pub bytes_in: u64,
    /// Bytes from the server that clients' connections accepted.
    pub bytes_out: u64,
}

/// Returns the median; of an even number the upper of the two in the middle.
pub(crate) fn median(mut values: Vec<Duration>) -> Option<Duration> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_no_connections_is_unknown() {
        assert_eq!(median(Vec::new()), None);
        let ms = Duration::from_millis;
        assert_eq!(median(vec![ms(9), ms(1), ms(5)]), Some(ms(5)));
    }
}
