//! Events of a local end that users should know.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The last event; shared by the thread of a local end and the relay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notice(Arc<Mutex<Option<String>>>);

impl Notice {
    /// Replaces the last event.
    pub(crate) fn set(&self, event: impl fmt::Display) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(event.to_string());
    }

    /// Returns the last event.
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
