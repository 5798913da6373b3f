//! The two namespaces of a network in real time: their hosts, and the addresses by which the links distinguish flows.

use crate::error::machine_error;
use earlybird_emulator::shell::host_config;
use earlybird_emulator::{FlowRoute, FlowRoutes, Namespace, Side};
use earlybird_experiment::{FlowSpec, RoutePair, RunError};
use std::io;
use std::os::fd::OwnedFd;

/// A namespace for the hosts of each side.
#[derive(Debug)]
pub(crate) struct NamespacePair {
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    /// The largest packet in bytes.
    pub(crate) mtu: u16,
}

/// Below this there is no IPv6 (RFC 8200 §5), and no harm is done by more: how large segments get is said to each socket.
const SMALLEST_MTU: u64 = 1280;

impl NamespacePair {
    /// Creates both, for packets of limited size in bytes.
    pub(crate) fn new(largest: u64) -> Result<Self, RunError> {
        // The device must carry the largest segment in one packet, since the simulator does not fragment.
        let mtu = largest.clamp(SMALLEST_MTU, u16::MAX.into()) as u16;
        let namespace = |side| Namespace::new(host_config(side, mtu)).map_err(RunError::Namespace);
        Ok(Self { near: namespace(Side::Near)?, far: namespace(Side::Far)?, mtu })
    }

    /// Returns the devices of both.
    pub(crate) fn devices(&self) -> Result<[OwnedFd; 2], RunError> {
        let device = |side: &Namespace| side.device().try_clone();
        let both = || Ok([device(&self.near)?, device(&self.far)?]);
        both().map_err(|error| machine_error("this system gives no more files", error))
    }

    /// Returns how many packets of both were dropped before the links could take them.
    pub(crate) fn dropped(&self) -> io::Result<u64> {
        Ok(self.near.dropped()? + self.far.dropped()?)
    }
}

/// The far port of TCP of the first flow; the others follow.
const FIRST_PORT: u16 = 10_000;

/// Returns the far port of a flow's connection.
pub(crate) const fn port_of(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

/// Every flow has one connection, over the path of its number.
pub(crate) fn flow_routes(flows: &[FlowSpec], paths: &[RoutePair]) -> FlowRoutes {
    let mut flow_routes = FlowRoutes::default();
    for (number, (spec, pair)) in flows.iter().zip(paths).enumerate() {
        let route = FlowRoute { forward: pair.there, reverse: pair.back, flow: spec.id, group: spec.group };
        // Links know flows by the far port, which is the only field that all packets of a flow share.
        flow_routes.add(port_of(number), route);
    }
    flow_routes
}
