use super::ControlTable;
use crate::error::ScenarioError;
use crate::name::Detection;
use crate::plugin::{Plugin, PluginTable};
use crate::profile::Profile;
use earlybird_tcp::Control;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};
use std::any::TypeId;

/// A [`ControlTable`] without its type, or a plugin.
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
    check: fn(&Value, Profile, &str) -> Result<(), ScenarioError>,
    maker: Maker,
    pub(crate) table: fn() -> TypeId,
}

/// The maker of an entry's control.
#[derive(Clone, Copy)]
enum Maker {
    Table(fn(&Value, Profile) -> Control),
    Plugin(Plugin),
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
            maker: Maker::Table(|value, profile| table::<T>(value).control(profile)),
            table: TypeId::of::<T>,
        }
    }

    pub(crate) const fn of_plugin(plugin: Plugin) -> Self {
        Self {
            name: plugin.name,
            title: plugin.title,
            source: plugin.source,
            detections: Detection::ALL,
            schema: |generator| generator.subschema_for::<PluginTable>(),
            complete: |value| serde_json::to_value(serde_json::from_value::<PluginTable>(value)?),
            check: |_, _, _| Ok(()),
            maker: Maker::Plugin(plugin),
            table: TypeId::of::<PluginTable>,
        }
    }

    /// Returns the plugin; `None` for a control that was compiled with the program.
    pub(crate) const fn plugin(&self) -> Option<&Plugin> {
        if let Maker::Plugin(plugin) = &self.maker { Some(plugin) } else { None }
    }

    pub(crate) fn check(&self, value: &Value, profile: Profile, path: &str) -> Result<(), ScenarioError> {
        self.plugin().map_or_else(|| (self.check)(value, profile, path), |plugin| plugin.check(value, path))
    }

    /// Returns the control that a table means.
    pub(crate) fn control(&self, value: &Value, profile: Profile) -> Control {
        match self.maker {
            Maker::Table(control) => control(value, profile),
            Maker::Plugin(plugin) => Control::custom(plugin.factory),
        }
    }
}

/// Reads a table that was checked before; one that is not there is the default.
fn table<T: ControlTable>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn schema<T: ControlTable>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = generator.subschema_for::<T>();
    let about = description_of(&schema, generator).unwrap_or(T::TITLE);
    // The description of a key is one sentence; later paragraphs are those of the type.
    let about = about.split("\n\n").next().unwrap_or(about).trim_end_matches('.');
    let about = format!("{about} (transports with `{}`).", T::NAME);
    schema.insert("description".to_owned(), json!(about));
    // schemars states the default of fields, and the table is none: it is added by hand.
    schema.insert("default".to_owned(), serde_json::to_value(T::default()).unwrap_or_default());
    schema
}

/// Returns the description of the definition that a schema refers to.
fn description_of<'a>(schema: &Schema, generator: &'a SchemaGenerator) -> Option<&'a str> {
    // The definition is there already: a second schema of the type would take as long as the first.
    let name = schema.get("$ref")?.as_str()?.rsplit('/').next()?;
    generator.definitions().get(name)?.get("description")?.as_str()
}
