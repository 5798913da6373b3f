//! The results of a run as dictionaries and numpy arrays.

use earlybird_experiment::{Column, Report, Table, Value};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns the `summary` and the `tables` of a run.
pub(crate) fn to_dict(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyDict>> {
    // Dictionaries keep the order of insertion, which is the order of the columns in files.
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
            // `from_vec` takes over the allocation: tables of many million rows are not copied.
            Column::Float(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Integer(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::Boolean(values) => columns.set_item(name, PyArray1::from_vec(py, values))?,
            Column::String(values) => columns.set_item(name, PyList::new(py, values)?)?,
        }
    }
    Ok(columns)
}
