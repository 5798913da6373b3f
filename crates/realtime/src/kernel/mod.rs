//! The operating system's own TCP: two network namespaces, and a socket in each for every flow.

mod counted;
mod hosts;
mod possible;
mod socket;

pub use possible::{MOST_FLOWS, check};

use crate::run::{Staging, failed, perform};
use earlybird_emulator::{Crossing, Emulator, Way, Ways};
use earlybird_experiment::{Cast, DropLog, KeepGoing, Pair, Report, RunError, Stage};
use earlybird_scenario::Scenario;
use hosts::KernelHosts;

/// Runs a scenario that [`earlybird_scenario::resolve`] gave over the kernel's TCP, for as long as it says.
///
/// # Errors
///
/// If the kernel cannot do what the scenario asks for, or the machine does not allow it; see [`RunError`].
pub fn run(scenario: &Scenario, seed: u64, keep_going: KeepGoing<'_>) -> Result<Report, RunError> {
    check(scenario)?;
    let stage = Stage::new(scenario, seed)?;
    let scenery = stage.scenery()?;
    let ways = ways(&scenery.flows, &scenery.paths);
    let hosts = KernelHosts::new(&scenery.flows)?;
    let emulator = Emulator::new(scenery.network, ways, DropLog::default());
    let [near, far] = hosts.devices().map_err(|error| failed("this system gives no more files", error))?;
    let staging = Staging { world: "kernel", hosts, crossing: Crossing::new(near, far), emulator };
    perform(scenario, &stage, scenery.flows, staging, keep_going)
}

/// The far port of the first flow; the others follow.
const FIRST_PORT: u16 = 10_000;

/// Bytes that the timestamps take which Linux sends with every segment (RFC 7323, aligned).
const TIMESTAMPS: u64 = 12;

fn port_of(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

/// Every flow has one connection, over the path of its number.
fn ways(flows: &[Cast], paths: &[Pair]) -> Ways {
    let mut ways = Ways::default();
    for (number, (cast, pair)) in flows.iter().zip(paths).enumerate() {
        let way = Way { there: pair.there, back: pair.back, flow: cast.id, group: cast.group };
        ways.add(port_of(number), way);
    }
    ways
}
