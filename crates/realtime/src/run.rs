//! A run from beginning to end: one thread carries packets, one lets the applications act, and whoever called waits.

use crate::chronicle::Shared;
use crate::clock::Clock;
use crate::hosts::Hosts;
use crate::links::{LinksEnd, LinksLog, carry};
use crate::performance::{Performance, samples_of};
use earlybird_capture::discard;
use earlybird_emulator::{Capture, Crossing, Emulator, Timing};
use earlybird_experiment::{Cast, KeepGoing, Recorder, Report, RunError, Stage, Table, Value};
use earlybird_scenario::Scenario;
use earlybird_scheduling::RealtimePriority;
use earlybird_units::Duration;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

/// Where and by whom a scenario is performed.
#[derive(Debug)]
pub struct Staging<H> {
    /// What the summary calls this world.
    pub world: &'static str,
    /// Who carries the flows' bytes.
    pub hosts: H,
    /// Between whose devices packets are carried: its clock is that of the run.
    pub crossing: Crossing,
    /// The links.
    pub emulator: Emulator<LinksLog>,
    /// Where their packets are written to, if anywhere.
    pub capture: Option<Capture>,
    /// What writes the other files, if any.
    pub chronicle: Option<Shared>,
}

/// Time between two questions whether to go on.
const BETWEEN_QUESTIONS: std::time::Duration = std::time::Duration::from_millis(50);

/// Performs a scenario for as long as it says.
///
/// # Errors
///
/// If the machine fails, or `keep_going` says no.
pub fn perform<H: Hosts>(
    scenario: &Scenario,
    stage: &Stage<'_>,
    flows: Vec<Cast>,
    staging: Staging<H>,
    keep_going: KeepGoing<'_>,
) -> Result<Report, RunError> {
    let Staging { world, hosts, crossing, emulator, capture, chronicle } = staging;
    let clock = Clock::since(crossing.started());
    let samples = samples_of(scenario);
    let mut performance = Performance::new(scenario, flows, stage.recorder(), hosts, clock);
    let stop = AtomicBool::new(false);
    let (done, performed) = mpsc::channel();
    let path = capture.as_ref().map(|capture| capture.path().to_owned());
    let done = thread::scope(|scope| {
        let links = scope.spawn(|| carry(crossing, emulator, samples, capture, &stop));
        scope.spawn(|| {
            let _priority = RealtimePriority::request();
            let outcome = performance.run(&stop);
            // Who waits for this has gone only if it waits no more.
            let _ = done.send(outcome.and_then(|()| HostsEnd::of(performance)));
        });
        let outcome = wait(&performed, || keep_going(share(&clock, scenario)));
        stop.store(true, Ordering::Relaxed);
        let carried =
            links.join().map_err(|_| broken_off(io::Error::other("the thread that carries packets ended")))?;
        Ok::<_, RunError>((carried.map_err(broken_off)?, outcome?))
    });
    let (mut links, hosts) = done.inspect_err(|_| discard(path.as_deref()))?;
    links.capture.take().map_or(Ok(()), finish)?;
    chronicle.map_or(Ok(()), |chronicle| chronicle.finish(stage))?;
    Ok(report(stage, world, hosts, &links))
}

/// Waits for the end of the performance.
fn wait(
    performed: &mpsc::Receiver<io::Result<HostsEnd>>,
    mut keep_going: impl FnMut() -> bool,
) -> Result<HostsEnd, RunError> {
    loop {
        match performed.recv_timeout(BETWEEN_QUESTIONS) {
            Ok(outcome) => return outcome.map_err(broken_off),
            Err(mpsc::RecvTimeoutError::Timeout) if keep_going() => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(RunError::Interrupted),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(broken_off(io::Error::other("the thread of the applications ended")));
            }
        }
    }
}

/// Begins a capture, if there is to be one.
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

fn broken_off(error: io::Error) -> RunError {
    failed("the run in real time broke off", error)
}

pub(crate) fn failed(problem: &str, error: io::Error) -> RunError {
    RunError::Machine { problem: problem.to_owned(), error }
}

/// The delay of the 99th percentile from which a run was disturbed: ten times what an idle machine with two processors shows.
const DISTURBED: Duration = Duration::from_millis(1);

/// What the hosts of both sides tell at the end.
struct HostsEnd {
    recorder: Recorder,
    /// Packets that were lost between them and the links.
    lost: u64,
    wakes: Timing,
}

impl HostsEnd {
    fn of<H: Hosts>(performance: Performance<H>) -> io::Result<Self> {
        let Performance { recorder, hosts, wakes, .. } = performance;
        Ok(Self { recorder, lost: hosts.undelivered()?, wakes })
    }
}

fn report(stage: &Stage<'_>, world: &'static str, mut hosts: HostsEnd, links: &LinksEnd) -> Report {
    let carried = &links.carried;
    let undelivered = carried.undelivered + hosts.lost;
    // Packets left so late, or were lost between links and hosts, or these acted so late, that the run is not what the scenario says.
    let is_late = [&carried.timing, &hosts.wakes].iter().any(|timing| timing.quantile(0.99) > DISTURBED);
    let is_disturbed = is_late || undelivered > 0;
    hosts.recorder.take_links(links.drops.clone(), &links.backlogs);
    let mut report = stage.report(&hosts.recorder, &links.network);
    let micros = |timing: &Timing, share| Value::Real(timing.quantile(share).as_secs_f64() * 1e6);
    report.summary.extend([
        ("world".to_owned(), Value::Text(world.to_owned())),
        ("added_delay_p50_us".to_owned(), micros(&carried.timing, 0.5)),
        ("added_delay_p99_us".to_owned(), micros(&carried.timing, 0.99)),
        ("hosts_late_p99_us".to_owned(), micros(&hosts.wakes, 0.99)),
        ("undelivered".to_owned(), Value::Whole(undelivered)),
        ("disturbed".to_owned(), Value::Whole(is_disturbed.into())),
    ]);
    report.tables.push(("added_delay", added_delay(&carried.timing)));
    report
}

/// How much later than due packets left the emulated links.
fn added_delay(timing: &Timing) -> Table {
    const SHARES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
    Table::default()
        .real("share", SHARES)
        .real("added_delay_us", SHARES.map(|share| timing.quantile(share).as_secs_f64() * 1e6))
}
