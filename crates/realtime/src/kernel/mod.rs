//! The operating system's own TCP: two network namespaces, and a socket in each for every flow.

mod counted;
mod hosts;
mod possible;
mod socket;

pub use possible::check;

use crate::run::{Staging, opened, perform};
use crate::sides::ways;
use earlybird_emulator::{Capture, Crossing, Emulator};
use earlybird_experiment::{DropLog, KeepGoing, Report, RunError, Stage};
use earlybird_scenario::Scenario;
use hosts::KernelHosts;
use std::path::Path;

/// Runs a scenario that [`earlybird_scenario::resolve`] gave over the kernel's TCP, for as long as it says; writes the packets to a file, if
/// there is one.
///
/// # Errors
///
/// If the kernel cannot do what the scenario asks for, or the machine does not allow it; see [`RunError`].
pub fn run(scenario: &Scenario, seed: u64, pcap: Option<&Path>, keep_going: KeepGoing<'_>) -> Result<Report, RunError> {
    check(scenario)?;
    let stage = Stage::new(scenario, seed)?;
    let scenery = stage.scenery()?;
    let ways = ways(&scenery.flows, &scenery.paths);
    let hosts = KernelHosts::new(scenario, &scenery.flows)?;
    let emulator = Emulator::new(scenery.network, ways, DropLog::default());
    let capture = opened(pcap, Capture::create)?;
    let [near, far] = hosts.devices()?;
    let staging = Staging { world: "kernel", hosts, crossing: Crossing::new(near, far), emulator, capture };
    perform(scenario, &stage, scenery.flows, staging, keep_going)
}

/// Bytes that the timestamps take which Linux sends with every segment (RFC 7323, aligned).
const TIMESTAMPS: u64 = 12;
