//! One end of a connection in the simulated network.

use crate::ids::{AppId, FlowId, GroupId, RouteId};
use earlybird_tcp::{Config, Connection};
use earlybird_units::Instant;
use earlybird_wire::Segment;

/// How large headers are on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSize {
    /// ns-2: 40 bytes, and 8 for each SACK block.
    Ns2,
    /// IPv4 and TCP with their options as sent.
    Real,
}

impl HeaderSize {
    /// Gives the size of a packet with this segment in bytes.
    pub const fn packet_bytes(self, segment: &Segment) -> u32 {
        let options = match self {
            Self::Ns2 => 8 * segment.options.sack.len(),
            Self::Real => segment.options.wire_len(),
        };
        40 + segment.len as u32 + options as u32
    }
}

/// What the connections of a flow are made of.
#[derive(Clone, Copy, Debug)]
pub struct EndpointSettings {
    /// The side that opens, which sends the data.
    pub opener: Config,
    /// The other side.
    pub listener: Config,
    /// How large headers are.
    pub headers: HeaderSize,
    /// Connections end with a FIN in each direction; ns-2's one-way agents just stop.
    pub closes_with_fin: bool,
}

/// One end of a connection, and its place in the network.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) connection: Connection,
    pub(crate) flow: FlowId,
    pub(crate) group: GroupId,
    pub(crate) app: AppId,
    pub(crate) route: RouteId,
    pub(crate) generation: u32,
    pub(crate) headers: HeaderSize,
    /// The earliest timer event in the queue for this endpoint.
    pub(crate) armed: Instant,
    pub(crate) is_in_use: bool,
}
