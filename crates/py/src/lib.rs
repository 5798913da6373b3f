//! The Python extension `earlybird._core`: conversions only.

mod capture;
mod emulate;
mod episode;
mod media;
mod network;
mod outputs;
mod plugin;
mod report;
mod scenario;
mod serve;
mod transmit;

use earlybird_experiment::RunError;
use earlybird_scenario::line_of;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::panic::PanicException;
use pyo3::prelude::*;

create_exception!(
    earlybird._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run; `str()` is one paragraph for the person who wrote it."
);

fn scenario_error(error: earlybird_scenario::ScenarioError) -> PyErr {
    located_error(error, "")
}

/// Returns the error of a text with the file that it is from, and the line if the error is in that file.
fn scenario_error_in(
    error: earlybird_scenario::ScenarioError,
    text: &str,
    overrides: &[(String, String)],
    source: Option<&str>,
) -> PyErr {
    let Some(source) = source else { return scenario_error(error) };
    // A value of the command line is not in the file, even if the file has one for the same key.
    let is_overridden = overrides.iter().any(|(key, _)| {
        let path = error.path.strip_prefix("parameters.").unwrap_or(&error.path);
        path.starts_with(key.as_str()) || key.starts_with(path)
    });
    if is_overridden {
        return scenario_error(error);
    }
    let line = line_of(text, &error.path).map_or_else(String::new, |line| format!("{line}:"));
    located_error(error, &format!("{source}:{line} "))
}

fn located_error(error: earlybird_scenario::ScenarioError, location: &str) -> PyErr {
    // The text has the location, `path` has not: programs compare paths.
    let exception = ScenarioError::new_err(format!("{location}{error}"));
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
        RunError::Namespace(error) => emulate::namespace_error(&error),
        RunError::Machine { problem, error } => PyOSError::new_err(format!("{problem}: {error}")),
        // Only Ctrl-C and an exception of `watch` interrupt; callers put the exception in the place of this one.
        RunError::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// Parses a rate as scenarios write it. Returns bits per second.
#[pyfunction]
fn rate(text: &str) -> PyResult<u64> {
    let rate: earlybird_scenario::Rate = text.parse().map_err(scenario_error)?;
    Ok(rate.rate().bits_per_second())
}

/// Parses a duration as scenarios write it. Returns seconds.
#[pyfunction]
fn duration(text: &str) -> PyResult<f64> {
    let time: earlybird_scenario::Time = text.parse().map_err(scenario_error)?;
    Ok(time.duration().as_secs_f64())
}

/// Returns the times in milliseconds at which a trace has delivery opportunities of 1500 bytes; `file` names it in errors.
#[pyfunction]
fn trace_times(text: &str, file: &str) -> PyResult<Vec<u64>> {
    earlybird_scenario::trace_times(text, file).map_err(scenario_error)
}

/// Returns the JSON schema of scenarios.
#[pyfunction]
fn schema() -> String {
    earlybird_scenario::schema(&plugin::transports())
}

/// Returns the table of transports as JSON.
#[pyfunction]
fn transports() -> String {
    plugin::transports().to_json()
}

/// Returns the version of earlybird.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the hash of the code that determines the results of a backend.
#[pyfunction]
#[pyo3(signature = (backend = "sim"))]
fn code_version(backend: &str) -> &'static str {
    match backend {
        "kernel" => env!("EARLYBIRD_KERNEL_VERSION"),
        "live" => env!("EARLYBIRD_LIVE_VERSION"),
        // Models and plans are computed by the simulator or in Python, whose changes have a revision of their own.
        _ => env!("EARLYBIRD_SIM_VERSION"),
    }
}

/// Panics. Tests that a panic becomes an exception.
#[pyfunction]
fn _panic() {
    panic!("requested panic");
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_function(wrap_pyfunction!(rate, module)?)?;
    module.add_function(wrap_pyfunction!(duration, module)?)?;
    module.add_function(wrap_pyfunction!(trace_times, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(transports, module)?)?;
    module.add_class::<scenario::ResolvedScenario>()?;
    module.add_class::<network::ResolvedNetwork>()?;
    module.add_class::<episode::Episode>()?;
    module.add_function(wrap_pyfunction!(episode::load_agent, module)?)?;
    module.add_class::<plugin::ControlSetup>()?;
    module.add_class::<plugin::ControlEvent>()?;
    module.add_function(wrap_pyfunction!(plugin::load_library, module)?)?;
    module.add_function(wrap_pyfunction!(plugin::load_class, module)?)?;
    module.add_function(wrap_pyfunction!(network::is_network, module)?)?;
    module.add("PanicException", module.py().get_type::<PanicException>())?;
    module.add_function(wrap_pyfunction!(_panic, module)?)?;
    module.add("NamespaceError", module.py().get_type::<emulate::NamespaceError>())?;
    module.add("HostError", module.py().get_type::<emulate::HostError>())?;
    module.add_function(wrap_pyfunction!(emulate::emulate, module)?)?;
    module.add_function(wrap_pyfunction!(transmit::check_address, module)?)?;
    module.add_function(wrap_pyfunction!(transmit::transmit, module)?)?;
    module.add_function(wrap_pyfunction!(serve::check_serve_transport, module)?)?;
    module.add_function(wrap_pyfunction!(serve::serve, module)?)?;
    module.add_function(wrap_pyfunction!(capture::tcp_segments, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(code_version, module)?)?;
    Ok(())
}
