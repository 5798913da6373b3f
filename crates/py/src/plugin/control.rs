//! A loaded control, and that of one connection.

use super::abi::{Event, Output, Setup};
use super::class::{self, Object};
use super::failure::Raised;
use super::library::{Instance, Library};
use pyo3::{Py, PyAny};

/// A control that was loaded.
#[derive(Debug)]
pub(super) struct LoadedControl {
    name: &'static str,
    file: &'static str,
    is_paced: bool,
    has_interval: bool,
    maker: Maker,
}

/// The origin of a control.
#[derive(Debug)]
pub(super) enum Maker {
    Library(Library),
    Class(Py<PyAny>),
}

/// The control of one connection.
#[derive(Debug)]
pub(super) enum Running {
    Library(Instance),
    Object(Object),
}

impl LoadedControl {
    pub(super) fn new(name: String, file: &str, is_paced: bool, has_interval: bool, maker: Maker) -> Self {
        Self { name: name.leak(), file: file.to_owned().leak(), is_paced, has_interval, maker }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn file(&self) -> &'static str {
        self.file
    }

    pub(super) const fn is_paced(&self) -> bool {
        self.is_paced
    }

    pub(super) const fn has_interval(&self) -> bool {
        self.has_interval
    }

    /// Makes the control of a connection.
    pub(super) fn make(&self, setup: &Setup) -> Result<(Running, Output), Raised> {
        match &self.maker {
            Maker::Library(library) => {
                library.make(setup).map(|(instance, output)| (Running::Library(instance), output))
            }
            Maker::Class(class) => {
                class::make(class, setup, self.is_paced).map(|(object, output)| (Running::Object(object), output))
            }
        }
    }
}

impl Running {
    pub(super) fn handle(&mut self, event: &Event) -> Result<Output, Raised> {
        match self {
            Self::Library(instance) => instance.handle(event),
            Self::Object(object) => object.handle(event),
        }
    }
}
