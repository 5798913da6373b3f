//! The hosts of a run, whoever carries their bytes.

use earlybird_experiment::{FlowEnd, FlowGauges};
use earlybird_sim::FlowId;
use earlybird_traffic::ConnectionId;
use earlybird_units::{Duration, Instant};
use std::io;

/// What a connection is ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Its opener takes bytes again.
    Writable(ConnectionId),
    /// Its listener has more than before.
    Readable(ConnectionId),
}

/// Endpoints that carry streams between the two sides of a network, without ever waiting but in [`Self::wait`]. Payload is zeros: only
/// how much there is counts.
pub trait Hosts: Send {
    /// Opens the next connection of a flow.
    ///
    /// # Errors
    ///
    /// If the system gives none. Later errors of a connection end it: it takes and brings nothing more.
    fn open(&mut self, now: Instant, flow: FlowId) -> io::Result<ConnectionId>;

    /// Takes bytes at the opener; gives how many it had room for.
    fn write(&mut self, connection: ConnectionId, bytes: u64) -> u64;

    /// Gives how many bytes the opener took that are not acknowledged.
    fn unacknowledged(&self, connection: ConnectionId) -> u64;

    /// Says that the opener writes nothing more.
    fn close(&mut self, connection: ConnectionId);

    /// Gives how many bytes have come to the listener in order, read or not.
    fn received(&self, connection: ConnectionId) -> u64;

    /// Reads at the listener; gives how many bytes, `most` at most.
    fn read(&mut self, connection: ConnectionId, most: u64) -> u64;

    /// Sends a small message from the listener back to the opener, who reads and forgets it.
    fn answer(&mut self, connection: ConnectionId, bytes: u64);

    /// Gives what can be read of the opener now.
    fn gauges(&self, connection: ConnectionId) -> FlowGauges;

    /// Gives what the connection has counted.
    fn end(&self, now: Instant, connection: ConnectionId) -> FlowEnd;

    /// Waits for so long, or until something can be done, and adds what.
    ///
    /// # Errors
    ///
    /// If the system cannot wait.
    fn wait(&mut self, span: Duration, ready: &mut Vec<Readiness>) -> io::Result<()>;
}
