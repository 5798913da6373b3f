//! The endpoints of the simulator, on both namespaces: stacks of `earlybird-live`, whose segments UDP carries between two namespaces.

mod capabilities;
mod frame_headers;
mod hosts;
mod observers;
mod socket;

pub use capabilities::check;

use crate::clock::Clock;
use crate::error::machine_error;
use crate::event_log::SharedEventLog;
use crate::namespaces::{NamespacePair, flow_routes};
use crate::run::{RunConfig, execute, opened};
use earlybird_emulator::shell::host_config;
use earlybird_emulator::{Bridge, Capture, Emulator, Namespace, Side};
use earlybird_experiment::{Outputs, ProgressCallback, Report, RunError, RunSetup};
use earlybird_live::device::Udp;
use earlybird_scenario::Scenario;
use hosts::{LiveHosts, packet_of};
use rustix::net::{AddressFamily, SocketType};
use std::io;
use std::net::{SocketAddrV4, UdpSocket};

/// Runs a scenario that [`earlybird_scenario::resolve`] gave over our own endpoints, for as long as it says; writes the files that
/// are asked for.
///
/// # Errors
///
/// If they do not support the scenario, or the machine does not allow it; see [`RunError`].
pub fn run(
    scenario: &Scenario,
    seed: u64,
    outputs: &Outputs,
    keep_going: ProgressCallback<'_>,
) -> Result<Report, RunError> {
    check(scenario)?;
    let setup = RunSetup::new(scenario, seed)?;
    let topology = setup.topology()?;
    let event_log = SharedEventLog::open(&setup, outputs, true)?;
    let flow_routes = flow_routes(&topology.flows, &topology.paths);
    let namespaces = NamespacePair::new(topology.flows.iter().map(packet_of).max().unwrap_or(0))?;
    let sockets = sockets(&namespaces).map_err(|error| machine_error("this system gives no sockets", error))?;
    let capture = opened(outputs.capture.as_deref(), Capture::within_udp)?;
    let [near, far] = namespaces.devices()?;
    // From here on it is the run's time that passes.
    let bridge = Bridge::new(near, far);
    let hosts =
        LiveHosts::new(namespaces, sockets, Clock::since(bridge.started()), seed, &topology.flows, event_log.as_ref())
            .map_err(|error| machine_error("the stacks cannot be made", io::Error::other(error)))?;
    let emulator = Emulator::new(topology.network, flow_routes, (setup.drop_log(), event_log.clone())).within_udp();
    let config = RunConfig { backend: "live", hosts, bridge, emulator, capture, event_log };
    execute(scenario, &setup, topology.flows, config, keep_going)
}

/// The port of both sockets of UDP.
const UDP_PORT: u16 = 9_999;

/// Returns where the socket of a side is.
fn address(side: Side) -> SocketAddrV4 {
    SocketAddrV4::new(host_config(side, 0).v4, UDP_PORT)
}

/// Binds a socket of UDP on each side.
fn sockets(namespaces: &NamespacePair) -> io::Result<[Udp; 2]> {
    let socket = |namespace: &Namespace, side| {
        let socket = namespace.socket(AddressFamily::INET, SocketType::DGRAM)?;
        rustix::net::bind(&socket, &address(side))?;
        Ok::<_, io::Error>(Udp::from_socket(UdpSocket::from(socket))?.with_mtu(namespaces.mtu))
    };
    Ok([socket(&namespaces.near, Side::Near)?, socket(&namespaces.far, Side::Far)?])
}
