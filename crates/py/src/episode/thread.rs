//! `_core.Episode`: a run in a thread of its own, which waits for a decision at the end of each interval.

use super::interval::Measured;
use crate::scenario::ResolvedScenario;
use crate::{plugin, report, run_error};
use earlybird_experiment::{Outputs, Report};
use earlybird_scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

/// Time between two checks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

thread_local! {
    // A run is made by one thread.
    static EXCHANGE: Cell<Option<Exchange>> = const { Cell::new(None) };
}

/// Returns the channels between the run of this thread and a program, once.
pub(super) fn take_exchange() -> Option<Exchange> {
    EXCHANGE.take()
}

/// The channels between a connection and the program that decides its window.
#[derive(Debug)]
pub(super) struct Exchange {
    measured: SyncSender<Measured>,
    decisions: Receiver<f64>,
    /// The length of intervals in seconds; one round trip without it.
    pub length: Option<f64>,
}

impl Exchange {
    /// Sends measurements and waits for the window in segments; None after the program has closed the run.
    pub(super) fn decision(&self, measured: Measured) -> Option<f64> {
        self.measured.send(measured).ok()?;
        self.decisions.recv().ok()
    }
}

/// Measurements by name; a result at the end of the run.
type Step<'py> = (Option<HashMap<&'static str, Option<f64>>>, Option<Bound<'py, PyDict>>);

/// A run of which a program decides one window.
#[pyclass(frozen, module = "earlybird._core")]
pub(crate) struct Episode(Mutex<Option<Running>>);

struct Running {
    measured: Receiver<Measured>,
    decisions: SyncSender<f64>,
    is_closed: Arc<AtomicBool>,
    thread: JoinHandle<PyResult<Report>>,
}

#[pymethods]
impl Episode {
    /// Starts a run. Intervals have `length` seconds, or one round trip without it.
    #[new]
    #[pyo3(signature = (scenario, seed, length=None))]
    fn new(scenario: &ResolvedScenario, seed: u64, length: Option<f64>) -> PyResult<Self> {
        scenario.check_backend()?;
        let scenario = scenario.inner().clone();
        let ((sender, measured), (decisions, receiver)) = (sync_channel(1), sync_channel(1));
        let is_closed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_closed);
        let thread = spawn(move || {
            EXCHANGE.set(Some(Exchange { measured: sender, decisions: receiver, length }));
            let report = simulate(&scenario, seed, &flag);
            // Of a run in which nothing was acknowledged.
            drop(take_exchange());
            report
        });
        Ok(Self(Mutex::new(Some(Running { measured, decisions, is_closed, thread }))))
    }

    /// Waits for the end of an interval. Returns its measurements by name, or at the end of the run its result.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Step<'py>> {
        loop {
            match py.detach(|| self.next_interval()) {
                Ok(measured) => return Ok((Some(measured.by_name()), None)),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let running = self.running().take().ok_or_else(ended)?;
        let report = py.detach(|| running.stop())?;
        Ok((None, Some(report::to_dict(py, report)?)))
    }

    /// Continues the run with a window in segments.
    fn decide(&self, cwnd: f64) -> PyResult<()> {
        let decided = self.running().as_ref().map(|running| running.decisions.try_send(cwnd));
        decided.and_then(Result::ok).ok_or_else(ended)
    }

    /// Ends the run and waits for its thread.
    fn close(&self, py: Python<'_>) {
        if let Some(running) = self.running().take() {
            running.is_closed.store(true, Ordering::Relaxed);
            drop(py.detach(|| running.stop()));
        }
    }
}

impl Episode {
    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_interval(&self) -> Result<Measured, RecvTimeoutError> {
        self.running().as_ref().map_or(Err(RecvTimeoutError::Disconnected), |run| run.measured.recv_timeout(SIGNALS))
    }
}

impl Drop for Episode {
    fn drop(&mut self) {
        // The thread ends by itself when it next asks.
        if let Some(running) = self.running().take() {
            running.is_closed.store(true, Ordering::Relaxed);
        }
    }
}

impl Running {
    /// Returns the run's result; without its channels the run continues with the window that it has.
    fn stop(self) -> PyResult<Report> {
        let Self { measured, decisions, thread, .. } = self;
        drop((measured, decisions));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Runs a scenario in this thread until it is closed.
fn simulate(scenario: &Scenario, seed: u64, is_closed: &AtomicBool) -> PyResult<Report> {
    let mut failure = None;
    let mut keep_going = |_done: f64| {
        failure = plugin::take_failure();
        failure.is_none() && !is_closed.load(Ordering::Relaxed)
    };
    let report = earlybird_experiment::run(scenario, seed, &Outputs::default(), &mut keep_going);
    let report = report.map_err(|error| failure.unwrap_or_else(|| run_error(error)))?;
    // Of the last events, after which nothing asked.
    plugin::take_failure().map_or(Ok(report), Err)
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the run has ended, or does not wait for a decision")
}
