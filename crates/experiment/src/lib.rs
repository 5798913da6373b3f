//! From a scenario and a seed to tables: builds the world, runs it, measures.
#![forbid(unsafe_code)]

mod applications;
mod bottleneck;
mod bursts;
mod capture;
mod chance;
mod chronicle;
mod emulation;
mod encoder;
mod endpoint;
mod estimate;
mod loss;
mod marking;
mod media;
mod plan;
mod playout;
mod qlog;
mod queue;
mod recorder;
mod report;
mod samples;
mod scenery;
mod segments;
mod sequence;
mod series;
mod speed;
mod stage;
mod summary;
mod table;
mod trace;
mod transmissions;
mod unused;
mod warnings;
mod web;
mod window;

pub use chance::random_parts;
pub use chronicle::Chronicle;
pub use earlybird_scenario::{ControlTable, RegisterError, keep, register};
pub use emulation::{Emulation, emulation};
pub use estimate::{Estimate, Share, estimate};
pub use recorder::{DropLog, Recorder};
pub use report::Report;
pub use samples::{FlowEnd, FlowGauges};
pub use scenery::{Cast, Entrance, Pair, Scenery};
pub use stage::Stage;
pub use summary::{Summary, Value};
pub use table::{Column, Table};
pub use unused::unused;
pub use warnings::{output_warnings, warnings};

use capture::Capture;
use earlybird_scenario::{Scenario, ScenarioError};
use earlybird_sim::{Network, Observer, World};
use earlybird_units::Instant;
use plan::Plan;
use qlog::Qlog;
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use trace::{FlowTrace, LinkTrace};

/// The files a run writes besides its tables.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// One line per event of the chosen flows.
    pub trace: Option<PathBuf>,
    /// What the senders of the chosen flows sent, heard and decided, in the format qlog.
    pub qlog: Option<PathBuf>,
    /// The flows to trace; empty: all but web flows.
    pub trace_flows: Vec<String>,
    /// One line per packet offered to the bottleneck.
    pub link_trace: Option<PathBuf>,
    /// A capture at the hosts that open connections.
    pub capture: Option<PathBuf>,
}

/// Why a run gave no report.
#[derive(Debug)]
pub enum RunError {
    /// The scenario cannot be built.
    Scenario(ScenarioError),
    /// A file could not be written.
    Output {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// A run in real time needs network namespaces with TUN devices, which the machine does not give.
    Namespace(std::io::Error),
    /// The machine did not do what a run in real time needs.
    Machine {
        /// What it did not do.
        problem: String,
        /// What the system says.
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

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

/// Events between two questions whether to go on: some microseconds, but a sample of many flows is one event too.
const EVENTS_BETWEEN_QUESTIONS: u64 = 1 << 8;

/// Is asked thousands of times a second whether to go on, and told which share of the run is done.
pub type KeepGoing<'a> = &'a mut dyn FnMut(f64) -> bool;

/// Runs a scenario that [`earlybird_scenario::resolve`] gave.
///
/// An interrupted run leaves no file.
///
/// # Errors
///
/// See [`RunError`].
pub fn run(scenario: &Scenario, seed: u64, outputs: &Outputs, keep_going: KeepGoing<'_>) -> Result<Report, RunError> {
    let report = run_once(scenario, seed, outputs, keep_going)?;
    match bursts::first_alone(scenario, &Plan::new(scenario, seed)?.bottleneck, &report) {
        Some(alone) => run_once(&alone, seed, outputs, keep_going),
        None => Ok(report),
    }
}

fn run_once(scenario: &Scenario, seed: u64, outputs: &Outputs, keep_going: KeepGoing<'_>) -> Result<Report, RunError> {
    let stage = Stage::new(scenario, seed)?;
    let (plan, recorder, scenery) = (&stage.plan, stage.recorder(), stage.scenery()?);
    let files = [&outputs.trace, &outputs.qlog, &outputs.link_trace, &outputs.capture];
    let wants_files = files.into_iter().any(Option::is_some);
    // What needs every packet runs in a world that tells of every packet.
    let (network, recorder) = if wants_files || scenario.measure.transmissions {
        let files = Files::open(plan, outputs)?;
        let done = execute(scenery.into_world((recorder, files)), scenario, keep_going);
        let (network, (recorder, files)) =
            done.inspect_err(|_| earlybird_capture::discard(outputs.capture.as_deref()))?;
        files.finish(plan, outputs)?;
        (network, recorder)
    } else {
        execute(scenery.into_world(recorder), scenario, keep_going)?
    };
    Ok(stage.report(&recorder, &network))
}

fn execute<O: Observer>(
    mut world: World<O>,
    scenario: &Scenario,
    keep_going: KeepGoing<'_>,
) -> Result<(Network, O), RunError> {
    world.mark_at(Instant::ZERO + scenario.measure.warm_up.duration());
    if let Some(period) = scenario.measure.series {
        world.probe_every(period.duration());
    }
    let end = Instant::ZERO + scenario.duration.duration();
    while !world.run_until(end, EVENTS_BETWEEN_QUESTIONS) {
        if !keep_going(world.now().as_secs_f64() / end.as_secs_f64()) {
            return Err(RunError::Interrupted);
        }
    }
    world.finish();
    Ok(world.into_parts())
}

type Files = ((Option<FlowTrace>, Option<Qlog>), (Option<LinkTrace>, Option<Capture>));

trait OutputFiles: Sized {
    fn open(plan: &Plan, outputs: &Outputs) -> Result<Self, RunError>;
    fn finish(self, plan: &Plan, outputs: &Outputs) -> Result<(), RunError>;
}

impl OutputFiles for Files {
    fn open(plan: &Plan, outputs: &Outputs) -> Result<Self, RunError> {
        let trace = outputs.trace.as_ref().map(|_| FlowTrace::new(plan, &outputs.trace_flows)).transpose()?;
        let qlog = outputs.qlog.as_ref().map(|_| Qlog::new(plan, &outputs.trace_flows)).transpose()?;
        let link = outputs.link_trace.as_ref().map(|_| LinkTrace::new(plan));
        let capture = outputs.capture.as_deref().map(|path| Capture::create(path, plan)).transpose()?;
        Ok(((trace, qlog), (link, capture)))
    }

    fn finish(self, plan: &Plan, outputs: &Outputs) -> Result<(), RunError> {
        let ((trace, qlog), (link, capture)) = self;
        if let (Some(trace), Some(path)) = (trace, &outputs.trace) {
            write_file(path, |file| trace.write(plan, file))?;
        }
        if let (Some(qlog), Some(path)) = (qlog, &outputs.qlog) {
            write_file(path, |file| qlog.write(plan, file))?;
        }
        if let (Some(link), Some(path)) = (link, &outputs.link_trace) {
            write_file(path, |file| link.write(plan, file))?;
        }
        capture.map_or(Ok(()), Capture::finish)
    }
}

pub(crate) fn output_error(path: &Path, error: std::io::Error) -> RunError {
    RunError::Output { path: path.to_owned(), error }
}

fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<(), RunError> {
    let create = || {
        let mut file = BufWriter::new(File::create(path)?);
        write(&mut file)?;
        std::io::Write::flush(&mut file)
    };
    create().map_err(|error| output_error(path, error))
}
