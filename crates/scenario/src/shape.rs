//! What may stand where, read from the model's JSON schema, so that the model is the only description.

use crate::model::Scenario;
use serde_json::{Map, Value};
use std::sync::{PoisonError, RwLock};

/// The schema since the last control was registered. Older ones stay: there are no more than registrations.
static SCHEMA: RwLock<Option<&'static Value>> = RwLock::new(None);
static ANYTHING: Value = Value::Bool(true);

/// Returns the schema of a whole scenario.
fn schema() -> &'static Value {
    if let Some(known) = *SCHEMA.read().unwrap_or_else(PoisonError::into_inner) {
        return known;
    }
    // It is made under the lock, so that no older one replaces a newer.
    let mut place = SCHEMA.write().unwrap_or_else(PoisonError::into_inner);
    place.get_or_insert_with(|| Box::leak(Box::new(schemars::schema_for!(Scenario).to_value())))
}

/// A control was registered: there are keys that the schema does not know.
pub(crate) fn renew() {
    *SCHEMA.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The table `endpoint`.
pub(crate) fn endpoint() -> Shape {
    Shape::root().child("endpoint").unwrap_or(Shape::root())
}

/// What may stand at one place of a scenario.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    node: &'static Value,
    /// What is written about the key.
    text: &'static str,
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
        Self { node: schema(), text: "", optional: false }
    }

    /// Whatever one likes.
    pub(crate) fn anything() -> Self {
        Self::of(&ANYTHING)
    }

    /// Follows references and looks through "or null".
    fn of(schema: &'static Value) -> Self {
        let alternative = only_alternative(schema);
        let target = schema["$ref"].as_str().map(referenced).or(alternative).map(Self::of);
        Self {
            node: target.map_or(schema, |shape| shape.node),
            text: schema["description"].as_str().or(target.map(|shape| shape.text)).unwrap_or_default(),
            optional: alternative.is_some() || has_type(schema, "null"),
        }
    }

    /// Returns the opening paragraph, which says what the key means.
    pub(crate) fn description(self) -> &'static str {
        self.text.split("\n\n").next().unwrap_or_default()
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
            word.or_else(|| keyed.map(|(key, schema)| (key.as_str(), Some(Self::of(schema).or_description(option)))))
        })
    }

    fn or_description(self, schema: &'static Value) -> Self {
        let described = self.text.is_empty().then(|| schema["description"].as_str()).flatten();
        Self { text: described.unwrap_or(self.text), ..self }
    }

    /// The alternatives of an "either".
    pub(crate) fn alternatives(self) -> impl Iterator<Item = Self> {
        self.node["anyOf"].as_array().into_iter().flatten().map(Self::of)
    }

    /// A bound or other keyword of the schema.
    pub(crate) fn keyword(self, name: &str) -> Option<&'static Value> {
        self.node.get(name)
    }

    /// The largest number that may stand here; schemas leave the one out that the number's width sets.
    pub(crate) fn maximum(self) -> Option<f64> {
        let width = (self.format() == "uint32").then_some(f64::from(u32::MAX));
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

    /// A bound on the length of a list.
    pub(crate) fn length(self, keyword: &str) -> Option<u64> {
        self.keyword(keyword).and_then(Value::as_u64)
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    let types = &schema["type"];
    types == name || types.as_array().is_some_and(|types| types.iter().any(|one| one == name))
}

fn referenced(reference: &str) -> &'static Value {
    schema().pointer(reference.trim_start_matches('#')).unwrap_or(&ANYTHING)
}

/// Returns the alternative of "X or null", which is how an optional value is described.
fn only_alternative(schema: &'static Value) -> Option<&'static Value> {
    let alternatives = schema["anyOf"].as_array()?;
    let mut others = alternatives.iter().filter(|one| one["type"] != "null");
    others.next().filter(|_| alternatives.len() == 2 && others.next().is_none())
}
