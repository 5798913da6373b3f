//! The operating system's own TCP: two network namespaces, and a socket in each for every flow.

mod counted;
mod hosts;
mod possible;
mod socket;

pub use possible::check;

use crate::chronicle::Shared;
use crate::run::{Staging, opened, perform};
use crate::sides::ways;
use earlybird_emulator::{Capture, Crossing, Emulator};
use earlybird_experiment::{DropLog, KeepGoing, Outputs, Report, RunError, Stage};
use earlybird_scenario::Scenario;
use hosts::KernelHosts;

/// Runs a scenario that [`earlybird_scenario::resolve`] gave over the kernel's TCP, for as long as it says; writes the files that
/// are asked for.
///
/// # Errors
///
/// If the kernel cannot do what the scenario asks for, or the machine does not allow it; see [`RunError`].
pub fn run(scenario: &Scenario, seed: u64, outputs: &Outputs, keep_going: KeepGoing<'_>) -> Result<Report, RunError> {
    check(scenario)?;
    let stage = Stage::new(scenario, seed)?;
    let scenery = stage.scenery()?;
    let chronicle = Shared::open(&stage, outputs, false)?;
    let ways = ways(&scenery.flows, &scenery.paths);
    let hosts = KernelHosts::new(scenario, &scenery.flows)?;
    let emulator = Emulator::new(scenery.network, ways, (DropLog::default(), chronicle.clone()));
    let capture = opened(outputs.capture.as_deref(), Capture::create)?;
    let [near, far] = hosts.devices()?;
    let staging = Staging { world: "kernel", hosts, crossing: Crossing::new(near, far), emulator, capture, chronicle };
    perform(scenario, &stage, scenery.flows, staging, keep_going)
}

/// Bytes that the timestamps take which Linux sends with every segment (RFC 7323, aligned).
const TIMESTAMPS: u64 = 12;
