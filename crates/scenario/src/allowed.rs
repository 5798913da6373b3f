//! What may stand somewhere, in words.

use crate::shape::{Kind, Shape};
use crate::suggest::listed;
use crate::{quantity, transport};

impl Shape {
    /// Says in words what may stand here.
    pub(crate) fn allowed(self) -> String {
        match self.kind() {
            Kind::Table(_) => format!("a table with the keys {}", listed(self.keys())),
            Kind::Map(_) => "a table".to_owned(),
            Kind::Choice => self.options().map(option_text).collect::<Vec<_>>().join(", "),
            Kind::Either => self.alternatives().map(Self::allowed).collect::<Vec<_>>().join(", or "),
            Kind::List(_) => self.allowed_list(),
            Kind::Scalar => self.allowed_scalar(),
            Kind::Any => "any value".to_owned(),
        }
    }

    fn allowed_list(self) -> String {
        match (self.length("minItems"), self.length("maxItems")) {
            (Some(least), Some(most)) if least == most => format!("a list of {least}"),
            (Some(least), _) => format!("a list of at least {least}"),
            _ => "a list".to_owned(),
        }
    }

    fn allowed_scalar(self) -> String {
        match self.format() {
            "time-with-unit" => quantity::TIME.allowed.to_owned(),
            "rate-with-unit" => quantity::RATE.allowed.to_owned(),
            "share" => quantity::SHARES.to_owned(),
            "transport" => transport::allowed_transports(),
            _ if self.has_type("boolean") => "true or false".to_owned(),
            _ if self.has_type("string") => "a text".to_owned(),
            _ => self.allowed_number(),
        }
    }

    fn allowed_number(self) -> String {
        let sort = if self.has_type("integer") { "a whole number" } else { "a number" };
        let least = self.keyword("minimum");
        let above = self.keyword("exclusiveMinimum");
        let most = self.keyword("maximum");
        match (least, most, above) {
            (Some(least), Some(most), _) => format!("{sort} from {least} to {most}"),
            (Some(least), None, _) => format!("{sort} of at least {least}"),
            (_, _, Some(above)) => format!("{sort} above {above}"),
            _ => sort.to_owned(),
        }
    }
}

/// Writes an option of a choice as it stands in a scenario.
pub(crate) fn option_text((name, shape): (&str, Option<Shape>)) -> String {
    if shape.is_some() { format!("{{ {name} = … }}") } else { name.to_owned() }
}
