//! A walk over the model's JSON schema, so that the model is the only description of keys, types and ranges.

use crate::model::{NetworkDocument, Scenario};
use earlybird_transport::Transports;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

static ANYTHING: Value = Value::Bool(true);

/// The schema of a document: a scenario, whose flows may use the transports of one register, or a network.
#[derive(Clone)]
pub(crate) struct DocumentSchema {
    root: Arc<Value>,
    pub(crate) transports: Transports,
}

impl DocumentSchema {
    /// Returns the schema for a register.
    pub(crate) fn of(transports: &Transports) -> Self {
        // Most documents use the built-in transports, and the schema is as large as a hundred of them.
        static BUILT_IN: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(made(&Transports::built_in())));
        let root = if transports.is_built_in() { Arc::clone(&BUILT_IN) } else { Arc::new(made(transports)) };
        Self { root, transports: transports.clone() }
    }

    /// Returns the schema of a network by itself, which names no transports.
    pub(crate) fn of_network() -> Self {
        static NETWORK: LazyLock<Arc<Value>> =
            LazyLock::new(|| Arc::new(schemars::schema_for!(NetworkDocument).to_value()));
        Self { root: Arc::clone(&NETWORK), transports: Transports::built_in() }
    }

    /// Returns the node of the whole document.
    pub(crate) fn root(&self) -> SchemaNode<'_> {
        SchemaNode::root_of(&self.root, &self.transports)
    }
}

fn made(transports: &Transports) -> Value {
    let mut schema = schemars::schema_for!(Scenario).to_value();
    transports.extend_schema(&mut schema);
    schema
}

/// The schema of one place in a document.
#[derive(Clone, Copy)]
pub(crate) struct SchemaNode<'a> {
    /// The whole schema, in which references are looked up.
    root: &'a Value,
    transports: &'a Transports,
    node: &'a Value,
    /// The description of the key.
    text: &'a str,
    /// Whether null is allowed, which means "left out".
    pub(crate) optional: bool,
}

/// The kinds of schema nodes.
pub(crate) enum Kind<'a> {
    /// A table with known keys.
    Table(&'a Map<String, Value>),
    /// A table with any keys.
    Map(SchemaNode<'a>),
    /// One of several words or one-key tables: a Rust enum.
    Choice,
    /// One of several nodes, distinguished by their JSON types.
    Either,
    /// A list of elements of one kind.
    List(SchemaNode<'a>),
    /// A text, number or truth value.
    Scalar,
    /// Any value.
    Any,
}

impl<'a> SchemaNode<'a> {
    /// Returns the node of the whole of a schema.
    pub(crate) fn root_of(root: &'a Value, transports: &'a Transports) -> Self {
        Self { root, transports, node: root, text: "", optional: false }
    }

    /// Returns the root of the schema to which the node belongs.
    pub(crate) fn root(self) -> Self {
        Self::root_of(self.root, self.transports)
    }

    /// Returns the transports that may be named.
    pub(crate) fn transports(self) -> &'a Transports {
        self.transports
    }

    /// Returns a node that allows any value.
    pub(crate) fn anything(self) -> Self {
        self.at(&ANYTHING)
    }

    /// Returns the node of a part of the schema. Follows references, and looks through "or null".
    fn at(self, schema: &'a Value) -> Self {
        let alternative = only_alternative(schema);
        let target = schema["$ref"].as_str().map(|reference| self.referenced(reference)).or(alternative);
        let target = target.map(|target| self.at(target));
        Self {
            node: target.map_or(schema, |target| target.node),
            // A description beside the reference is the key's own; the target's is that of its type.
            text: schema["description"].as_str().or(target.map(|target| target.text)).unwrap_or_default(),
            optional: alternative.is_some() || has_type(schema, "null"),
            ..self
        }
    }

    fn referenced(self, reference: &str) -> &'a Value {
        self.root.pointer(reference.trim_start_matches('#')).unwrap_or(&ANYTHING)
    }

    /// Returns the first paragraph of the description.
    pub(crate) fn description(self) -> &'a str {
        self.text.split("\n\n").next().unwrap_or_default()
    }

    pub(crate) fn kind(self) -> Kind<'a> {
        // The order matters: an enum's schema may have `properties` beside its `oneOf`.
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

    fn plain_kind(self) -> Kind<'a> {
        // An optional value has two types, null behind its own.
        match self.node["type"].as_str().or_else(|| self.node["type"][0].as_str()) {
            Some("object") => Kind::Map(self.below("additionalProperties")),
            Some("array") => Kind::List(self.below("items")),
            Some(_) => Kind::Scalar,
            None => Kind::Any,
        }
    }

    fn below(self, keyword: &str) -> Self {
        self.at(self.node.get(keyword).unwrap_or(&ANYTHING))
    }

    /// Returns the node of the value under `key`, if the key is allowed.
    pub(crate) fn child(self, key: &str) -> Option<Self> {
        match self.kind() {
            Kind::Table(keys) => keys.get(key).map(|schema| self.at(schema)),
            Kind::Choice => self.options().find_map(|(name, schema)| schema.filter(|_| name == key)),
            Kind::Map(inner) => Some(inner),
            Kind::Any => Some(self),
            Kind::Either | Kind::List(_) | Kind::Scalar => None,
        }
    }

    /// Returns the names of the allowed keys.
    pub(crate) fn keys(self) -> Vec<&'a str> {
        match self.kind() {
            Kind::Table(keys) => keys.keys().map(String::as_str).collect(),
            Kind::Choice => self.options().filter(|(_, schema)| schema.is_some()).map(|(name, _)| name).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the names of the required keys.
    pub(crate) fn required(self) -> impl Iterator<Item = &'a str> {
        self.node["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the options of a choice: words, and keys with the node of their value.
    pub(crate) fn options(self) -> impl Iterator<Item = (&'a str, Option<Self>)> {
        self.node["oneOf"].as_array().into_iter().flatten().filter_map(move |option| {
            // schemars writes a variant without data as a `const`, others as an object with one property.
            let word = option["const"].as_str().map(|word| (word, None));
            let keyed = option["properties"].as_object().and_then(|keys| keys.iter().next());
            word.or_else(|| keyed.map(|(key, schema)| (key.as_str(), Some(self.at(schema).or_description(option)))))
        })
    }

    fn or_description(self, schema: &'a Value) -> Self {
        let described = self.text.is_empty().then(|| schema["description"].as_str()).flatten();
        Self { text: described.unwrap_or(self.text), ..self }
    }

    /// Returns the alternatives of an "either".
    pub(crate) fn alternatives(self) -> impl Iterator<Item = Self> {
        self.node["anyOf"].as_array().into_iter().flatten().map(move |schema| self.at(schema))
    }

    /// Returns a bound or another keyword of the schema.
    pub(crate) fn keyword(self, name: &str) -> Option<&'a Value> {
        self.node.get(name)
    }

    /// Returns the largest allowed number. Schemas leave out the maximum that follows from a number's width.
    pub(crate) fn maximum(self) -> Option<f64> {
        let width = (self.format() == "uint32").then_some(f64::from(u32::MAX));
        self.keyword("maximum").and_then(Value::as_f64).or(width)
    }

    /// Returns the schema's `format`: the width of a number, or the kind of a text.
    pub(crate) fn format(self) -> &'a str {
        self.node["format"].as_str().unwrap_or_default()
    }

    /// Returns whether the schema allows this JSON type.
    pub(crate) fn has_type(self, name: &str) -> bool {
        has_type(self.node, name)
    }

    /// Returns a bound on the length of a list.
    pub(crate) fn length(self, keyword: &str) -> Option<u64> {
        self.keyword(keyword).and_then(Value::as_u64)
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    let types = &schema["type"];
    types == name || types.as_array().is_some_and(|types| types.iter().any(|one| one == name))
}

/// Returns X of "X or null", which is how `schemars` describes an optional value.
fn only_alternative(schema: &Value) -> Option<&Value> {
    let alternatives = schema["anyOf"].as_array()?;
    let mut others = alternatives.iter().filter(|one| one["type"] != "null");
    others.next().filter(|_| alternatives.len() == 2 && others.next().is_none())
}
