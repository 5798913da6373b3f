//! `_core.emulate`: a command in an emulated network.

use crate::network::ResolvedNetwork;
use crate::scenario::ResolvedScenario;
use crate::scenario_error;
use earlybird_emulator::shell::{
    CommandExit, FarHost, LinkSnapshot, Programs, Shell, ShellError, ShellOutcome, Snapshot,
};
use earlybird_emulator::{Capture, DelayHistogram, Emulator, FlowRoute, FlowRoutes};
use earlybird_experiment::{Emulation, emulation, network_emulation};
use earlybird_sim::{FlowId, GroupId};
use earlybird_units::Duration;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::path::{Path, PathBuf};

create_exception!(
    earlybird._core,
    NamespaceError,
    PyOSError,
    "The system does not provide a network namespace with a TUN device."
);
create_exception!(
    earlybird._core,
    HostError,
    PyOSError,
    "The system does not let the process add a device to its network."
);

/// A network with the path of a flow through it, or a network by itself.
#[derive(FromPyObject)]
pub(crate) enum EmulationSource<'py> {
    Scenario(PyRef<'py, ResolvedScenario>),
    Network(PyRef<'py, ResolvedNetwork>),
}

/// Runs a command whose packets cross the network of a scenario or a network by itself. Returns its exit code and the counters of the network.
///
/// `watch` is called several times a second: once a second with the state of the network, else with `None`. An exception of it ends
/// the command.
#[pyfunction]
#[pyo3(signature = (source, seed, command, *, servers, far, resolver=None, mtu, flow=None, pcap=None, watch))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "the keywords of the Python function")]
pub(crate) fn emulate<'py>(
    py: Python<'py>,
    source: EmulationSource<'_>,
    seed: u64,
    command: Vec<String>,
    servers: Vec<Vec<String>>,
    far: &str,
    resolver: Option<PathBuf>,
    mtu: u16,
    flow: Option<&str>,
    pcap: Option<PathBuf>,
    watch: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let emulated = match source {
        EmulationSource::Scenario(scenario) => emulation(scenario.inner(), seed, flow),
        EmulationSource::Network(network) => network_emulation(&network.0, seed),
    };
    let Emulation { network, route_pair } = emulated.map_err(scenario_error)?;
    // The command is one flow, whatever connections it opens: all its packets take the route of the chosen flow.
    let route = FlowRoute { forward: route_pair.there, reverse: route_pair.back, flow: FlowId(0), group: GroupId(0) };
    let emulator = Emulator::new(network, FlowRoutes::all(route), ());
    let capture = pcap.as_deref().map(begin_capture).transpose()?;
    let shell = Shell::new(mtu, far_side(far)?).map_err(shell_error)?;
    let programs = Programs { command, servers, resolver };
    let watch = watch.unbind();
    // The emulator runs without the interpreter's lock; an exception of `watch` is carried around it.
    let mut raised = None;
    let outcome = py.detach(|| {
        let poll = |snapshot| {
            raised = Python::attach(|py| poll(py, &watch, snapshot)).err();
            raised.is_none()
        };
        shell.run(&programs, emulator, capture, poll)
    });
    let outcome = outcome.map_err(|error| PyOSError::new_err(error.to_string()))?;
    raised.map_or_else(|| outcome_dict(py, &outcome), Err)
}

fn far_side(name: &str) -> PyResult<FarHost> {
    match name {
        "machine" => Ok(FarHost::ThisMachine),
        "own" => Ok(FarHost::Namespace),
        "gateway" => Ok(FarHost::Gateway),
        _ => Err(PyValueError::new_err(format!("there is no far side `{name}`"))),
    }
}

fn begin_capture(path: &Path) -> PyResult<Capture> {
    Capture::create(path).map_err(|error| file_error(&error, path))
}

fn file_error(error: &io::Error, path: &Path) -> PyErr {
    PyOSError::new_err((error.raw_os_error(), error.to_string(), path.display().to_string()))
}

pub(crate) fn namespace_error(error: &io::Error) -> PyErr {
    NamespaceError::new_err((error.raw_os_error(), error.to_string()))
}

fn shell_error(error: ShellError) -> PyErr {
    match error {
        ShellError::Namespace(error) => namespace_error(&error),
        ShellError::Host(error) => HostError::new_err((error.raw_os_error(), error.to_string())),
    }
}

fn poll(py: Python<'_>, watch: &Py<PyAny>, snapshot: Option<Snapshot>) -> PyResult<()> {
    py.check_signals()?;
    let snapshot = snapshot.map(|snapshot| snapshot_dict(py, &snapshot)).transpose()?;
    watch.call1(py, (snapshot,)).map(drop)
}

fn outcome_dict<'py>(py: Python<'py>, outcome: &ShellOutcome) -> PyResult<Bound<'py, PyDict>> {
    let result = snapshot_dict(py, &outcome.last)?;
    // The convention of shells: 128 and the number of the signal.
    let code = match outcome.exit {
        CommandExit::Exited(code) => Some(code),
        CommandExit::Signalled(signal) => Some(128 + signal),
        CommandExit::Stopped => None,
    };
    result.set_item("exit_code", code)?;
    // A full disk ends the capture; the counters are valid anyway.
    result.set_item("capture_error", outcome.capture.as_ref().err().map(ToString::to_string))?;
    Ok(result)
}

fn snapshot_dict<'py>(py: Python<'py>, snapshot: &Snapshot) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_s", snapshot.at.as_secs_f64())?;
    let links: Vec<_> = snapshot.links.iter().map(|link| link_dict(py, link)).collect::<PyResult<_>>()?;
    dict.set_item("links", links)?;
    dict.set_item("unrouted", snapshot.rejections.unrouted)?;
    dict.set_item("overflows", snapshot.rejections.overflows)?;
    dict.set_item("undelivered", snapshot.stats.undelivered)?;
    dict.set_item("device_drops", snapshot.device_drops)?;
    dict.set_item("delay_added", timing_dict(py, &snapshot.stats.delays)?)?;
    Ok(dict)
}

fn link_dict<'py>(py: Python<'py>, link: &LinkSnapshot) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("link", &link.name)?;
    dict.set_item("packets_in", link.total.packets_in)?;
    dict.set_item("packets_out", link.total.packets_out)?;
    dict.set_item("packets_dropped", link.total.packets_dropped)?;
    dict.set_item("packets_marked", link.total.packets_marked)?;
    dict.set_item("bytes_out", link.total.bytes_out)?;
    dict.set_item("packets_waiting", link.total.packets_waiting)?;
    dict.set_item("queue_packets", link.waiting)?;
    dict.set_item("max_queue_packets", link.most_waiting)?;
    dict.set_item("mean_queue_delay_ms", link.mean_queue_delay_ms)?;
    Ok(dict)
}

fn timing_dict<'py>(py: Python<'py>, timing: &DelayHistogram) -> PyResult<Bound<'py, PyDict>> {
    let micros = |delay: Duration| delay.as_nanos() as f64 / 1e3;
    let dict = PyDict::new(py);
    dict.set_item("packets", timing.packets())?;
    for (name, share) in [("p50_us", 0.5), ("p90_us", 0.9), ("p99_us", 0.99), ("p999_us", 0.999)] {
        dict.set_item(name, micros(timing.quantile(share)))?;
    }
    dict.set_item("max_us", micros(timing.max()))?;
    Ok(dict)
}
