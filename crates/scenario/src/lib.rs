//! The description of an experiment: read, overridden, resolved and checked, and nothing else.
//!
//! A scenario is TOML or JSON text. [`resolve`] applies `--set` overrides, parameters and variants, and returns a checked
//! [`Scenario`]; whatever is wrong is a [`ScenarioError`] with the key, the value, what is allowed and a hint. [`Resolver`] does
//! the same with files, videos and transports of a program's own. What a profile leaves open stays open (`None`):
//! [`Endpoint::protocol`] fills it in.
#![forbid(unsafe_code)]

mod document;
mod endpoints;
mod expected;
mod frames;
mod location;
mod media;
mod model;
mod names;
mod overrides;
mod parameter_checks;
mod parameter_values;
mod parameters;
mod perturbations;
mod resolver;
mod schema;
mod schema_check;
mod schema_walk;
mod similar_keys;
mod traces;
mod validate;
mod workload;

pub use earlybird_transport::{
    Datagram, Detection, Fraction, Kind, Plugin, Preset, QuicCarriage, Rate, Repair, ScenarioError, Time, Transport,
    Transports,
};
pub use location::line_of;
pub use media::{NoMedia, ReadMedia, Wanted};
pub use model::*;
pub use perturbations::{Setting, visit_settings};
pub use resolver::{Resolver, is_network, resolve, resolve_in};
pub use schema::schema;
pub use traces::trace_times;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Writes a scenario as JSON with sorted keys, without spaces: equal scenarios give equal texts.
///
/// [`resolve`] reads it back to the same scenario.
pub fn canonical_json(scenario: &Scenario) -> String {
    // Only maps with keys other than texts fail, and the model has none.
    let mut value = serde_json::to_value(scenario).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

fn deserialize<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, ScenarioError> {
    // The schema was checked before, in the user's terms; this is for what only serde finds.
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = earlybird_transport::join(path, &document::named(value, &error.path().to_string()));
        ScenarioError::new(&path, format!("does not fit: {}", error.inner()))
    })
}
