//! The description of an experiment: read, overridden, resolved and checked, and nothing else.
//!
//! A scenario is TOML or JSON text. [`resolve`] applies `--set` overrides, parameters and variants and gives a checked
//! [`Scenario`]; whatever is wrong is a [`ScenarioError`] that names the key, the value, what is allowed and a hint. What
//! a profile leaves open stays open (`None`): the experiment fills it in.
#![forbid(unsafe_code)]

mod allowed;
mod changes;
mod check;
mod config;
mod controls;
mod decimal;
mod declarations;
mod document;
mod endpoints;
mod error;
mod frames;
mod location;
mod media;
mod model;
mod names;
mod nearby;
mod overrides;
mod parameters;
mod quantity;
mod schema;
mod shape;
mod suggest;
mod traces;
mod transport;
mod validate;

pub use changes::{Setting, visit_settings};
pub use controls::{
    AlphaRule, Bbr, ControlTable, ControlTables, Copa, Cubic, CubicVersion, CurveTail, LossFactor, MaxDelay, Pert,
    PertForm, PertPreset, PiDesign, Prague, RegisterError, SlowStart, Vegas, VegasPreset, keep, register,
};
pub use error::ScenarioError;
pub use location::line_of;
pub use media::{ReadMedia, Wanted};
pub use model::*;
pub use quantity::{Fraction, Rate, Time};
pub use schema::schema;
pub use suggest::nearest;
pub use transport::{
    Datagram, Detection, Kind, Preset, QuicCarriage, Repair, Transport, transport_names, transports_json,
};

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Reads a scenario and makes everything in it explicit: overrides, variants and parameters are applied, in this order
/// of precedence, and every check is made.
///
/// `text` is JSON if it starts with a brace, else TOML. An override's key is a parameter, or a key path with list elements
/// by name or number (`flows.video.count`); its value is TOML, or a bare text.
///
/// Files that it names count from the working folder, see [`resolve_in`].
///
/// # Errors
/// The first thing that is wrong, see [`ScenarioError`].
pub fn resolve(text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    resolve_in(Path::new(""), text, overrides)
}

/// Does the same as [`resolve`] for a scenario that names files in `folder`: their content becomes part of it.
///
/// # Errors
/// The first thing that is wrong, see [`ScenarioError`].
pub fn resolve_in(folder: &Path, text: &str, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    resolve_with(&media::NoMedia, folder, text, overrides)
}

/// Does the same as [`resolve_in`] for a scenario that may name video files: what `reader` finds in them becomes part of it.
///
/// # Errors
/// The first thing that is wrong, see [`ScenarioError`].
pub fn resolve_with(
    reader: &dyn ReadMedia,
    folder: &Path,
    text: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    let mut document = document::parse(text)?;
    let variants = declarations::take_variants(&mut document)?;
    let paths = parameters::assign(&mut document, overrides)?;
    parameters::overlay(&mut document, &variants)?;
    for (key, value) in paths {
        overrides::set(&mut document, key, value)?;
    }
    let mut filled = parameters::substitute(&document)?;
    let files = traces::read(&mut filled, folder).and_then(|()| media::read(&mut filled, folder, reader));
    let scenario = files.and_then(|()| build(&filled, folder));
    scenario.map_err(|error| parameters::blame(error, &document))
}

/// Writes a scenario as JSON with sorted keys, without spaces: equal scenarios give equal texts.
///
/// [`resolve`] reads it back to the same scenario.
pub fn canonical_json(scenario: &Scenario) -> String {
    // Only maps with keys other than texts fail, and the model has none.
    let mut value = serde_json::to_value(scenario).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

/// Checks a document without parameters and makes a scenario of it.
fn build(document: &Value, folder: &Path) -> Result<Scenario, ScenarioError> {
    check::check(document, shape::Shape::root(), "")?;
    let mut scenario: Scenario = deserialize(document, "")?;
    if document.pointer("/measure/warm-up").is_none() {
        scenario.measure.shorten_warm_up(scenario.duration);
    }
    scenario.choose_transports(document);
    scenario.settle_endpoints()?;
    scenario.read_frames(folder)?;
    validate::validate(&scenario, document)?;
    Ok(scenario)
}

fn deserialize<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, ScenarioError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = document::join(path, &document::named(value, &error.path().to_string()));
        ScenarioError::new(&path, format!("does not fit: {}", error.inner()))
    })
}
