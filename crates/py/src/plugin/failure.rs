//! The failure of a control. The trait of controls returns no errors, so that a run asks for it between events.

use pyo3::PyErr;
use std::cell::Cell;

/// The reason for which a control returned no decision.
pub(super) enum Raised {
    /// A panic or an exception: its place if it is known, and its text.
    Error { line: Option<u32>, text: String },
    /// Ctrl-C, or another end of the program.
    Exit(PyErr),
}

thread_local! {
    // A run is made by one thread, and threads make runs at the same time.
    static FAILURE: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Keeps the first failure of a run.
pub(crate) fn set_failure(error: PyErr) {
    let first = FAILURE.take().unwrap_or(error);
    FAILURE.set(Some(first));
}

/// Returns the failure of a control in this thread since the last call.
pub(crate) fn take_failure() -> Option<PyErr> {
    FAILURE.take()
}
