//! The Python extension `earlybird._core`: conversions only.

mod capture;
mod emulate;
mod media;
mod transmit;

use earlybird_experiment::{Column, Outputs, Report, RunError, Table, Value};
use earlybird_scenario::{Backend, Resolver, Scenario, Transports};
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

create_exception!(
    earlybird._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run; `str()` is one paragraph for the person who wrote it."
);

fn scenario_error(error: earlybird_scenario::ScenarioError) -> PyErr {
    let exception = ScenarioError::new_err(error.to_string());
    let attributes = [("path", error.path), ("value", error.value), ("allowed", error.allowed), ("hint", error.hint)];
    // Setting an attribute of an exception only fails if memory is short; the message is there in any case.
    Python::attach(|py| {
        let _ = attributes.into_iter().try_for_each(|(name, value)| exception.value(py).setattr(name, value));
    });
    exception
}

fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Scenario(error) => scenario_error(error),
        RunError::Output { path, error } => {
            PyOSError::new_err((error.raw_os_error(), error.to_string(), path.display().to_string()))
        }
        RunError::Namespace(error) => emulate::no_namespace(&error),
        RunError::Machine { problem, error } => PyOSError::new_err(format!("{problem}: {error}")),
        RunError::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// Turns TOML or JSON into the canonical JSON of the complete, valid scenario; files that it names are in `folder`.
#[pyfunction]
#[pyo3(signature = (text, overrides, folder=""))]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
fn resolve(text: &str, overrides: Vec<(String, String)>, folder: &str) -> PyResult<String> {
    let folder = Path::new(folder);
    let scenario = Resolver { folder, media: &media::WithPython, ..Resolver::default() }.resolve(text, &overrides);
    let scenario = scenario.map_err(scenario_error)?;
    Ok(earlybird_scenario::canonical_json(&scenario))
}

/// Lists what a complete scenario declares that nothing reads or that cannot matter, one paragraph each.
#[pyfunction]
fn unused(scenario_json: &str) -> PyResult<Vec<String>> {
    let scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    Ok(earlybird_experiment::unused_settings(&scenario).iter().map(ToString::to_string).collect())
}

/// Lists what of the files that a run is to write is not what one may expect, one paragraph each.
#[pyfunction]
#[pyo3(signature = (scenario_json, *, trace=None, qlog=None, trace_flows=None, pcap=None))]
fn output_warnings(
    scenario_json: &str,
    trace: Option<PathBuf>,
    qlog: Option<PathBuf>,
    trace_flows: Option<Vec<String>>,
    pcap: Option<PathBuf>,
) -> PyResult<Vec<String>> {
    let scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    let trace_flows = trace_flows.unwrap_or_default();
    let outputs = Outputs { trace, qlog, trace_flows, capture: pcap, ..Outputs::default() };
    let warnings = earlybird_experiment::output_warnings(&scenario, &outputs).map_err(scenario_error)?;
    Ok(warnings.iter().map(ToString::to_string).collect())
}

/// Lists what in a complete scenario can be run but is probably not meant, one paragraph each.
#[pyfunction]
fn warnings(scenario_json: &str) -> PyResult<Vec<String>> {
    let scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    let warnings = earlybird_experiment::warnings(&scenario).map_err(scenario_error)?;
    Ok(warnings.iter().map(ToString::to_string).collect())
}

/// Returns what a run of a complete scenario takes: packets, seconds of processor time, and bytes of memory.
///
/// # Errors
/// `ScenarioError` if that is more than `limit` bytes.
#[pyfunction]
#[pyo3(signature = (scenario_json, limit, *, trace=None, qlog=None, link_trace=None))]
fn estimate(
    scenario_json: &str,
    limit: f64,
    trace: Option<PathBuf>,
    qlog: Option<PathBuf>,
    link_trace: Option<PathBuf>,
) -> PyResult<(f64, f64, f64)> {
    let scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    let outputs = Outputs { trace, qlog, link_trace, ..Outputs::default() };
    let estimate = earlybird_experiment::estimate(&scenario, &outputs).map_err(scenario_error)?;
    estimate.within(limit).map_err(scenario_error)?;
    Ok((estimate.packets, estimate.seconds, estimate.bytes))
}

/// Lists the keys of a complete scenario under which something is drawn at random that can matter.
#[pyfunction]
fn random_parts(scenario_json: &str) -> PyResult<Vec<String>> {
    let scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    earlybird_experiment::random_parts(&scenario).map_err(scenario_error)
}

/// Reads a rate as scenarios write it; gives bits per second.
#[pyfunction]
fn rate(text: &str) -> PyResult<u64> {
    let rate: earlybird_scenario::Rate = text.parse().map_err(scenario_error)?;
    Ok(rate.rate().bits_per_second())
}

/// Reads a duration as scenarios write it; gives seconds.
#[pyfunction]
fn duration(text: &str) -> PyResult<f64> {
    let time: earlybird_scenario::Time = text.parse().map_err(scenario_error)?;
    Ok(time.duration().as_secs_f64())
}

/// Returns the JSON schema of scenarios.
#[pyfunction]
fn schema() -> String {
    earlybird_scenario::schema(&Transports::built_in())
}

/// Returns the table of transports as JSON.
#[pyfunction]
fn transports() -> String {
    Transports::built_in().to_json()
}

/// Checks that the backend in which a complete scenario takes place can do what it asks for.
#[pyfunction]
fn check_backend(scenario_json: &str) -> PyResult<()> {
    let scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    match scenario.backend {
        Backend::Sim => Ok(()),
        Backend::Live => earlybird_backends::live::check(&scenario).map_err(scenario_error),
        Backend::Kernel => earlybird_backends::kernel::check(&scenario).map_err(scenario_error),
    }
}

/// Runs a scenario in its backend; writes the files that are asked for. Gives its summary, its tables of
/// columns, and the processor time it took.
///
/// `watch` is called some twenty times a second with the share of the run that is done; what it raises ends the run.
#[pyfunction]
#[pyo3(signature = (
    scenario_json, seed, *, trace=None, qlog=None, trace_flows=None, link_trace=None, pcap=None, watch=None
))]
#[expect(clippy::too_many_arguments, reason = "the keywords of the Python function")]
fn run<'py>(
    py: Python<'py>,
    scenario_json: &str,
    seed: u64,
    trace: Option<PathBuf>,
    qlog: Option<PathBuf>,
    trace_flows: Option<Vec<String>>,
    link_trace: Option<PathBuf>,
    pcap: Option<PathBuf>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario: Scenario = earlybird_scenario::resolve(scenario_json, &[]).map_err(scenario_error)?;
    let trace_flows = trace_flows.unwrap_or_default();
    let outputs = Outputs { trace, qlog, trace_flows, link_trace, capture: pcap };
    // Read here and not around this function: handing over the tables loads numpy, which is not part of the run.
    let clock = py.import("time")?.getattr("thread_time")?;
    let before: f64 = clock.call0()?.extract()?;
    let watch = watch.map(|watch| watch.clone().unbind());
    let mut raised = None;
    let mut looks = Looks::default();
    let report = py.detach(|| {
        let mut keep_going = |done: f64| match looks.take(|| Python::attach(|py| look(py, watch.as_ref(), done))) {
            Ok(()) => true,
            Err(error) => {
                raised = Some(error);
                false
            }
        };
        match scenario.backend {
            Backend::Sim => earlybird_experiment::run(&scenario, seed, &outputs, &mut keep_going),
            Backend::Live => earlybird_backends::live::run(&scenario, seed, &outputs, &mut keep_going),
            Backend::Kernel => earlybird_backends::kernel::run(&scenario, seed, &outputs, &mut keep_going),
        }
    });
    let report = report.map_err(|error| raised.unwrap_or_else(|| run_error(error)))?;
    let spent = clock.call0()?.extract::<f64>()? - before;
    let result = report_dict(py, report)?;
    result.set_item("cpu_s", spent)?;
    Ok(result)
}

/// Time between two looks at what Python wants.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Looks now and then, as the interpreter's lock is dear.
#[derive(Default)]
struct Looks {
    last: Option<Instant>,
}

impl Looks {
    #[expect(clippy::disallowed_methods, reason = "when to look depends on the person who waits")]
    fn take(&mut self, look: impl FnOnce() -> PyResult<()>) -> PyResult<()> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < BETWEEN_LOOKS) {
            return Ok(());
        }
        self.last = Some(now);
        look()
    }
}

/// Lets Python answer signals and watch the run.
fn look(py: Python<'_>, watch: Option<&Py<PyAny>>, done: f64) -> PyResult<()> {
    py.check_signals()?;
    watch.map_or(Ok(()), |watch| watch.call1(py, (done,)).map(drop))
}

fn report_dict(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyDict>> {
    let summary = PyDict::new(py);
    for (key, value) in report.summary {
        match value {
            Value::Float(value) => summary.set_item(key, value)?,
            Value::Integer(value) => summary.set_item(key, value)?,
            Value::String(value) => summary.set_item(key, value)?,
        }
    }
    let tables = PyDict::new(py);
    for (name, table) in report.tables {
        tables.set_item(name, table_dict(py, table)?)?;
    }
    let result = PyDict::new(py);
    result.set_item("summary", summary)?;
    result.set_item("tables", tables)?;
    Ok(result)
}

fn table_dict(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Float(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Integer(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Boolean(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::String(values) => columns.set_item(name, PyList::new(py, values)?)?,
        }
    }
    Ok(columns)
}

/// Returns the version of earlybird.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the hash of the code that decides what a run gives in a backend.
#[pyfunction]
#[pyo3(signature = (backend = "sim"))]
fn code_version(backend: &str) -> &'static str {
    match backend {
        "kernel" => env!("EARLYBIRD_KERNEL_VERSION"),
        "live" => env!("EARLYBIRD_LIVE_VERSION"),
        _ => env!("EARLYBIRD_SIM_VERSION"),
    }
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(warnings, module)?)?;
    module.add_function(wrap_pyfunction!(unused, module)?)?;
    module.add_function(wrap_pyfunction!(output_warnings, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(random_parts, module)?)?;
    module.add_function(wrap_pyfunction!(rate, module)?)?;
    module.add_function(wrap_pyfunction!(duration, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(transports, module)?)?;
    module.add_function(wrap_pyfunction!(check_backend, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add("NamespaceError", module.py().get_type::<emulate::NamespaceError>())?;
    module.add("HostError", module.py().get_type::<emulate::HostError>())?;
    module.add_function(wrap_pyfunction!(emulate::emulate, module)?)?;
    module.add_function(wrap_pyfunction!(transmit::check_address, module)?)?;
    module.add_function(wrap_pyfunction!(transmit::transmit, module)?)?;
    module.add_function(wrap_pyfunction!(capture::tcp_segments, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(code_version, module)?)?;
    Ok(())
}
