//! The JSON schema for editors: the model's, and in addition what only a scenario's text may contain.

use crate::model::Scenario;
use earlybird_transport::Transports;
use schemars::Schema;
use schemars::transform::transform_subschemas;
use serde_json::{Value, json};

/// A parameter in the place of a value.
const REFERENCE: &str = r"^\$[A-Za-z][A-Za-z0-9_-]*$";

/// Returns the JSON schema of a scenario's text, for editors and for the reference.
///
/// Every value but a table may be a `"$parameter"`, and `variants` may be given, which [`crate::resolve`] removes.
pub fn schema(transports: &Transports) -> String {
    let mut schema = schemars::schema_for!(Scenario).to_value();
    transports.extend_schema(&mut schema);
    let mut schema = Schema::try_from(schema).unwrap_or_default();
    // Only here: the schema that documents are checked with sees values instead of references.
    allow_references(&mut schema);
    schema.insert("$comment".to_owned(), json!("A \"$name\" stands for the value of parameter `name`."));
    if let Some(keys) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        keys.insert("variants".to_owned(), variants());
    }
    format!("{:#}", schema.to_value())
}

fn variants() -> Value {
    json!({
        "description": "Overlays: `[variants.PARAMETER.VALUE]` is merged into the scenario when the parameter has this value, \
                        which then must be one of those listed; `*` stands for any other.",
        "type": "object",
        "additionalProperties": { "type": "object", "additionalProperties": { "type": "object" } },
    })
}

/// From the inside out, so that what is added is not itself extended.
fn allow_references(schema: &mut Schema) {
    transform_subschemas(&mut allow_references, schema);
    allow_reference(schema);
}

fn allow_reference(schema: &mut Schema) {
    if let Some(Value::Array(options)) = schema.get_mut("oneOf") {
        options.push(json!({ "description": "A parameter.", "type": "string", "pattern": REFERENCE }));
    } else if let Some(names) = schema.remove("enum") {
        schema.insert("anyOf".to_owned(), json!([{ "enum": names }, { "pattern": REFERENCE }]));
    // A quantity is a text already, whose pattern refuses a reference.
    } else if let Some(Value::String(pattern)) = schema.get_mut("pattern") {
        *pattern = format!("{REFERENCE}|{pattern}");
    } else {
        allow_text(schema);
    }
}

/// Allows a text with the form of a reference instead of a number, truth value or list.
fn allow_text(schema: &mut Schema) {
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return,
    };
    if types.iter().any(|one| ["integer", "number", "boolean", "array"].contains(&one.as_str())) {
        let types: Vec<_> = types.into_iter().chain(["string".to_owned()]).collect();
        schema.insert("type".to_owned(), json!(types));
        schema.insert("pattern".to_owned(), json!(REFERENCE));
    }
}
