use crate::controls::{BUILT_IN, Entry};
use crate::error::{ScenarioError, join};
use crate::profile::Profile;
use crate::register::Transports;
use earlybird_tcp::Control;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The tables of all congestion controls in `endpoint`, each in full, with the register that gives them their meaning.
///
/// Deserialization completes the tables of built-in controls. [`ControlTables::of`] does so for another register.
#[derive(Clone, Debug)]
pub struct ControlTables {
    tables: Map<String, Value>,
    transports: Transports,
}

impl ControlTables {
    /// Completes tables by the controls of a register.
    ///
    /// # Errors
    /// If there is a table that belongs to no control, or that does not have the form of its control's.
    pub fn of(mut self, transports: &Transports) -> Result<Self, ScenarioError> {
        // Deserialization has completed the built-in tables already.
        if !transports.is_built_in() {
            self.complete(transports).map_err(|error| ScenarioError::new("", format!("does not fit: {error}")))?;
        }
        let unknown = self.tables.keys().find(|name| transports.control(name).is_none());
        let error = |name: &String| ScenarioError::new(name, "is not a key here").text(name);
        unknown.map_or(Ok(()), |name| Err(error(name)))?;
        Ok(Self { transports: transports.clone(), ..self })
    }

    /// Returns the register by which the tables are read.
    pub const fn transports(&self) -> &Transports {
        &self.transports
    }

    /// Returns the control that this name means under a profile, with the parameters of its table; `None` if the register has
    /// none.
    pub fn control(&self, name: &str, profile: Profile) -> Option<Control> {
        self.transports.control(profile.control_named(name)).map(|entry| entry.control(self.table(entry), profile))
    }

    pub(crate) fn check(&self, profile: Profile, path: &str) -> Result<(), ScenarioError> {
        let controls = self.transports.controls();
        controls.iter().try_for_each(|entry| entry.check(self.table(entry), profile, &join(path, entry.name)))
    }

    /// Writes into the table of a plugin by which of its builds the scenario is run; other controls have none.
    pub fn set_build(&mut self, name: &str) {
        let Some(plugin) = self.transports.control(name).and_then(Entry::plugin) else { return };
        let table = self.tables.entry(plugin.name).or_insert_with(|| Value::Object(Map::new()));
        // A build that is given stays: the check compares it with the loaded one.
        if table.get("build").is_none() {
            table["build"] = plugin.build.into();
        }
    }

    /// Returns the names of the plugins that have a table here: after [`Self::set_build`], of those that are used.
    pub fn plugins(&self) -> impl Iterator<Item = &'static str> {
        let plugins = self.transports.controls().iter().filter_map(Entry::plugin);
        plugins.map(|plugin| plugin.name).filter(|name| self.tables.contains_key(*name))
    }

    fn table(&self, entry: &Entry) -> &Value {
        self.tables.get(entry.name).unwrap_or(&Value::Null)
    }

    /// Writes every table of a register's controls in full, so that equal settings are equal texts.
    fn complete(&mut self, transports: &Transports) -> serde_json::Result<()> {
        for entry in transports.controls() {
            // A plugin that is loaded and not used changes no scenario, so that results of other transports are kept.
            if entry.plugin().is_some() && !self.tables.contains_key(entry.name) {
                continue;
            }
            let given = self.tables.remove(entry.name).unwrap_or_else(|| Value::Object(Map::new()));
            self.tables.insert(entry.name.to_owned(), (entry.complete)(given)?);
        }
        Ok(())
    }
}

/// Tables are compared by content: two registers may differ in controls that neither endpoint uses.
impl PartialEq for ControlTables {
    fn eq(&self, other: &Self) -> bool {
        self.tables == other.tables
    }
}

impl Default for ControlTables {
    fn default() -> Self {
        let mut tables = Self { tables: Map::new(), transports: Transports::built_in() };
        // It cannot fail: every table has defaults, so that an empty one is legal.
        let _ = tables.complete(&Transports::built_in());
        tables
    }
}

impl Serialize for ControlTables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tables.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ControlTables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By the built-in register, as serde knows no other; `of` reads the tables again by theirs.
        let transports = Transports::built_in();
        let mut tables = Self { tables: Map::deserialize(deserializer)?, transports };
        tables.complete(&Transports::built_in()).map_err(serde::de::Error::custom)?;
        Ok(tables)
    }
}

impl JsonSchema for ControlTables {
    fn schema_name() -> Cow<'static, str> {
        "ControlTables".into()
    }

    // The tables are keys of `endpoint` itself, into which they are flattened.
    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let controls = BUILT_IN.iter();
        let properties: Map<String, Value> =
            controls.map(|entry| (entry.name.to_owned(), (entry.schema)(generator).to_value())).collect();
        json_schema!({ "type": "object", "properties": properties })
    }
}
