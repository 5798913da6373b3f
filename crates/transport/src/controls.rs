//! The congestion controls that a transport can be named after: those of `earlybird-tcp`, and those that a program adds.
//!
//! A control's table of parameters is a type with the control's name, title and source, from which the control is made. Names,
//! keys, the schema, messages and the list of transports are read from here.

mod entry;

pub(crate) use entry::Entry;

use crate::error::ScenarioError;
use crate::name::Detection;
use crate::profile::Profile;
use earlybird_tcp::Control;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Writes the list of the built-in controls, one line for each: its file and the type of its table.
macro_rules! built_in {
    ($($file:ident: $table:ident,)*) => {
        $(mod $file; pub use $file::*;)*

        /// The controls of `earlybird-tcp` that have a name of their own, in the order in which they are listed.
        pub(crate) const BUILT_IN: &[Entry] = &[$(Entry::of::<$table>(),)*];
    };
}

built_in! {
    vegas: Vegas,
    cubic: Cubic,
    pert: Pert,
    bbr3: Bbr3,
    bbr1: Bbr1,
    copa: Copa,
    prague: Prague,
}

/// The table of a congestion control's parameters in a scenario, `endpoint.NAME`.
///
/// Its `Default` is used if a scenario has no such table. Doc comments and `schemars` attributes of the type are what the schema, the
/// messages and the reference say.
pub trait ControlTable: Default + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// The transport's name, without ends; the table's key in `endpoint`.
    const NAME: &'static str;
    /// A description in a few words.
    const TITLE: &'static str;
    /// The publication or implementation that describes it.
    const SOURCE: &'static str;
    /// The detections that the name may select by suffix.
    const DETECTIONS: &'static [Detection] = Detection::ALL;

    /// Checks what no schema can, for an endpoint of this profile; `path` is where the table stands.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    fn check(&self, _profile: Profile, _path: &str) -> Result<(), ScenarioError> {
        Ok(())
    }

    /// Returns the control. [`Control::custom_with`] makes one of a [`ControlFactory`](earlybird_tcp::ControlFactory).
    fn control(&self, profile: Profile) -> Control;
}
