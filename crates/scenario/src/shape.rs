//! What may stand where, read from the model's JSON schema, so that the model is the only description.

use crate::model::Scenario;
use crate::suggest::listed;
use crate::{quantity, transport};
use serde_json::{Map, Value};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(Scenario).to_value());
static ANYTHING: Value = Value::Bool(true);

/// What may stand at one place of a scenario.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    node: &'static Value,
    /// What the key means.
    pub(crate) description: &'static str,
    /// Whether it may be null, which means "left out".
    pub(crate) optional: bool,
}

/// The sorts of shapes.
pub(crate) enum Kind {
    /// A table with known keys.
    Table(&'static Map<String, Value>),
    /// A table with any keys.
    Map(Shape),
    /// One of several words or one-key tables: a Rust enum.
    Choice,
    /// One of several shapes, told apart by their JSON types.
    Either,
    /// A list of like elements.
    List(Shape),
    /// A text, number or truth value.
    Scalar,
    /// Whatever one likes.
    Any,
}

impl Shape {
    /// A whole scenario.
    pub(crate) fn root() -> Self {
        Self { node: &SCHEMA, description: "", optional: false }
    }

    /// Follows references and looks through "or null".
    fn of(schema: &'static Value) -> Self {
        let alternative = only_alternative(schema);
        let target = schema["$ref"].as_str().map(referenced).or(alternative).map(Self::of);
        let own = schema["description"].as_str();
        Self {
            node: target.map_or(schema, |shape| shape.node),
            description: own.or(target.map(|shape| shape.description)).unwrap_or_default(),
            optional: alternative.is_some() || has_type(schema, "null"),
        }
    }

    pub(crate) fn kind(self) -> Kind {
        if self.node["oneOf"].is_array() {
            Kind::Choice
        } else if self.node["anyOf"].is_array() {
            Kind::Either
        } else if let Some(keys) = self.node["properties"].as_object() {
            Kind::Table(keys)
        } else {
            self.plain_kind()
        }
    }

    fn plain_kind(self) -> Kind {
        match self.node["type"].as_str().or_else(|| self.node["type"][0].as_str()) {
            Some("object") => Kind::Map(self.below("additionalProperties")),
            Some("array") => Kind::List(self.below("items")),
            Some(_) => Kind::Scalar,
            None => Kind::Any,
        }
    }

    fn below(self, keyword: &str) -> Self {
        Self::of(self.node.get(keyword).unwrap_or(&ANYTHING))
    }

    /// What may stand under `key`, if the key may be there at all.
    pub(crate) fn child(self, key: &str) -> Option<Self> {
        match self.kind() {
            Kind::Table(keys) => keys.get(key).map(Self::of),
            Kind::Choice => self.options().find_map(|(name, shape)| shape.filter(|_| name == key)),
            Kind::Map(inner) => Some(inner),
            Kind::Any => Some(self),
            Kind::Either | Kind::List(_) | Kind::Scalar => None,
        }
    }

    /// The names of the keys that may stand here.
    pub(crate) fn keys(self) -> Vec<&'static str> {
        match self.kind() {
            Kind::Table(keys) => keys.keys().map(String::as_str).collect(),
            Kind::Choice => self.options().filter(|(_, shape)| shape.is_some()).map(|(name, _)| name).collect(),
            _ => Vec::new(),
        }
    }

    /// The keys that must stand here.
    pub(crate) fn required(self) -> impl Iterator<Item = &'static str> {
        self.node["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// The options of a choice: words, and keys with what follows them.
    pub(crate) fn options(self) -> impl Iterator<Item = (&'static str, Option<Self>)> {
        self.node["oneOf"].as_array().into_iter().flatten().filter_map(|option| {
            let word = option["const"].as_str().map(|word| (word, None));
            let keyed = option["properties"].as_object().and_then(|keys| keys.iter().next());
            word.or_else(|| keyed.map(|(key, schema)| (key.as_str(), Some(Self::of(schema)))))
        })
    }

    /// The alternatives of an "either".
    pub(crate) fn alternatives(self) -> impl Iterator<Item = Self> {
        self.node["anyOf"].as_array().into_iter().flatten().map(Self::of)
    }

    /// A bound or other keyword of the schema.
    pub(crate) fn keyword(self, name: &str) -> Option<&'static Value> {
        self.node.get(name)
    }

    /// The largest whole number that may stand here.
    pub(crate) fn maximum(self) -> Option<f64> {
        let width = match self.format() {
            "uint32" => Some(f64::from(u32::MAX)),
            _ => None,
        };
        self.keyword("maximum").and_then(Value::as_f64).or(width)
    }

    /// The schema's `format`: the width of a number, or which sort of text.
    pub(crate) fn format(self) -> &'static str {
        self.node["format"].as_str().unwrap_or_default()
    }

    /// Tells whether the schema names this JSON type.
    pub(crate) fn has_type(self, name: &str) -> bool {
        has_type(self.node, name)
    }

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

    /// A bound on the length of a list.
    pub(crate) fn length(self, keyword: &str) -> Option<u64> {
        self.keyword(keyword).and_then(Value::as_u64)
    }

    fn allowed_scalar(self) -> String {
        match self.format() {
            "time-with-unit" => quantity::TIME.allowed.to_owned(),
            "rate-with-unit" => quantity::RATE.allowed.to_owned(),
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
        // A bound that only says how wide the number is stored helps nobody.
        let most = self.keyword("maximum");
        match (least, most, above) {
            (Some(least), Some(most), _) => format!("{sort} from {least} to {most}"),
            (Some(least), None, _) => format!("{sort} of at least {least}"),
            (_, _, Some(above)) => format!("{sort} above {above}"),
            _ => sort.to_owned(),
        }
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    let types = &schema["type"];
    types == name || types.as_array().is_some_and(|types| types.iter().any(|one| one == name))
}

fn option_text((name, shape): (&str, Option<Shape>)) -> String {
    if shape.is_some() { format!("{{ {name} = … }}") } else { name.to_owned() }
}

fn referenced(reference: &str) -> &'static Value {
    SCHEMA.pointer(reference.trim_start_matches('#')).unwrap_or(&ANYTHING)
}

/// Gives the alternative of "X or null", which is how an optional value is described.
fn only_alternative(schema: &'static Value) -> Option<&'static Value> {
    let alternatives = schema["anyOf"].as_array()?;
    let mut others = alternatives.iter().filter(|one| one["type"] != "null");
    others.next().filter(|_| alternatives.len() == 2 && others.next().is_none())
}
