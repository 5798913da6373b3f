//! From a scenario and a seed to tables: builds the world, runs it, measures.
#![forbid(unsafe_code)]

mod applications;
mod bottleneck;
mod bursts;
mod capture;
mod cost_model;
mod default_window;
mod ecn;
mod emulation;
mod encoder;
mod endpoint;
mod harm;
mod invariants;
mod link_measures;
mod link_paths;
mod live_event_log;
mod loss;
mod media;
mod outputs;
mod plan;
mod playout;
mod qlog;
mod randomness;
mod rates;
mod recorder;
mod register;
mod renditions;
mod repair_times;
mod report;
mod segments;
mod sequence;
mod series;
mod setup;
mod summary;
mod table;
mod topology;
mod trace;
mod unused_settings;
mod warnings;
mod web;

pub use cost_model::{CostShare, Estimate, estimate};
pub use emulation::{Emulation, emulation, network_emulation};
pub use live_event_log::LiveEventLog;
pub use outputs::Outputs;
pub use randomness::random_parts;
pub use recorder::{DropLog, Recorder};
pub use report::Report;
pub use setup::RunSetup;
pub use table::{Column, Summary, Table, Value};
pub use topology::{AppStart, FlowSpec, RoutePair, Topology};
pub use unused_settings::unused_settings;
pub use warnings::{output_warnings, warnings};

use earlybird_scenario::{Scenario, ScenarioError};
use earlybird_sim::{Network, Observer, World};
use earlybird_units::Instant;
use std::fmt;
use std::path::{Path, PathBuf};

/// The error of a run.
#[derive(Debug)]
pub enum RunError {
    /// The scenario cannot be built.
    Scenario(ScenarioError),
    /// A file could not be written.
    Output {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A run in real time needs network namespaces with TUN devices, which the machine does not give.
    Namespace(std::io::Error),
    /// The machine does not meet the requirements of a run in real time.
    Machine {
        /// The operation that failed.
        problem: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The caller asked to stop.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(formatter),
            Self::Output { path, error } => write!(formatter, "cannot write {}: {error}", path.display()),
            Self::Namespace(error) => {
                write!(formatter, "this system gives no network namespace with a TUN device: {error}")
            }
            Self::Machine { problem, error } => write!(formatter, "{problem}: {error}"),
            Self::Interrupted => formatter.write_str("interrupted"),
        }
    }
}

impl std::error::Error for RunError {}

impl RunError {
    fn output(path: &Path, error: std::io::Error) -> Self {
        Self::Output { path: path.to_owned(), error }
    }
}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

/// Events between two progress callbacks: some microseconds, but a sample of many flows is one event too.
const PROGRESS_INTERVAL_EVENTS: u64 = 1 << 8;

/// Progress callback, called thousands of times per second with the completed share of the run. Returns whether to continue.
pub type ProgressCallback<'a> = &'a mut dyn FnMut(f64) -> bool;

/// Runs a scenario that [`earlybird_scenario::resolve`] gave.
///
/// An interrupted run leaves no file.
///
/// # Errors
///
/// See [`RunError`].
pub fn run(
    scenario: &Scenario,
    seed: u64,
    outputs: &Outputs,
    keep_going: ProgressCallback<'_>,
) -> Result<Report, RunError> {
    let (Some(harmful), Some(solo)) = (&scenario.measure.harm_by, harm::without_group(scenario)) else {
        return run_beside(scenario, seed, outputs, keep_going);
    };
    // Each of the two runs is half of the progress. Files are those of the run with all flows.
    let solo = run_beside(&solo, seed, &Outputs::default(), &mut |share| keep_going(share / 2.0))?;
    let mut report = run_beside(scenario, seed, outputs, &mut |share| keep_going(0.5 + share / 2.0))?;
    harm::append(harmful, &mut report, &solo);
    Ok(report)
}

/// Runs all flows of a scenario beside one another.
fn run_beside(
    scenario: &Scenario,
    seed: u64,
    outputs: &Outputs,
    keep_going: ProgressCallback<'_>,
) -> Result<Report, RunError> {
    let setup = RunSetup::new(scenario, seed)?;
    let report = run_once(&setup, outputs, keep_going)?;
    // Overlapping bursts cannot be distinguished: then the first one is measured in a run of its own.
    match bursts::isolated_burst(scenario, &setup.plan.bottleneck, &report.tables) {
        Some(isolated) => run_once(&RunSetup::new(&isolated, seed)?, outputs, keep_going),
        None => Ok(report),
    }
}

fn run_once(setup: &RunSetup<'_>, outputs: &Outputs, keep_going: ProgressCallback<'_>) -> Result<Report, RunError> {
    let scenario = setup.scenario;
    let (plan, recorder, topology) = (&setup.plan, setup.recorder(), setup.topology()?);
    // Observing every packet costs time, so runs that need it are compiled separately from those that do not.
    let (network, recorder) = if outputs.any() || scenario.measure.transmissions {
        let files = outputs::open(plan, outputs)?;
        let done = execute(topology.into_world((recorder, files)), scenario, keep_going);
        let (network, (recorder, files)) =
            // The capture is written during the run; the other files only at its end.
            done.inspect_err(|_| earlybird_capture::discard(outputs.capture.as_deref()))?;
        outputs::finish(files, plan, outputs)?;
        (network, recorder)
    } else {
        execute(topology.into_world(recorder), scenario, keep_going)?
    };
    let report = setup.report(&recorder, &network);
    // Not of runs in real time, which count what other programs and kernels do.
    if cfg!(debug_assertions) {
        invariants::check(plan, &recorder, &network, &report.tables, &report.summary);
    }
    Ok(report)
}

fn execute<O: Observer>(
    mut world: World<O>,
    scenario: &Scenario,
    keep_going: ProgressCallback<'_>,
) -> Result<(Network, O), RunError> {
    let warm_up = Instant::ZERO + scenario.measure.warm_up.duration();
    // Without a warm-up nothing comes before the measured interval; what happens at its start may come before the mark.
    if warm_up > Instant::ZERO {
        world.end_warm_up_at(warm_up);
    }
    if let Some(period) = scenario.measure.series {
        world.probe_every(period.duration());
    }
    let end = Instant::ZERO + scenario.duration.duration();
    // In batches, so that a run can be interrupted and shows its progress.
    while !world.run_until(end, PROGRESS_INTERVAL_EVENTS) {
        if !keep_going(world.now().as_secs_f64() / end.as_secs_f64()) {
            return Err(RunError::Interrupted);
        }
    }
    // Connections that are still open report their counters.
    world.finish();
    Ok(world.into_parts())
}
