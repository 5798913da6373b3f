//! What has to be put back when a congestion control goes.

use crate::groups;
use crate::namespaces::Namespace;
use crate::routes;
use libbpf_rs::{MapCore, MapHandle};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One thing that was changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The default of a namespace, which had another before.
    Default {
        /// As [`Namespace::open`] takes it.
        namespace: String,
        /// What stands there now.
        control: String,
        /// What stood there.
        before: String,
    },
    /// A route, as it was.
    Route {
        /// As [`Namespace::open`] takes it.
        namespace: String,
        /// As `ip route` takes it.
        before: String,
    },
    /// A control group that was made.
    ControlGroup(PathBuf),
    /// A registration that does not end by itself: the number of its map.
    Registration(u32),
}

/// A step with what it needs, held open, as its name may be gone by then.
#[derive(Debug)]
pub enum Held {
    /// See [`Step::Default`].
    Default(Namespace, String, String),
    /// See [`Step::Route`].
    Route(Namespace, String),
    /// See [`Step::ControlGroup`].
    ControlGroup(PathBuf),
    /// See [`Step::Registration`].
    Registration(MapHandle),
}

impl Step {
    /// Opens what it needs; `None` if that is not there any more, so that there is nothing to put back.
    pub fn hold(self) -> Option<Held> {
        match self {
            Self::Default { namespace, control, before } => {
                Some(Held::Default(Namespace::open(&namespace).ok()?, control, before))
            }
            Self::Route { namespace, before } => Some(Held::Route(Namespace::open(&namespace).ok()?, before)),
            Self::ControlGroup(path) => Some(Held::ControlGroup(path)),
            Self::Registration(map) => Some(Held::Registration(MapHandle::from_map_id(map).ok()?)),
        }
    }
}

impl Held {
    /// Puts it back. What somebody else has changed in the meantime stays.
    pub fn undo(&self) {
        match self {
            Self::Default(namespace, control, before) => {
                if namespace.default_control().is_ok_and(|now| now == *control) {
                    let _ = namespace.set_default(before);
                }
            }
            Self::Route(namespace, before) => {
                let _ = routes::reset(namespace, before);
            }
            Self::ControlGroup(group) => groups::remove(group),
            Self::Registration(map) => {
                let _ = map.delete(&0_u32.to_ne_bytes());
            }
        }
    }
}
