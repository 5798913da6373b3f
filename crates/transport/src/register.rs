//! The register of transports.

use crate::by_profile::{BY_PROFILE, ByProfile};
use crate::controls::{BUILT_IN, Entry};
use crate::did_you_mean::{did_you_mean, listed, nearest};
use crate::error::ScenarioError;
use crate::name::{FINE_GRAINED, Kind, Transport};
use crate::table::{REPAIRS, ROWS, Row};
use serde_json::{Value, json};
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

    pub(crate) fn of(controls: Vec<Entry>) -> Self {
        Self(Arc::new(Register { controls, schema: OnceLock::new() }))
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

    /// Returns the place of the schema of the table `endpoint`, which is made once for a register.
    pub(crate) fn schema(&self) -> &OnceLock<Value> {
        &self.0.schema
    }

    /// Returns every transport without suffixes, in the order in which they are listed.
    fn rows(&self) -> impl Iterator<Item = Row> {
        // The order of documents and messages: repairs, controls, then protocols other than ordinary TCP.
        let (repairs, others) = ROWS.split_at(REPAIRS);
        let controls = self.controls().iter().copied().map(Row::from);
        let by_profile = BY_PROFILE.iter().map(Row::from);
        repairs.iter().copied().chain(by_profile).chain(controls).chain(others.iter().copied())
    }

    /// Reads a transport's name.
    ///
    /// # Errors
    /// If there is no such transport.
    pub fn parse(&self, text: &str) -> Result<Transport, ScenarioError> {
        // Once only: `sack-fg-fg` is no name.
        let base = text.strip_suffix(FINE_GRAINED);
        let found = self.rows().flat_map(Row::names).find(|(name, _)| name == base.unwrap_or(text));
        // Datagrams have no retransmission timer that could be fine-grained.
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
            // Without `-fg` for datagrams, as `parse` refuses it.
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
}

impl From<&'static ByProfile> for Row {
    fn from(name: &'static ByProfile) -> Self {
        let ByProfile { name, title, source, detections, controls } = name;
        Self { name, kind: Kind::control(name).unwrap_or_default(), title, source, parameters: controls, detections }
    }
}

impl From<Entry> for Row {
    fn from(entry: Entry) -> Self {
        let Entry { name, title, source, detections, .. } = entry;
        // Built-in names are short, and those of added controls were checked when they were added.
        let kind = Kind::control(name).unwrap_or_default();
        Self { name, kind, title, source, parameters: &[], detections }
    }
}
