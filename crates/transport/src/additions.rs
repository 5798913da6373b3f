//! Congestion controls that a program adds to a register, and the schema of `endpoint` with their tables.

use crate::controls::{BUILT_IN, ControlTable, Entry};
use crate::name::{Detection, FINE_GRAINED, Kind, is_control_name};
use crate::plugin::Plugin;
use crate::register::Transports;
use crate::settings::Endpoint;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use std::fmt;

/// The reason why a congestion control cannot be added to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// The name is not made of lower-case letters, digits and hyphens, is longer than 31 letters, or has a reserved suffix.
    NotAName(&'static str),
    /// The name is that of another transport, or of another key of `endpoint`.
    InUse(&'static str),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAName(name) => write!(
                formatter,
                "`{name}` is not a name for a congestion control: up to 31 small letters, digits and hyphens, beginning with a \
                 letter, without the ends -er, -rack and -fg"
            ),
            Self::InUse(name) => {
                write!(formatter, "`{name}` is already the name of a transport or a key of `endpoint`")
            }
        }
    }
}

impl std::error::Error for RegisterError {}

impl Transports {
    /// Returns a register with one more congestion control: by its name as a transport, and by its table in `endpoint`.
    ///
    /// A control that is already there changes nothing.
    ///
    /// # Errors
    /// If the name cannot be used, see [`RegisterError`].
    pub fn with<T: ControlTable>(&self) -> Result<Self, RegisterError> {
        let entry = Entry::of::<T>();
        // By type and not by name: the same control may be added by two libraries, two controls of one name may not.
        if self.controls().iter().any(|known| (known.table)() == (entry.table)()) {
            return Ok(self.clone());
        }
        self.check_name(T::NAME)?;
        Ok(Self::of(self.controls().iter().copied().chain([entry]).collect()))
    }

    /// Returns a register with a plugin, which replaces one of the same name.
    ///
    /// # Errors
    /// If the name cannot be used, see [`RegisterError`].
    pub fn with_plugin(&self, plugin: Plugin) -> Result<Self, RegisterError> {
        let is_other = |entry: &&Entry| entry.plugin().is_none_or(|known| known.name != plugin.name);
        let others = Self::of(self.controls().iter().filter(is_other).copied().collect());
        others.check_name(plugin.name)?;
        Ok(Self::of(others.controls().iter().copied().chain([Entry::of_plugin(plugin)]).collect()))
    }

    fn check_name(&self, name: &'static str) -> Result<(), RegisterError> {
        let suffixes = Detection::WITH_SUFFIX.iter().map(|detection| detection.suffix()).chain([FINE_GRAINED]);
        // A name with such an end could be read in two ways.
        let has_suffix = suffixes.into_iter().any(|suffix| name.ends_with(suffix));
        if has_suffix || !is_control_name(name) || Kind::control(name).is_none() {
            return Err(RegisterError::NotAName(name));
        }
        // The name becomes a key of `endpoint`, beside those that it has.
        let is_key = self.endpoint_schema()["properties"].get(name).is_some();
        if is_key || self.parse(name).is_ok() { Err(RegisterError::InUse(name)) } else { Ok(()) }
    }

    /// Returns the JSON schema of the table `endpoint`.
    pub fn endpoint_schema(&self) -> &Value {
        self.schema().get_or_init(|| {
            let mut schema = schemars::schema_for!(Endpoint).to_value();
            self.extend_schema(&mut schema);
            schema
        })
    }

    /// Adds the names and tables of added congestion controls to a schema that contains [`Endpoint`]'s, at its root or among
    /// its definitions.
    pub fn extend_schema(&self, schema: &mut Value) {
        let added = &self.controls()[BUILT_IN.len()..];
        // The schema of the built-in ones stays byte for byte what documents were generated from.
        if added.is_empty() {
            return;
        }
        let mut generator = SchemaGenerator::default();
        let tables: Map<String, Value> =
            added.iter().map(|entry| (entry.name.to_owned(), (entry.schema)(&mut generator).to_value())).collect();
        // After all tables: each may add definitions, and some share them.
        let definitions = generator.take_definitions(true);
        schema["$defs"]["Transport"]["enum"] = json!(self.names());
        // `Endpoint` is the root of its own schema, and a definition in the one of scenarios.
        let at_root = schema["$defs"].get("Endpoint").is_none();
        let endpoint = if at_root { &mut schema["properties"] } else { &mut schema["$defs"]["Endpoint"]["properties"] };
        endpoint.as_object_mut().into_iter().for_each(|properties| properties.extend(tables.clone()));
        schema["$defs"].as_object_mut().into_iter().for_each(|known| known.extend(definitions.clone()));
    }
}
