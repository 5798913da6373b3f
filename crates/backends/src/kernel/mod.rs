//! The operating system's own TCP: two network namespaces, and a socket in each for every flow.

mod capabilities;
mod hosts;
mod socket;
mod tcp_info;

pub use capabilities::check;

use crate::event_log::SharedEventLog;
use crate::namespaces::flow_routes;
use crate::run::{RunConfig, execute, opened};
use earlybird_emulator::{Bridge, Capture, Emulator};
use earlybird_experiment::{Outputs, ProgressCallback, Report, RunError, RunSetup};
use earlybird_scenario::Scenario;
use hosts::KernelHosts;

/// Runs a scenario that [`earlybird_scenario::resolve`] gave over the kernel's TCP, for as long as it says; writes the files that
/// are asked for.
///
/// # Errors
///
/// If the kernel does not support the scenario, or the machine does not allow it; see [`RunError`].
pub fn run(
    scenario: &Scenario,
    seed: u64,
    outputs: &Outputs,
    keep_going: ProgressCallback<'_>,
) -> Result<Report, RunError> {
    check(scenario)?;
    let setup = RunSetup::new(scenario, seed)?;
    let topology = setup.topology()?;
    let event_log = SharedEventLog::open(&setup, outputs, false)?;
    let flow_routes = flow_routes(&topology.flows, &topology.paths);
    let hosts = KernelHosts::new(scenario, &topology.flows)?;
    let emulator = Emulator::new(topology.network, flow_routes, (setup.drop_log(), event_log.clone()));
    let capture = opened(outputs.capture.as_deref(), Capture::create)?;
    let [near, far] = hosts.devices()?;
    let config = RunConfig { backend: "kernel", hosts, bridge: Bridge::new(near, far), emulator, capture, event_log };
    execute(scenario, &setup, topology.flows, config, keep_going)
}

/// Bytes that the timestamps take which Linux sends with every segment (RFC 7323, aligned).
const TIMESTAMPS: u64 = 12;
