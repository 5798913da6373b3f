//! The values that a schema allows, in words.

use crate::schema_walk::{Kind, SchemaNode};
use earlybird_transport::{Fraction, Rate, Time, listed};

impl SchemaNode<'_> {
    /// Returns the allowed values in words.
    pub(crate) fn expected(self) -> String {
        match self.kind() {
            Kind::Table(_) => format!("a table with the keys {}", listed(self.keys())),
            Kind::Map(_) => "a table".to_owned(),
            Kind::Choice => self.options().map(option_text).collect::<Vec<_>>().join(", "),
            Kind::Either => self.alternatives().map(Self::expected).collect::<Vec<_>>().join(", or "),
            Kind::List(_) => self.expected_list(),
            Kind::Scalar => self.expected_scalar(),
            Kind::Any => "any value".to_owned(),
        }
    }

    fn expected_list(self) -> String {
        match (self.length("minItems"), self.length("maxItems")) {
            (Some(least), Some(most)) if least == most => format!("a list of {least}"),
            (Some(least), _) => format!("a list of at least {least}"),
            _ => "a list".to_owned(),
        }
    }

    fn expected_scalar(self) -> String {
        match self.format() {
            "time-with-unit" => Time::EXPECTED.to_owned(),
            "rate-with-unit" => Rate::EXPECTED.to_owned(),
            "share" => Fraction::EXPECTED.to_owned(),
            "transport" => self.transports().expected(),
            _ if self.has_type("boolean") => "true or false".to_owned(),
            _ if self.has_type("string") => "a text".to_owned(),
            _ => self.expected_number(),
        }
    }

    fn expected_number(self) -> String {
        let sort = if self.has_type("integer") { "a whole number" } else { "a number" };
        let least = self.keyword("minimum");
        let above = self.keyword("exclusiveMinimum");
        let most = self.keyword("maximum");
        match (least, most, above) {
            (Some(least), Some(most), _) => format!("{sort} from {least} to {most}"),
            (Some(least), None, _) => format!("{sort} of at least {least}"),
            (_, Some(most), Some(above)) => format!("{sort} above {above}, at most {most}"),
            (_, None, Some(above)) => format!("{sort} above {above}"),
            (None, Some(most), None) => format!("{sort} of at most {most}"),
            (None, None, None) => sort.to_owned(),
        }
    }
}

/// Writes an option of a choice as it stands in a scenario.
pub(crate) fn option_text((name, schema): (&str, Option<SchemaNode<'_>>)) -> String {
    if schema.is_some() { format!("{{ {name} = … }}") } else { name.to_owned() }
}
