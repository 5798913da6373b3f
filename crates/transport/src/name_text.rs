//! Names of transports as text: read, written, and described in the schema.

use crate::error::ScenarioError;
use crate::name::{Detection, FINE_GRAINED, Kind, Transport, is_control_name};
use crate::register::Transports;
use crate::table::ROWS;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Returns the transport of an added congestion control, by the form of the name alone.
fn of_added_control(text: &str) -> Option<Transport> {
    // The timer comes last in a name: `pert-er-fg`, never `pert-fg-er`.
    let name = text.strip_suffix(FINE_GRAINED).unwrap_or(text);
    let suffixed = |detection: &Detection| Some((*detection, name.strip_suffix(detection.suffix())?));
    let (detection, base) = Detection::WITH_SUFFIX.iter().find_map(suffixed).unwrap_or((Detection::Duplicates, name));
    let kind = Kind::control(base).filter(|_| is_control_name(base))?;
    Some(Transport { kind, detection, fine_grained: name.len() < text.len() })
}

impl FromStr for Transport {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        Transports::built_in().parse(text)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looked up only if it is no control: controls carry their name themselves.
        let known = || ROWS.iter().find(|row| row.kind == self.kind).map_or("", |row| row.name);
        let name = if let Kind::Control(name) = &self.kind { name.as_str() } else { known() };
        write!(formatter, "{name}{}{}", self.detection.suffix(), if self.fine_grained { FINE_GRAINED } else { "" })
    }
}

impl TryFrom<String> for Transport {
    type Error = ScenarioError;

    fn try_from(text: String) -> Result<Self, ScenarioError> {
        text.parse().or_else(|error| of_added_control(&text).ok_or(error))
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
            // `extend_schema` puts the names of another register here.
            "enum": Transports::built_in().names(),
            "description": "Congestion control and loss repair by name; `-er` adds early retransmission, `-rack` repairs by RACK-TLP, `-fg` selects the \
                            fine-grained retransmission timer.",
        })
    }
}
