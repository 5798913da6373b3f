//! The register of transports.

use crate::controls::{BUILT_IN, ControlTable, Entry};
use crate::did_you_mean::{did_you_mean, listed, nearest};
use crate::error::ScenarioError;
use crate::name::{Detection, FINE_GRAINED, Kind, Transport, is_control_name};
use crate::settings::Endpoint;
use crate::table::{REPAIRS, ROWS, Row};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

/// The transports that a document can name: those of this crate, and the congestion controls that a program adds.
///
/// A register is a value. Clones share its content; [`Transports::with`] makes a larger one and leaves the old one as it is.
#[derive(Clone)]
pub struct Transports(Arc<Register>);

struct Register {
    /// The congestion controls: the built-in ones, then the added ones.
    controls: Vec<Entry>,
    /// The schema of the table `endpoint`. It is large, and most registers are asked for it never or many times.
    schema: OnceLock<Value>,
}

/// Why a congestion control cannot be added to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// The name is not made of lower-case letters, digits and hyphens, is longer than 31 letters, or has a reserved suffix.
    NotAName(&'static str),
    /// The name is that of another transport, or of another key of `endpoint`.
    Taken(&'static str),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAName(name) => write!(
                formatter,
                "`{name}` is not a name for a congestion control: up to 31 small letters, digits and hyphens, beginning with a \
                 letter, without the ends -er, -rack and -fg"
            ),
            Self::Taken(name) => {
                write!(formatter, "`{name}` is already the name of a transport or a key of `endpoint`")
            }
        }
    }
}

impl std::error::Error for RegisterError {}

impl Default for Transports {
    fn default() -> Self {
        Self::built_in()
    }
}

impl fmt::Debug for Transports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.rows().map(|row| row.name)).finish()
    }
}

impl Transports {
    /// Returns the transports of this crate.
    pub fn built_in() -> Self {
        // A constant in all but name: the cache keeps the schema from being made anew for each document.
        static TRANSPORTS: LazyLock<Transports> = LazyLock::new(|| Transports::of(BUILT_IN.to_vec()));
        TRANSPORTS.clone()
    }

    fn of(controls: Vec<Entry>) -> Self {
        Self(Arc::new(Register { controls, schema: OnceLock::new() }))
    }

    /// Returns a register with one more congestion control: by its name as a transport, and by its table in `endpoint`.
    ///
    /// A control that is already there changes nothing.
    ///
    /// # Errors
    /// If the name cannot be used, see [`RegisterError`].
    pub fn with<T: ControlTable>(&self) -> Result<Self, RegisterError> {
        let entry = Entry::of::<T>();
        if self.controls().iter().any(|known| (known.table)() == (entry.table)()) {
            return Ok(self.clone());
        }
        self.check_name(T::NAME)?;
        Ok(Self::of(self.controls().iter().copied().chain([entry]).collect()))
    }

    fn check_name(&self, name: &'static str) -> Result<(), RegisterError> {
        let suffixes = Detection::WITH_SUFFIX.iter().map(|detection| detection.suffix()).chain([FINE_GRAINED]);
        let has_suffix = suffixes.into_iter().any(|suffix| name.ends_with(suffix));
        if has_suffix || !is_control_name(name) || Kind::control(name).is_none() {
            return Err(RegisterError::NotAName(name));
        }
        let is_key = self.endpoint_schema()["properties"].get(name).is_some();
        if is_key || self.parse(name).is_ok() { Err(RegisterError::Taken(name)) } else { Ok(()) }
    }

    /// Returns whether no congestion control was added.
    pub fn is_built_in(&self) -> bool {
        self.controls().len() == BUILT_IN.len()
    }

    /// Returns the congestion controls, the built-in ones first.
    pub(crate) fn controls(&self) -> &[Entry] {
        &self.0.controls
    }

    /// Returns the congestion control of this name.
    pub(crate) fn control(&self, name: &str) -> Option<&Entry> {
        self.controls().iter().find(|entry| entry.name == name)
    }

    /// Returns every transport without suffixes, in the order in which they are listed.
    fn rows(&self) -> impl Iterator<Item = Row> {
        let (repairs, others) = ROWS.split_at(REPAIRS);
        repairs.iter().copied().chain(self.controls().iter().copied().map(Row::from)).chain(others.iter().copied())
    }

    /// Reads a transport's name.
    ///
    /// # Errors
    /// If there is no such transport.
    pub fn parse(&self, text: &str) -> Result<Transport, ScenarioError> {
        let base = text.strip_suffix(FINE_GRAINED);
        let found = self.rows().flat_map(Row::names).find(|(name, _)| name == base.unwrap_or(text));
        let fits = |transport: &Transport| base.is_none() || !transport.kind.is_datagram();
        let (_, transport) = found.filter(|(_, transport)| fits(transport)).ok_or_else(|| self.unknown(text))?;
        Ok(Transport { fine_grained: base.is_some(), ..transport })
    }

    fn unknown(&self, text: &str) -> ScenarioError {
        let names = self.names();
        let guess = nearest(text, names.iter().map(String::as_str));
        ScenarioError::new("", "is not a transport").text(text).allowed(self.expected()).hint(did_you_mean(guess))
    }

    /// Returns all names.
    pub fn names(&self) -> Vec<String> {
        let with_timer = |(name, transport): (String, Transport)| {
            let suffixes: &[&str] = if transport.kind.is_datagram() { &[""] } else { &["", FINE_GRAINED] };
            suffixes.iter().map(move |suffix| format!("{name}{suffix}"))
        };
        self.rows().flat_map(Row::names).flat_map(with_timer).collect()
    }

    /// Returns all names for a message: without the timer's suffix, which the text mentions once.
    pub fn expected(&self) -> String {
        let names = self.rows().flat_map(Row::names);
        let (datagram, tcp): (Vec<_>, Vec<_>) = names.partition(|(_, transport)| transport.kind.is_datagram());
        let [datagram, tcp] = [datagram, tcp].map(|part| listed(part.iter().map(|(name, _)| name.as_str())));
        format!("{tcp}, each also with {FINE_GRAINED}; {datagram}")
    }

    /// Returns the table of transports as JSON: for each its name without suffixes, `names` with the suffixes of detection,
    /// title, source, tables of parameters, and whether the timer's suffix is allowed.
    pub fn to_json(&self) -> String {
        let rows = self.rows().map(|row| {
            json!({
                "name": row.name, "names": row.names().map(|(name, _)| name).collect::<Vec<_>>(), "title": row.title,
                "source": row.source, "parameters": row.tables(), "has_timer": !row.kind.is_datagram(),
            })
        });
        Value::from(rows.collect::<Vec<_>>()).to_string()
    }

    /// Returns the JSON schema of the table `endpoint`.
    pub fn endpoint_schema(&self) -> &Value {
        self.0.schema.get_or_init(|| {
            let mut schema = schemars::schema_for!(Endpoint).to_value();
            self.extend_schema(&mut schema);
            schema
        })
    }

    /// Adds the names and tables of added congestion controls to a schema that contains [`Endpoint`]'s, at its root or among
    /// its definitions.
    pub fn extend_schema(&self, schema: &mut Value) {
        let added = &self.controls()[BUILT_IN.len()..];
        if added.is_empty() {
            return;
        }
        let mut generator = SchemaGenerator::default();
        let tables: Map<String, Value> =
            added.iter().map(|entry| (entry.name.to_owned(), (entry.schema)(&mut generator).to_value())).collect();
        let definitions = generator.take_definitions(true);
        schema["$defs"]["Transport"]["enum"] = json!(self.names());
        let at_root = schema["$defs"].get("Endpoint").is_none();
        let endpoint = if at_root { &mut schema["properties"] } else { &mut schema["$defs"]["Endpoint"]["properties"] };
        endpoint.as_object_mut().into_iter().for_each(|properties| properties.extend(tables.clone()));
        schema["$defs"].as_object_mut().into_iter().for_each(|known| known.extend(definitions.clone()));
    }
}
