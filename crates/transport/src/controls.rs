//! The congestion controls that a transport can be named after: those of `earlybird-tcp`, and those that a program adds.
//!
//! A control's table of parameters is a type with the control's name, title and source, from which the control is made. Names,
//! keys, the schema, messages and the list of transports are read from here.

mod bbr;
mod copa;
mod cubic;
mod entry;
mod pert;
mod prague;
mod tables;
mod vegas;

pub use bbr::Bbr;
pub use copa::Copa;
pub use cubic::{Cubic, CubicVersion, SlowStart};
pub(crate) use entry::Entry;
pub use pert::{AlphaRule, CurveTail, LossFactor, MaxDelay, Pert, PertForm, PertPreset, PiDesign};
pub use prague::Prague;
pub use tables::ControlTables;
pub use vegas::{Vegas, VegasPreset};

use crate::error::ScenarioError;
use crate::name::Detection;
use crate::settings::Profile;
use earlybird_tcp::Control;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The controls of `earlybird-tcp` that have a name of their own, in the order in which they are listed.
pub(crate) const BUILT_IN: &[Entry] = &[
    Entry::of::<Vegas>(),
    Entry::of::<Cubic>(),
    Entry::of::<Pert>(),
    Entry::of::<Bbr>(),
    Entry::of::<Copa>(),
    Entry::of::<Prague>(),
];

/// The table of a congestion control's parameters in a scenario, `endpoint.NAME`.
///
/// Its `Default` is the table of whoever gives none. Doc comments and `schemars` attributes of the type are what the schema, the
/// messages and the reference say.
pub trait ControlTable: Default + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// The transport's name, without ends; the table's key in `endpoint`.
    const NAME: &'static str;
    /// What it is, in a few words.
    const TITLE: &'static str;
    /// Where it is described.
    const SOURCE: &'static str;
    /// The ends that the name may have.
    const DETECTIONS: &'static [Detection] = &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack];

    /// Checks what no schema can, for an endpoint of this profile; `path` is where the table stands.
    ///
    /// # Errors
    /// What is wrong.
    fn check(&self, _profile: Profile, _path: &str) -> Result<(), ScenarioError> {
        Ok(())
    }

    /// Returns the control. [`Control::custom_with`] makes one of a [`ControlFactory`](earlybird_tcp::ControlFactory).
    fn control(&self, profile: Profile) -> Control;
}
