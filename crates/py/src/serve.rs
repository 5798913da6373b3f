//! `_core.serve`: a TCP proxy.

use crate::scenario_error;
use earlybird_serve::{Command, Report, ServeError, Settings, check_transport, serve as run};
use earlybird_units::Duration;
use pyo3::exceptions::{PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Checks a transport of a proxy. Raises `ScenarioError` if ordinary clients cannot receive from it.
#[pyfunction]
pub(crate) fn check_serve_transport(name: &str) -> PyResult<()> {
    check_transport(name).map_err(scenario_error)
}

/// Accepts connections at an address behind a TUN device and forwards them to a server, until `watch` ends it. Returns the last report.
///
/// `watch` is called many times a second: once a second with a report, else with `None`. It returns whether to continue; `None`
/// lets the open connections end, and false resets them. An exception of it ends the proxy at once.
#[pyfunction]
#[pyo3(signature = (address, port, server, *, device, transport, max_connections, idle_timeout_s, watch))]
#[expect(clippy::too_many_arguments, reason = "the keywords of the Python function")]
pub(crate) fn serve<'py>(
    py: Python<'py>,
    address: IpAddr,
    port: u16,
    server: (IpAddr, u16),
    device: String,
    transport: String,
    max_connections: usize,
    idle_timeout_s: f64,
    watch: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let idle_timeout = Duration::from_secs_f64(idle_timeout_s);
    let server = SocketAddr::from(server);
    let settings = Settings { address, port, server, device, transport, max_connections, idle_timeout };
    let watch = watch.unbind();
    // The proxy runs without the interpreter's lock; an exception of `watch` is stored and re-raised.
    let mut raised = None;
    let report = py.detach(|| {
        let mut poll = |report: Option<&Report>| match Python::attach(|py| poll(py, &watch, report)) {
            Ok(Some(true)) => Command::Continue,
            Ok(None) => Command::Drain,
            Ok(Some(false)) => Command::Stop,
            Err(error) => {
                raised = Some(error);
                Command::Stop
            }
        };
        run(&settings, &mut poll)
    });
    match raised {
        Some(error) => Err(error),
        None => report_dict(py, &report.map_err(serve_error)?),
    }
}

fn serve_error(error: ServeError) -> PyErr {
    match error {
        ServeError::Transport(error) => scenario_error(error),
        ServeError::Device(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            PyPermissionError::new_err(error.to_string())
        }
        ServeError::Device(error) => PyOSError::new_err(error.to_string()),
        ServeError::Stack(_) | ServeError::OpenFiles { .. } => PyValueError::new_err(error.to_string()),
    }
}

fn poll(py: Python<'_>, watch: &Py<PyAny>, report: Option<&Report>) -> PyResult<Option<bool>> {
    py.check_signals()?;
    let report = report.map(|report| report_dict(py, report)).transpose()?;
    watch.call1(py, (report,))?.extract(py)
}

fn report_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let (counters, senders) = (&report.counters, &report.senders);
    let dict = PyDict::new(py);
    dict.set_item("time_s", report.at.as_secs_f64())?;
    dict.set_item("open", report.open)?;
    dict.set_item("accepted", counters.accepted)?;
    dict.set_item("refused", counters.refused)?;
    dict.set_item("unreachable", counters.unreachable)?;
    dict.set_item("broken", counters.broken)?;
    dict.set_item("idle", counters.idle)?;
    dict.set_item("bytes_in", counters.bytes_in)?;
    dict.set_item("bytes_out", counters.bytes_out)?;
    dict.set_item("segments_sent", senders.segments_sent)?;
    dict.set_item("retransmissions", senders.retransmissions)?;
    dict.set_item("fast_retransmits", senders.fast_retransmits)?;
    dict.set_item("early_retransmissions", senders.early_on_first + senders.early_on_second)?;
    dict.set_item("timeouts", senders.timeouts)?;
    dict.set_item("srtt_ms", report.srtt.map(|rtt| rtt.as_nanos() as f64 / 1e6))?;
    dict.set_item("is_draining", report.is_draining)?;
    Ok(dict)
}
