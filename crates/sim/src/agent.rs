//! The protocol state machine at one end of a flow.

use crate::udp_agent::UdpAgent;
use earlybird_tcp::{Connection, Cx};
use earlybird_units::Instant;

/// The protocol state machine at one end.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most are connections, which every packet reads")]
pub(crate) enum Agent {
    Tcp(Connection),
    Udp(Box<UdpAgent>),
}

impl Agent {
    /// Reads everything there is, without an event; see [`Connection::drain_readable`].
    #[inline]
    pub(crate) fn drain_readable(&mut self) {
        if let Self::Tcp(connection) = self {
            connection.drain_readable();
        }
    }

    /// Reads all received data; datagrams are read on arrival.
    pub(crate) fn read_all(&mut self) {
        if let Self::Tcp(connection) = self {
            connection.read(u64::MAX);
        }
    }

    /// Returns whether data may follow a segment without: they wait for the one that ends a handshake.
    #[inline]
    pub(crate) fn has_data(&self) -> bool {
        matches!(self, Self::Tcp(connection) if connection.has_data())
    }

    /// Returns whether there may be events.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        match self {
            Self::Tcp(connection) => connection.has_events(),
            Self::Udp(_) => true,
        }
    }

    #[inline]
    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        match self {
            Self::Tcp(connection) => connection.poll_timeout(),
            Self::Udp(agent) => agent.poll_timeout(),
        }
    }

    #[inline]
    pub(crate) fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        match self {
            Self::Tcp(connection) => connection.on_timeout(cx),
            Self::Udp(agent) => agent.on_timeout(cx.now),
        }
    }

    /// Writes bytes. After the end of the connection they are discarded, as on a real host: the application gets
    /// an event for the end. Returns the bytes for which the send buffer has no room: they must be written again when
    /// it has.
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        match self {
            Self::Tcp(connection) => bytes - connection.write(bytes).unwrap_or(bytes),
            Self::Udp(agent) => {
                agent.write(bytes);
                0
            }
        }
    }

    /// The same for a unit of media.
    pub(crate) fn write_unit(&mut self, bytes: u64) -> u64 {
        match self {
            Self::Tcp(_) => self.write(bytes),
            Self::Udp(agent) => {
                agent.write_unit(bytes);
                0
            }
        }
    }

    /// Returns the payload bytes that the application has got or could get.
    pub(crate) fn received(&self) -> u64 {
        match self {
            Self::Tcp(connection) => connection.received(),
            Self::Udp(agent) => agent.received(),
        }
    }
}
