//! Congestion controls that users load: libraries with a C interface, and classes of Python.

#[expect(unreachable_pub, reason = "the file is also a part of the template, whose crate exports it")]
#[path = "../../../../python/earlybird/templates/control/src/abi.rs"]
mod abi;
mod class;
mod control;
mod factory;
mod failure;
mod library;
mod limits;
mod window;

pub(crate) use class::{ControlEvent, ControlSetup};
pub(crate) use failure::{set_failure, take_failure};
pub(crate) use limits::largest_window;

use crate::scenario_error;
use control::{LoadedControl, Maker};
use earlybird_scenario::{Plugin, ScenarioError, Transports};
use pyo3::prelude::*;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

static TRANSPORTS: RwLock<Option<Transports>> = RwLock::new(None);

/// Returns the transports of this process: the built-in ones, and those that were loaded.
pub(crate) fn transports() -> Transports {
    TRANSPORTS.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Loads a library of the C interface. Returns the name of its congestion control.
#[pyfunction]
pub(crate) fn load_library(path: &str, build: &str) -> PyResult<String> {
    let library = library::open(Path::new(path)).map_err(scenario_error)?;
    let (name, title, is_paced) = (library.name(), library.title(), library.is_paced());
    add(LoadedControl::new(name, path, is_paced, true, Maker::Library(library)), title, build).map_err(scenario_error)
}

/// Loads a class of Python as a congestion control.
#[pyfunction]
pub(crate) fn load_class(kind: Bound<'_, PyAny>, name: &str, title: &str, path: &str, build: &str) -> PyResult<String> {
    let (is_paced, has_interval) = (kind.hasattr("pacing_rate")?, kind.hasattr("on_interval")?);
    let control = LoadedControl::new(name.to_owned(), path, is_paced, has_interval, Maker::Class(kind.unbind()));
    add(control, title.to_owned(), build).map_err(scenario_error)
}

/// Adds a control to the transports of this process.
fn add(control: LoadedControl, title: String, build: &str) -> Result<String, ScenarioError> {
    // Never freed: configurations are copied and own nothing, and a process loads few.
    let control: &'static LoadedControl = Box::leak(Box::new(control));
    let plugin = Plugin {
        name: control.name(),
        title: title.leak(),
        source: control.file(),
        build: build.to_owned().leak(),
        factory: Box::leak(Box::new(control)),
    };
    add_plugin(plugin)?;
    Ok(control.name().to_owned())
}

/// Adds a control under its name.
pub(crate) fn add_plugin(plugin: Plugin) -> Result<(), ScenarioError> {
    let larger = transports().with_plugin(plugin);
    let larger = larger.map_err(|error| ScenarioError::new(plugin.source, error.to_string()))?;
    *TRANSPORTS.write().unwrap_or_else(PoisonError::into_inner) = Some(larger);
    Ok(())
}
