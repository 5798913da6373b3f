//! `_core.transmit`: a relay.

use crate::scenario_error;
use earlybird_relay::{Address, Command, ConnectionStats, PathStats, RelayError, Report, transmit as relay};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Checks an address of a relay's end. Raises `ValueError`, one sentence, if it is not valid.
#[pyfunction]
pub(crate) fn check_address(text: &str) -> PyResult<()> {
    Address::parse(text).map(drop).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Carries a live stream from one address to another until its source ends or `watch` stops it. Returns the last report.
///
/// `watch` is called many times a second: once a second with a report, else with `None`. It returns whether to continue. If not, the
/// relay sends or plays what it holds, and ends. An exception of it ends the relay at once.
#[pyfunction]
pub(crate) fn transmit<'py>(
    py: Python<'py>,
    source: &str,
    destination: &str,
    watch: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let read = |text: &str| Address::parse(text).map_err(|error| PyValueError::new_err(error.to_string()));
    let (from, to) = (read(source)?, read(destination)?);
    let watch = watch.unbind();
    // The relay runs without the interpreter's lock; an exception of `watch` is stored and re-raised.
    let mut raised = None;
    let report = py.detach(|| {
        let mut poll = |report: Option<&Report>| match Python::attach(|py| poll(py, &watch, report)) {
            Ok(true) => Command::Continue,
            Ok(false) => Command::Drain,
            Err(error) => {
                raised = Some(error);
                Command::Stop
            }
        };
        relay((source, &from), (destination, &to), &mut poll)
    });
    if let Some(error) = raised {
        return Err(error);
    }
    report_dict(py, &report.map_err(relay_error)?)
}

fn relay_error(error: RelayError) -> PyErr {
    match error {
        RelayError::Transport(error) => scenario_error(error),
        RelayError::End(address, error) => match error.raw_os_error() {
            // With a code Python chooses the subclass, such as `ConnectionRefusedError`.
            Some(code) => PyOSError::new_err((code, error.to_string(), address)),
            None => PyOSError::new_err(format!("{address}: {error}")),
        },
        // Two relays, or none: the addresses are wrong, not the system.
        RelayError::Ends(_) => PyValueError::new_err(error.to_string()),
    }
}

fn poll(py: Python<'_>, watch: &Py<PyAny>, report: Option<&Report>) -> PyResult<bool> {
    py.check_signals()?;
    let report = report.map(|report| report_dict(py, report)).transpose()?;
    watch.call1(py, (report,))?.extract(py)
}

/// Returns a report with SRT's names where the meaning is the same.
fn report_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_s", report.at.as_secs_f64())?;
    dict.set_item("peers", report.peers)?;
    dict.set_item("reconnects", report.reconnects)?;
    dict.set_item("refusal", report.refusal.as_deref())?;
    dict.set_item("foreign", report.foreign.as_deref())?;
    dict.set_item("notice", report.notice.as_deref())?;
    dict.set_item("units", report.counters.units)?;
    dict.set_item("bytes", report.counters.bytes)?;
    dict.set_item("bytesOut", report.counters.bytes_out)?;
    dict.set_item("pktSndDrop", report.counters.dropped)?;
    dict.set_item("pktRetrans", report.counters.retransmissions)?;
    dict.set_item("pktRcvDrop", report.counters.lost)?;
    dict.set_item("pktRcvBelated", report.counters.late)?;
    dict.set_item("pktRcvUndecrypt", report.counters.undecrypted)?;
    dict.set_item("refusedConnections", report.counters.refused_connections)?;
    dict.set_item("refused", report.counters.refused)?;
    dict.set_item("unitsLeft", report.unsent.units)?;
    dict.set_item("bytesLeft", report.unsent.bytes)?;
    dict.set_item("msRcvBuf", report.buffer.as_nanos() as f64 / 1e6)?;
    // Values of an earlier connection must not stay.
    set_path(&dict, report.path.unwrap_or_default())?;
    let connections = report.connections.iter().map(|connection| connection_dict(py, connection));
    dict.set_item("connections", connections.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

fn connection_dict<'py>(py: Python<'py>, connection: &ConnectionStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("address", connection.address.to_string())?;
    dict.set_item("caller", connection.caller.as_deref())?;
    dict.set_item("age_s", connection.age.as_secs_f64())?;
    dict.set_item("bytesOut", connection.bytes_out)?;
    dict.set_item("pktSndDrop", connection.dropped)?;
    dict.set_item("pktRetrans", connection.retransmissions)?;
    set_path(&dict, connection.path)?;
    Ok(dict)
}

fn set_path(dict: &Bound<'_, PyDict>, path: PathStats) -> PyResult<()> {
    dict.set_item("msRTT", path.rtt.map(|rtt| rtt.as_nanos() as f64 / 1e6))?;
    dict.set_item("pktCongestionWindow", path.cwnd)?;
    dict.set_item("pktFlightSize", path.in_flight)
}
