//! The files that a run writes, as Python hands them over.

use earlybird_experiment::Outputs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The fields of the Python class `Outputs`: `files`, the path of each file by its name, and `flows`, those to trace.
///
/// Names instead of one field per file: a new file needs no change here.
#[derive(FromPyObject)]
pub(crate) struct OutputsDict {
    files: BTreeMap<String, PathBuf>,
    flows: Vec<String>,
}

/// Returns the outputs of a run.
///
/// # Errors
/// `ValueError` if runs write no file of that name.
pub(crate) fn outputs(given: Option<OutputsDict>) -> PyResult<Outputs> {
    let Some(given) = given else { return Ok(Outputs::default()) };
    // Flows without a trace are valid here: `output_warnings` reports them.
    let mut outputs = Outputs { trace_flows: given.flows, ..Outputs::default() };
    for (name, path) in given.files {
        let file = outputs.file_mut(&name);
        *file.ok_or_else(|| PyValueError::new_err(format!("runs write no file `{name}`")))? = Some(path);
    }
    Ok(outputs)
}
