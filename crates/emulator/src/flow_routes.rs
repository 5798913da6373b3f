//! The routes of flows through the network.

use earlybird_sim::{EndpointId, FlowId, GroupId, RouteId};
use earlybird_wire::PacketSummary;
use std::collections::HashMap;

/// A side of the emulated network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side of clients, which open connections.
    Near,
    /// The side of servers, which accept them.
    Far,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Near, Self::Far];

    /// Returns the other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Near => Self::Far,
            Self::Far => Self::Near,
        }
    }
}

/// The routes of a flow, and its number in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRoute {
    /// Route of its packets from the near to the far side.
    pub forward: RouteId,
    /// Route from the far to the near side.
    pub reverse: RouteId,
    /// Its number in results.
    pub flow: FlowId,
    /// The group of the flow.
    pub group: GroupId,
}

impl FlowRoute {
    /// Returns the route of packets from a side.
    pub(crate) const fn route(&self, side: Side) -> RouteId {
        match side {
            Side::Near => self.forward,
            Side::Far => self.reverse,
        }
    }

    /// Returns the endpoint that receives packets from a side. The opener of a flow is near and has the even number.
    pub(crate) const fn endpoint(&self, from: Side) -> EndpointId {
        EndpointId(self.flow.0 * 2 + matches!(from, Side::Near) as u32)
    }
}

/// The routes of all flows, by the port on the far side.
#[derive(Clone, Debug, Default)]
pub struct FlowRoutes {
    by_port: HashMap<u16, FlowRoute>,
    /// The route of all other packets.
    pub default: Option<FlowRoute>,
}

impl FlowRoutes {
    /// Routes all packets in the same way.
    pub fn all(route: FlowRoute) -> Self {
        Self { by_port: HashMap::new(), default: Some(route) }
    }

    /// Adds the route of packets to and from a port on the far side.
    pub fn add(&mut self, port: u16, route: FlowRoute) {
        self.by_port.insert(port, route);
    }

    /// Returns the routes of a packet from a side; `None` if it belongs to no flow, or is multicast.
    pub(crate) fn find(&self, from: Side, envelope: &PacketSummary) -> Option<&FlowRoute> {
        // Neighbour discovery and the like, which belongs to no flow.
        if envelope.destination.is_multicast() {
            return None;
        }
        let port = envelope.ports.map(|[source, destination]| if from == Side::Near { destination } else { source });
        port.and_then(|port| self.by_port.get(&port)).or(self.default.as_ref())
    }
}
