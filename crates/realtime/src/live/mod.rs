//! The endpoints of the simulator, on both sides: stacks of `earlybird-live`, whose segments UDP carries between two namespaces.

mod hosts;
mod labels;
mod possible;
mod socket;
mod telling;

pub use possible::check;

use crate::chronicle::Shared;
use crate::clock::Clock;
use crate::run::{Staging, failed, opened, perform};
use crate::sides::{Sides, ways};
use earlybird_emulator::shell::place;
use earlybird_emulator::{Capture, Crossing, Emulator, Namespace, Side};
use earlybird_experiment::{DropLog, KeepGoing, Outputs, Report, RunError, Stage};
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
/// If they cannot do what the scenario asks for, or the machine does not allow it; see [`RunError`].
pub fn run(scenario: &Scenario, seed: u64, outputs: &Outputs, keep_going: KeepGoing<'_>) -> Result<Report, RunError> {
    check(scenario)?;
    let stage = Stage::new(scenario, seed)?;
    let scenery = stage.scenery()?;
    let chronicle = Shared::open(&stage, outputs, true)?;
    let ways = ways(&scenery.flows, &scenery.paths);
    let sides = Sides::new(scenery.flows.iter().map(packet_of).max().unwrap_or(0))?;
    let sockets = sockets(&sides).map_err(|error| failed("this system gives no sockets", error))?;
    let capture = opened(outputs.capture.as_deref(), Capture::within_udp)?;
    let [near, far] = sides.devices()?;
    // From here on it is the run's time that passes.
    let crossing = Crossing::new(near, far);
    let hosts =
        LiveHosts::new(sides, sockets, Clock::since(crossing.started()), seed, &scenery.flows, chronicle.as_ref())
            .map_err(|error| failed("the stacks cannot be made", io::Error::other(error)))?;
    let emulator = Emulator::new(scenery.network, ways, (DropLog::default(), chronicle.clone())).within_udp();
    let staging = Staging { world: "live", hosts, crossing, emulator, capture, chronicle };
    perform(scenario, &stage, scenery.flows, staging, keep_going)
}

/// The port of both sockets of UDP.
const UDP_PORT: u16 = 9_999;

/// Returns where the socket of a side is.
fn address(side: Side) -> SocketAddrV4 {
    SocketAddrV4::new(place(side, 0).v4, UDP_PORT)
}

/// Binds a socket of UDP on each side.
fn sockets(sides: &Sides) -> io::Result<[Udp; 2]> {
    let socket = |namespace: &Namespace, side| {
        let socket = namespace.socket(AddressFamily::INET, SocketType::DGRAM)?;
        rustix::net::bind(&socket, &address(side))?;
        Ok::<_, io::Error>(Udp::from_socket(UdpSocket::from(socket))?.with_mtu(sides.mtu))
    };
    Ok([socket(&sides.near, Side::Near)?, socket(&sides.far, Side::Far)?])
}
