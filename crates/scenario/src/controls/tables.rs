use super::{Entry, entries, entry_of};
use crate::document::join;
use crate::error::ScenarioError;
use crate::model::Profile;
use earlybird_tcp::Control;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The tables of all congestion controls in `endpoint`, each in full.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ControlTables(Map<String, Value>);

impl ControlTables {
    /// Returns the control of this name with the parameters that its table says; `None` if there is none of that name.
    pub fn control(&self, name: &str, profile: Profile) -> Option<Control> {
        entry_of(name).map(|entry| (entry.control)(self.table(entry), profile))
    }

    pub(crate) fn check(&self, profile: Profile, path: &str) -> Result<(), ScenarioError> {
        entries().try_for_each(|entry| (entry.check)(self.table(entry), profile, &join(path, entry.name)))
    }

    fn table(&self, entry: Entry) -> &Value {
        self.0.get(entry.name).unwrap_or(&Value::Null)
    }

    /// Reads the tables that are given, and takes the others as their defaults.
    fn complete(mut given: Map<String, Value>) -> serde_json::Result<Self> {
        let mut tables = Map::new();
        for entry in entries() {
            let own = given.remove(entry.name).unwrap_or_else(|| Value::Object(Map::new()));
            tables.insert(entry.name.to_owned(), (entry.complete)(own)?);
        }
        match given.keys().next() {
            Some(key) => Err(serde_json::Error::custom(format!("unknown field `{key}`"))),
            None => Ok(Self(tables)),
        }
    }
}

impl Default for ControlTables {
    fn default() -> Self {
        // An empty table is legal, as every one has a default.
        Self::complete(Map::new()).unwrap_or(Self(Map::new()))
    }
}

impl<'de> Deserialize<'de> for ControlTables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::complete(Map::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for ControlTables {
    fn schema_name() -> Cow<'static, str> {
        "ControlTables".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = entries().map(|entry| (entry.name.to_owned(), (entry.schema)(generator).to_value()));
        let properties: Map<String, Value> = keys.collect();
        json_schema!({ "type": "object", "properties": properties })
    }
}
