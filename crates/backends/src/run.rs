//! A run from start to end: one thread carries packets, one runs the applications, and the caller waits.

use crate::app_runtime::{AppRuntime, samples_of};
use crate::clock::Clock;
use crate::error::machine_error;
use crate::event_log::SharedEventLog;
use crate::hosts::Hosts;
use crate::links::{LinksEnd, LinksLog, carry};
use earlybird_capture::discard;
use earlybird_emulator::{Bridge, Capture, DelayHistogram, Emulator};
use earlybird_experiment::{FlowSpec, ProgressCallback, Recorder, Report, RunError, RunSetup, Table, Value};
use earlybird_scenario::Scenario;
use earlybird_scheduling::RealtimePriority;
use earlybird_units::Duration;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

/// The part of a backend that finishes a scenario.
#[derive(Debug)]
pub struct RunConfig<H> {
    /// The name of the backend in the summary.
    pub backend: &'static str,
    /// The endpoints.
    pub hosts: H,
    /// The bridge between the devices of both namespaces. Its clock is that of the run.
    pub bridge: Bridge,
    /// The links.
    pub emulator: Emulator<LinksLog>,
    /// The capture file, if any.
    pub capture: Option<Capture>,
    /// The trace files, if any.
    pub event_log: Option<SharedEventLog>,
}

/// Interval of progress callbacks.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(50);

/// Runs a scenario for its duration.
///
/// # Errors
///
/// If the machine fails, or `keep_going` returns `false`.
pub fn execute<H: Hosts>(
    scenario: &Scenario,
    setup: &RunSetup<'_>,
    flows: Vec<FlowSpec>,
    config: RunConfig<H>,
    keep_going: ProgressCallback<'_>,
) -> Result<Report, RunError> {
    let RunConfig { backend, hosts, bridge, emulator, capture, event_log } = config;
    let clock = Clock::since(bridge.started());
    let samples = samples_of(scenario);
    let mut runtime = AppRuntime::new(scenario, flows, setup.recorder(), hosts, clock);
    // One flag ends both threads, whichever fails first.
    let stop = AtomicBool::new(false);
    let (done, finished) = mpsc::channel();
    let path = capture.as_ref().map(|capture| capture.path().to_owned());
    let done = thread::scope(|scope| {
        let links = scope.spawn(|| carry(bridge, emulator, samples, capture, &stop));
        scope.spawn(|| {
            let _priority = RealtimePriority::request();
            let outcome = runtime.run(&stop);
            // The receiver is dropped only after it has stopped waiting: ignore the error.
            let _ = done.send(outcome.and_then(|()| HostsEnd::of(runtime)));
        });
        let outcome = wait(&finished, || keep_going(share(&clock, scenario)));
        // Applications are done, or the caller has interrupted: the links have nothing more to carry.
        stop.store(true, Ordering::Relaxed);
        let carried =
            links.join().map_err(|_| run_failed(io::Error::other("the thread that carries packets ended")))?;
        Ok::<_, RunError>((carried.map_err(run_failed)?, outcome?))
    });
    let (mut links, hosts) = done.inspect_err(|_| discard(path.as_deref()))?;
    links.capture.take().map_or(Ok(()), finish)?;
    event_log.map_or(Ok(()), |event_log| event_log.finish(setup))?;
    Ok(report(setup, backend, hosts, &links))
}

/// Waits for the end of the runtime.
fn wait(
    finished: &mpsc::Receiver<io::Result<HostsEnd>>,
    mut keep_going: impl FnMut() -> bool,
) -> Result<HostsEnd, RunError> {
    loop {
        match finished.recv_timeout(POLL_INTERVAL) {
            Ok(outcome) => return outcome.map_err(run_failed),
            Err(mpsc::RecvTimeoutError::Timeout) if keep_going() => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(RunError::Interrupted),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(run_failed(io::Error::other("the thread of the applications ended")));
            }
        }
    }
}

/// Opens the capture file, if one is requested.
pub(crate) fn opened(
    path: Option<&Path>,
    begin: impl FnOnce(&Path) -> io::Result<Capture>,
) -> Result<Option<Capture>, RunError> {
    let file_of = |path| begin(path).map_err(|error| RunError::Output { path: path.to_owned(), error });
    path.map(file_of).transpose()
}

fn finish(capture: Capture) -> Result<(), RunError> {
    let path = capture.path().to_owned();
    capture.finish().map_err(|error| RunError::Output { path, error })
}

fn share(clock: &Clock, scenario: &Scenario) -> f64 {
    (clock.now().as_secs_f64() / scenario.duration.duration().as_secs_f64()).min(1.0)
}

fn run_failed(error: io::Error) -> RunError {
    machine_error("the run in real time broke off", error)
}

/// The 99th percentile of delays above which a run counts as disturbed: ten times that of an idle machine with two processors.
const DISTURBED: Duration = Duration::from_millis(1);

/// The results of the thread of the applications.
struct HostsEnd {
    recorder: Recorder,
    /// Packets that were lost between them and the links.
    lost: u64,
    wakes: DelayHistogram,
}

impl HostsEnd {
    fn of<H: Hosts>(runtime: AppRuntime<H>) -> io::Result<Self> {
        let AppRuntime { recorder, hosts, wakes, .. } = runtime;
        Ok(Self { recorder, lost: hosts.undelivered()?, wakes })
    }
}

fn report(setup: &RunSetup<'_>, backend: &'static str, mut hosts: HostsEnd, links: &LinksEnd) -> Report {
    let stats = &links.stats;
    let undelivered = stats.undelivered + hosts.lost;
    // The lateness of links or hosts, or losses between them, are so large that the run does not represent the scenario.
    // The median hides short interruptions by other processes; the 99th percentile shows them.
    let is_late = [&stats.delays, &hosts.wakes].iter().any(|timing| timing.quantile(0.99) > DISTURBED);
    let is_disturbed = is_late || undelivered > 0;
    // Drops were observed on the links' thread and join the recorder only now.
    hosts.recorder.take_links(links.drops.clone(), &links.backlogs);
    let mut report = setup.report(&hosts.recorder, &links.network);
    let micros = |timing: &DelayHistogram, share| Value::Float(timing.quantile(share).as_secs_f64() * 1e6);
    report.summary.extend([
        ("backend".to_owned(), Value::String(backend.to_owned())),
        ("added_delay_p50_us".to_owned(), micros(&stats.delays, 0.5)),
        ("added_delay_p99_us".to_owned(), micros(&stats.delays, 0.99)),
        ("host_lateness_p99_us".to_owned(), micros(&hosts.wakes, 0.99)),
        ("undelivered".to_owned(), Value::Integer(undelivered)),
        ("disturbed".to_owned(), Value::Integer(is_disturbed.into())),
    ]);
    report.tables.push(("added_delay", added_delay(&stats.delays)));
    report
}

/// Makes the table of the links' additional delay.
fn added_delay(timing: &DelayHistogram) -> Table {
    const SHARES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
    Table::default()
        .float("share", SHARES)
        .float("added_delay_us", SHARES.map(|share| timing.quantile(share).as_secs_f64() * 1e6))
}
