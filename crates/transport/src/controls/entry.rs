use super::ControlTable;
use crate::error::ScenarioError;
use crate::name::Detection;
use crate::profile::Profile;
use earlybird_tcp::Control;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};
use std::any::TypeId;

/// A [`ControlTable`] without its type.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) source: &'static str,
    pub(crate) detections: &'static [Detection],
    /// Describes the table as a key of `endpoint`.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// Writes a table in full, so that equal tables are equal texts.
    pub(crate) complete: fn(Value) -> serde_json::Result<Value>,
    pub(crate) check: fn(&Value, Profile, &str) -> Result<(), ScenarioError>,
    pub(crate) control: fn(&Value, Profile) -> Control,
    pub(crate) table: fn() -> TypeId,
}

impl Entry {
    pub(crate) const fn of<T: ControlTable>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            source: T::SOURCE,
            detections: T::DETECTIONS,
            schema: schema::<T>,
            complete: |value| serde_json::to_value(serde_json::from_value::<T>(value)?),
            check: |value, profile, path| table::<T>(value).check(profile, path),
            control: |value, profile| table::<T>(value).control(profile),
            table: TypeId::of::<T>,
        }
    }
}

/// Reads a table that was checked before; one that is not there is the default.
fn table<T: ControlTable>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn schema<T: ControlTable>(generator: &mut SchemaGenerator) -> Schema {
    let own = T::json_schema(generator);
    let about = own.get("description").and_then(Value::as_str).unwrap_or(T::TITLE);
    // The description of a key is one sentence; later paragraphs are those of the type.
    let about = about.split("\n\n").next().unwrap_or(about).trim_end_matches('.');
    let mut schema = generator.subschema_for::<T>();
    schema.insert("description".to_owned(), json!(format!("{about} (transports with `{}`).", T::NAME)));
    // schemars states the default of fields, and the table is none: it is added by hand.
    schema.insert("default".to_owned(), serde_json::to_value(T::default()).unwrap_or_default());
    schema
}
