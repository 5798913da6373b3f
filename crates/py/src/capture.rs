//! The contents of packet captures.

use earlybird_capture::{Reading, Segment};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// Reads the TCP segments of a capture, pcap or pcapng, as far as it goes.
///
/// Returns the number of its `packets` of any kind, how many of them are `others` than TCP by what they are, why it `breaks_off` or None, its `connections` as pairs of addresses, and
/// `segments` as a table of columns.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over what it converted")]
pub(crate) fn tcp_segments(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    // Captures have gigabytes: other threads of Python, such as a progress bar, go on meanwhile.
    let reading = py.detach(|| earlybird_capture::read(&path))?;
    let result = PyDict::new(py);
    result.set_item("packets", reading.packets)?;
    result.set_item("others", &reading.others)?;
    result.set_item("breaks_off", &reading.breaks_off)?;
    let connections = reading.connections.iter().map(|ends| ends.map(|end| end.to_string()));
    result.set_item("connections", PyList::new(py, connections.collect::<Vec<_>>())?)?;
    result.set_item("segments", columns(py, &reading)?)?;
    Ok(result)
}

fn columns<'py>(py: Python<'py>, reading: &Reading) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    // Counted from the first one, times in seconds are exact to the nanosecond.
    let begin = reading.segments.first().map_or(0, |first| first.at_ns);
    columns.set_item("time_s", column(py, reading, |one| (i128::from(one.at_ns) - i128::from(begin)) as f64 / 1e9))?;
    columns.set_item("connection", column(py, reading, |one| one.connection))?;
    columns.set_item("backwards", column(py, reading, |one| one.backwards))?;
    columns.set_item("seq", column(py, reading, |one| one.seq))?;
    columns.set_item("ack", column(py, reading, |one| one.ack))?;
    columns.set_item("payload", column(py, reading, |one| one.payload))?;
    columns.set_item("ip_id", column(py, reading, |one| one.ip_id))?;
    columns.set_item("is_syn", column(py, reading, |one| one.is_syn))?;
    columns.set_item("is_ack", column(py, reading, |one| one.is_ack))?;
    columns.set_item("ts_value", column(py, reading, |one| one.timestamp.0))?;
    columns.set_item("ts_echo", column(py, reading, |one| one.timestamp.1))?;
    Ok(columns)
}

fn column<'py, T: Element>(
    py: Python<'py>,
    reading: &Reading,
    value: impl Fn(&Segment) -> T,
) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_vec(py, reading.segments.iter().map(value).collect())
}
