//! Which way packets take through the network.

use earlybird_sim::{EndpointId, FlowId, GroupId, RouteId};
use earlybird_wire::Envelope;
use std::collections::HashMap;

/// One of the two sides between which packets are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where connections are opened.
    Near,
    /// Where they are accepted.
    Far,
}

impl Side {
    /// Both.
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

/// What the network knows of a flow, whose connections are opened on the near side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// What its packets go over, from near to far …
    pub there: RouteId,
    /// … and back.
    pub back: RouteId,
    /// Its number in results.
    pub flow: FlowId,
    /// The group of that number.
    pub group: GroupId,
}

impl Way {
    /// Returns the route of what comes from a side.
    pub(crate) const fn from(&self, side: Side) -> RouteId {
        match side {
            Side::Near => self.there,
            Side::Far => self.back,
        }
    }

    /// Returns the end that packets from a side go to: the one that opens connections is near.
    pub(crate) const fn end(&self, from: Side) -> EndpointId {
        EndpointId(self.flow.0 * 2 + matches!(from, Side::Near) as u32)
    }
}

/// The ways of all flows, which are told apart by the port on the far side.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    by_port: HashMap<u16, Way>,
    /// The way of everything else.
    pub otherwise: Option<Way>,
}

impl Ways {
    /// Makes one way for all packets.
    pub fn all(way: Way) -> Self {
        Self { by_port: HashMap::new(), otherwise: Some(way) }
    }

    /// Adds the way of packets to and from a port on the far side.
    pub fn add(&mut self, port: u16, way: Way) {
        self.by_port.insert(port, way);
    }

    /// Returns the way of a packet from a side; none if it belongs to no flow, or to many hosts.
    pub(crate) fn of(&self, from: Side, envelope: &Envelope) -> Option<&Way> {
        if envelope.destination.is_multicast() {
            return None;
        }
        let port = envelope.ports.map(|[source, destination]| if from == Side::Near { destination } else { source });
        port.and_then(|port| self.by_port.get(&port)).or(self.otherwise.as_ref())
    }
}
