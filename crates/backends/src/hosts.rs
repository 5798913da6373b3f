//! The interface to the endpoints of a run in real time.

use earlybird_sim::{FlowEnd, FlowGauges, FlowId};
use earlybird_tcp::TraceEvent;
use earlybird_traffic::{ConnectionId, Part};
use earlybird_units::{Duration, Instant};
use std::io;

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The opener has room to write.
    Writable(ConnectionId),
    /// The listener has new data.
    Readable(ConnectionId),
}

/// A decision of a sender: time, connection, event.
pub type Decision = (Instant, ConnectionId, TraceEvent);

/// Endpoints that carry streams between the two namespaces of a network, without ever waiting but in [`Self::wait`]. Payload is zeros: only
/// how much there is counts.
pub trait Hosts: Send {
    /// Opens the next connection of a flow.
    ///
    /// # Errors
    ///
    /// If the system gives none. Later errors of a connection end it: it takes and brings nothing more.
    fn open(&mut self, now: Instant, flow: FlowId) -> io::Result<ConnectionId>;

    /// Writes bytes at the opener. Returns how many it had room for.
    fn write(&mut self, connection: ConnectionId, bytes: u64) -> u64;

    /// Returns whether all data of the opener is acknowledged.
    fn is_drained(&self, connection: ConnectionId) -> bool;

    /// Closes the opener's direction.
    fn close(&mut self, connection: ConnectionId);

    /// Returns how many bytes the listener has received in order, read or not.
    fn received(&self, connection: ConnectionId) -> u64;

    /// Reads at most `max` bytes at the listener. Returns the number of bytes read.
    fn read(&mut self, connection: ConnectionId, max: u64) -> u64;

    /// Writes a part of a unit as one frame at the opener. Returns whether it was accepted. Hosts
    /// without frames need none of the calls for frames.
    fn write_frame(&mut self, _: ConnectionId, _part: Part, _bytes: u64) -> bool {
        false
    }

    /// Reads the next frame at the listener. Returns its part. With `may_wait`, the reader waits, and the transport may
    /// skip what is missing.
    fn read_frame(&mut self, _: ConnectionId, _may_wait: bool) -> Option<Part> {
        None
    }

    /// Returns the part that would be read next with `may_wait`.
    fn peek_frame(&self, _: ConnectionId) -> Option<Part> {
        None
    }

    /// Sends a small message from the listener back to the opener, who reads and forgets it.
    fn reply(&mut self, connection: ConnectionId, bytes: u64);

    /// Returns the current gauges of the opener.
    fn gauges(&self, connection: ConnectionId) -> FlowGauges;

    /// Returns the counters of the connection.
    fn end(&self, now: Instant, connection: ConnectionId) -> FlowEnd;

    /// Returns the senders' decisions since the last call, if these hosts report them.
    fn decisions(&mut self) -> Vec<Decision> {
        Vec::new()
    }

    /// Returns how many packets were lost between hosts and links: the links had not the time to take them, or the hosts no room.
    ///
    /// # Errors
    ///
    /// If the system call fails.
    fn undelivered(&self) -> io::Result<u64>;

    /// Waits for events, at most for `span`, and appends them to `ready`.
    ///
    /// # Errors
    ///
    /// If the system call fails.
    fn wait(&mut self, span: Duration, ready: &mut Vec<Readiness>) -> io::Result<()>;
}
