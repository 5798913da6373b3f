//! Named values as a document declares them: `[parameters]`, and `"$name"` in their place.

use serde_json::{Map, Value};
use std::sync::LazyLock;

static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The overlays of a scenario: parameter → value → overlay.
pub(crate) type Variants = Map<String, Value>;

/// Returns the declared parameters with their values.
pub(crate) fn declared(document: &Value) -> &Map<String, Value> {
    document.get("parameters").and_then(Value::as_object).unwrap_or(&NONE)
}

/// Returns whether the parameters are already applied and only kept for the record.
pub(crate) fn is_resolved(document: &Value) -> bool {
    document.get("resolved") == Some(&Value::Bool(true))
}

/// Returns the name in `"$name"`, if the value is such a reference.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix('$').filter(|name| is_name(name))
}

pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    text.starts_with(|letter: char| letter.is_ascii_alphabetic()) && text.chars().all(is_part)
}
