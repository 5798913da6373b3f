//! Video files in scenarios, read by `earlybird.media`.

use earlybird_scenario::{ReadMedia, ScenarioError, Wanted};
use pyo3::prelude::*;
use std::path::Path;

/// Reads video files with the Python package: `FFmpeg` comes with its dependency `PyAV`.
pub(crate) struct WithPython;

impl ReadMedia for WithPython {
    fn read(&self, file: &Path, wanted: Wanted) -> Result<String, ScenarioError> {
        // Scenarios are parsed while the lock is held; attaching again costs nothing.
        Python::attach(|py| document_of(py, file, wanted).map_err(|error| reader_error(py, &error)))
    }
}

fn document_of(py: Python<'_>, file: &Path, wanted: Wanted) -> PyResult<String> {
    let name = if wanted == Wanted::Film { "film_document" } else { "media_document" };
    py.import("earlybird.media")?.getattr(name)?.call1((file,))?.extract()
}

/// Converts an exception of the reader: its `problem` and `hint`, if it has them, else its text.
fn reader_error(py: Python<'_>, error: &PyErr) -> ScenarioError {
    let part = |name: &str| error.value(py).getattr(name).and_then(|part| part.extract::<String>()).ok();
    let problem = part("problem").unwrap_or_else(|| error.to_string());
    ScenarioError { problem, hint: part("hint").unwrap_or_default(), ..Default::default() }
}
