//! Controls in Python: an object of a class for each connection.

use super::abi::{ACK, Event, INTERVAL, LOSS, NO_RATE, Output, Setup};
use super::failure::Raised;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;

/// The control of one connection.
#[derive(Debug)]
pub(super) struct Object {
    object: Py<PyAny>,
    is_paced: bool,
}

/// The settings of a connection, as `__init__` of a control gets them.
#[pyclass(frozen, get_all, module = "earlybird._core")]
pub(crate) struct ControlSetup {
    /// Window to begin with, in segments.
    initial_window: f64,
    /// Largest allowed window in segments.
    largest_window: f64,
    /// Payload of a full segment in bytes.
    mss: f64,
    /// Seed for random numbers.
    seed: u64,
}

/// An event of a connection, as the methods of a control get it.
#[pyclass(frozen, module = "earlybird._core")]
pub(crate) struct ControlEvent(Event);

#[pymethods]
impl ControlEvent {
    #[getter]
    fn now(&self) -> f64 {
        self.0.now
    }

    #[getter]
    fn acked(&self) -> f64 {
        self.0.acked
    }

    #[getter]
    fn growth(&self) -> f64 {
        self.0.growth
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        known(self.0.rtt)
    }

    #[getter]
    fn in_flight(&self) -> f64 {
        self.0.in_flight
    }

    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        known(self.0.delivery_rate)
    }

    #[getter]
    fn delivered(&self) -> f64 {
        self.0.delivered
    }

    #[getter]
    fn lost(&self) -> f64 {
        self.0.lost
    }

    #[getter]
    fn is_app_limited(&self) -> bool {
        self.0.is_app_limited != 0
    }

    #[getter]
    fn is_mark(&self) -> bool {
        self.0.is_mark != 0
    }
}

fn known(number: f64) -> Option<f64> {
    (!number.is_nan()).then_some(number)
}

/// Makes an object of a class for a connection.
pub(super) fn make(class: &Py<PyAny>, setup: &Setup, is_paced: bool) -> Result<(Object, Output), Raised> {
    let Setup { initial_window, largest_window, mss, seed } = *setup;
    Python::attach(|py| {
        let object = class.call1(py, (ControlSetup { initial_window, largest_window, mss, seed },))?;
        let object = Object { object, is_paced };
        let output = object.decision(py)?;
        Ok((object, output))
    })
    .map_err(raised)
}

impl Object {
    pub(super) fn handle(&self, event: &Event) -> Result<Output, Raised> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            match event.kind {
                ACK => object.call_method1(intern!(py, "on_ack"), (ControlEvent(*event),))?,
                LOSS => object.call_method1(intern!(py, "on_loss"), (ControlEvent(*event),))?,
                INTERVAL => object.call_method0(intern!(py, "on_interval"))?,
                _ => object.call_method0(intern!(py, "on_rto"))?,
            };
            self.decision(py)
        })
        .map_err(raised)
    }

    fn decision(&self, py: Python<'_>) -> PyResult<Output> {
        let object = self.object.bind(py);
        let cwnd = object.getattr(intern!(py, "cwnd"))?.extract()?;
        let rate = if self.is_paced { object.getattr(intern!(py, "pacing_rate"))?.extract()? } else { None };
        Ok(Output { cwnd, pacing_rate: rate.unwrap_or(NO_RATE) })
    }
}

/// Separates mistakes of a control from Ctrl-C.
fn raised(error: PyErr) -> Raised {
    Python::attach(|py| {
        if !error.is_instance_of::<PyException>(py) {
            return Raised::Exit(error);
        }
        let text = error.value(py).to_string();
        let separator = if text.is_empty() { "" } else { ": " };
        let name = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
        Raised::Error { line: line(&error, py), text: format!("raised {name}{separator}{text}") }
    })
}

/// Returns the line of the control in which an exception was raised: that of the outermost call.
fn line(error: &PyErr, py: Python<'_>) -> Option<u32> {
    error.traceback(py)?.getattr("tb_lineno").ok()?.extract().ok()
}
