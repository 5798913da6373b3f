use crate::error::ScenarioError;
use crate::suggest::{did_you_mean, listed, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The end of a name that selects the fine-grained retransmission timer.
const FINE_GRAINED: &str = "-fg";

/// Every transport by name, without the timer's suffix.
const TABLE: [(&str, Control, bool); 4] = [
    ("sack", Control::Sack, false),
    ("sack-er", Control::Sack, true),
    ("pert", Control::Pert, false),
    ("pert-er", Control::Pert, true),
];

/// What a sender does about congestion and loss, written as a name: `sack`, `pert-er`, `sack-fg`, …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Transport {
    /// The congestion control.
    pub control: Control,
    /// Whether the early-retransmission rule is on (`-er`).
    pub early_retransmission: bool,
    /// Whether the retransmission timer is fine-grained (`-fg`).
    pub fine_grained: bool,
}

/// A congestion control; each repairs losses by SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// Reno's window rules.
    #[default]
    Sack,
    /// PERT: early response to the queueing delay.
    Pert,
}

/// Gives the names of all transports.
pub fn transport_names() -> Vec<String> {
    let ends = ["", FINE_GRAINED];
    TABLE.iter().flat_map(|(name, ..)| ends.map(|end| format!("{name}{end}"))).collect()
}

/// Says in words which transports there are.
pub(crate) fn allowed_transports() -> String {
    format!("{}, each also with {FINE_GRAINED}", listed(TABLE.iter().map(|(name, ..)| *name)))
}

impl FromStr for Transport {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let base = text.strip_suffix(FINE_GRAINED);
        let found = TABLE.iter().find(|(name, ..)| *name == base.unwrap_or(text));
        let (_, control, early_retransmission) = *found.ok_or_else(|| unknown(text))?;
        Ok(Self { control, early_retransmission, fine_grained: base.is_some() })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = |row: &&(&str, Control, bool)| (row.1, row.2) == (self.control, self.early_retransmission);
        let name = TABLE.iter().find(own).map_or("", |row| row.0);
        write!(formatter, "{name}{}", if self.fine_grained { FINE_GRAINED } else { "" })
    }
}

impl TryFrom<String> for Transport {
    type Error = ScenarioError;

    fn try_from(text: String) -> Result<Self, ScenarioError> {
        text.parse()
    }
}

impl From<Transport> for String {
    fn from(transport: Transport) -> Self {
        transport.to_string()
    }
}

impl JsonSchema for Transport {
    fn schema_name() -> Cow<'static, str> {
        "Transport".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "transport",
            "enum": transport_names(),
            "description": "Congestion control and loss repair by name; `-er` adds early retransmission, `-fg` selects the \
                            fine-grained retransmission timer.",
        })
    }
}

fn unknown(text: &str) -> ScenarioError {
    let names = transport_names();
    let guess = nearest(text, names.iter().map(String::as_str));
    ScenarioError::new("", "is not a transport").text(text).allowed(allowed_transports()).hint(did_you_mean(guess))
}
