//! Steps that undo changes when a congestion control is unloaded.

use crate::cgroups;
use crate::namespaces::Namespace;
use crate::routes;
use libbpf_rs::{MapCore, MapHandle};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The undo step of one change.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoStep {
    /// Restore the default of a namespace.
    Default {
        /// The namespace, for [`Namespace::open`].
        namespace: String,
        /// The new default.
        control: String,
        /// The previous default.
        before: String,
    },
    /// Restore a route.
    Route {
        /// The namespace, for [`Namespace::open`].
        namespace: String,
        /// The previous route, as an argument of `ip route`.
        before: String,
    },
    /// Remove a cgroup.
    ControlGroup(PathBuf),
    /// Delete a registration that does not end with its holder: the identifier of its map.
    Registration(u32),
}

/// An undo step with its open resources, whose names may be gone by then.
#[derive(Debug)]
pub enum OpenUndo {
    /// See [`Step::Default`].
    Default(Namespace, String, String),
    /// See [`Step::Route`].
    Route(Namespace, String),
    /// See [`Step::ControlGroup`].
    ControlGroup(PathBuf),
    /// See [`Step::Registration`].
    Registration(MapHandle),
}

impl UndoStep {
    /// Opens its resources. Returns `None` if they do not exist any more, so that nothing is to be undone.
    pub fn open(self) -> Option<OpenUndo> {
        match self {
            Self::Default { namespace, control, before } => {
                Some(OpenUndo::Default(Namespace::open(&namespace).ok()?, control, before))
            }
            Self::Route { namespace, before } => Some(OpenUndo::Route(Namespace::open(&namespace).ok()?, before)),
            Self::ControlGroup(path) => Some(OpenUndo::ControlGroup(path)),
            Self::Registration(map) => Some(OpenUndo::Registration(MapHandle::from_map_id(map).ok()?)),
        }
    }
}

impl OpenUndo {
    /// Executes the step. Later changes by others stay.
    pub fn undo(&self) {
        match self {
            Self::Default(namespace, control, before) => {
                // Somebody else may have set another default since.
                if namespace.default_control().is_ok_and(|now| now == *control) {
                    let _ = namespace.set_default(before);
                }
            }
            Self::Route(namespace, before) => {
                let _ = routes::reset(namespace, before);
            }
            Self::ControlGroup(group) => cgroups::remove(group),
            Self::Registration(map) => {
                // Deleting the only element unregisters a struct_ops map without link.
                let _ = map.delete(&0_u32.to_ne_bytes());
            }
        }
    }
}
