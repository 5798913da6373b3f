//! Compares a document with the schema of the model, so that every misfit is named in the user's terms.

use crate::document::step_to;
use crate::expected::option_text;
use crate::schema_walk::{Kind, SchemaNode};
use crate::similar_keys::elsewhere;
use earlybird_transport::{Fraction, Rate, ScenarioError, Time, did_you_mean, join, listed, nearest, text_of};
use serde_json::{Map, Value};

/// Checks keys, types and ranges of `value` and everything in it.
pub(crate) fn check(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    if value.is_null() && schema.optional {
        return Ok(());
    }
    match schema.kind() {
        Kind::Table(_) => check_table(table(value, schema, path)?, schema, path),
        Kind::Map(inner) => check_map(table(value, schema, path)?, inner, path),
        Kind::Choice => check_choice(value, schema, path),
        Kind::Either => check_either(value, schema, path),
        Kind::List(inner) => check_list(value, schema, inner, path),
        Kind::Scalar => check_scalar(value, schema, path),
        Kind::Any => Ok(()),
    }
}

/// Returns the error of a key that does not exist at `path`, with the keys that do.
pub(crate) fn unknown_key(path: &str, key: &str, schema: SchemaNode<'_>) -> ScenarioError {
    // Variants are taken out of the document before it is compared with the model.
    let more = path.is_empty().then_some("variants");
    let keys: Vec<_> = schema.keys().into_iter().chain(more).collect();
    let guess = nearest(key, keys.iter().copied());
    let hint = guess.map_or_else(|| elsewhere(key, schema.root()), |guess| did_you_mean(Some(guess)));
    ScenarioError::new(&join(path, key), "is not a key here").text(key).allowed(listed(keys)).hint(hint)
}

fn table<'a>(value: &'a Value, schema: SchemaNode<'_>, path: &str) -> Result<&'a Map<String, Value>, ScenarioError> {
    value.as_object().ok_or_else(|| misfit(value, schema, path, "is not a table"))
}

fn check_table(entries: &Map<String, Value>, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    // Before missing keys: a misspelt key is often the one that then is missing.
    if let Some(key) = entries.keys().find(|key| schema.child(key).is_none()) {
        return Err(unknown_key(path, key, schema));
    }
    if let Some(key) = schema.required().find(|key| !entries.contains_key(*key)) {
        return Err(missing(path, key, schema));
    }
    let known = entries.iter().filter_map(|(key, value)| Some((key, value, schema.child(key)?)));
    known.into_iter().try_for_each(|(key, value, child)| check(value, child, &join(path, key)))
}

fn missing(path: &str, key: &str, schema: SchemaNode<'_>) -> ScenarioError {
    let error = ScenarioError::new(&join(path, key), "is missing");
    schema.child(key).map_or(error.clone(), |child| error.allowed(child.expected()).hint(child.description()))
}

fn check_map(entries: &Map<String, Value>, inner: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    entries.iter().try_for_each(|(key, value)| check(value, inner, &join(path, key)))
}

fn check_choice(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    match value {
        Value::String(word) => check_word(word, schema, path),
        Value::Object(entries) if entries.len() == 1 => entries.iter().try_for_each(|(key, value)| {
            let inner = schema.child(key).ok_or_else(|| unknown_key(path, key, schema))?;
            check(value, inner, &join(path, key))
        }),
        Value::Object(_) => Err(misfit(value, schema, path, "does not choose exactly one")),
        _ => Err(misfit(value, schema, path, "is not one of the choices")),
    }
}

fn check_word(word: &str, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    let mut options = schema.options();
    if options.any(|(name, inner)| name == word && inner.is_none()) {
        return Ok(());
    }
    let guess = nearest(word, schema.options().map(|(name, _)| name));
    let guess = schema.options().find(|(name, _)| guess == Some(name)).map(option_text);
    Err(ScenarioError::new(path, "is not one of the choices")
        .text(word)
        .allowed(schema.expected())
        .hint(did_you_mean(guess.as_deref()))
        .or_hint(schema.description()))
}

fn check_either(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    let alike = schema.alternatives().find(|one| matches!(one.kind(), Kind::List(_)) == value.is_array());
    match alike {
        // A list can only be meant as one: its own error tells more than that nothing fits.
        Some(list) if value.is_array() => check(value, list, path),
        Some(one) if check(value, one, path).is_ok() => Ok(()),
        _ => Err(misfit(value, schema, path, "does not fit")),
    }
}

fn check_list(value: &Value, schema: SchemaNode<'_>, inner: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    let list = value.as_array().ok_or_else(|| misfit(value, schema, path, "is not a list"))?;
    let length = list.len() as u64;
    if schema.length("minItems").is_some_and(|least| length < least) {
        return Err(misfit(value, schema, path, "is too short"));
    }
    if schema.length("maxItems").is_some_and(|most| length > most) {
        return Err(misfit(value, schema, path, "is too long"));
    }
    let mut elements = list.iter().enumerate();
    // The name of an element is only looked up where it is needed.
    elements.try_for_each(|(index, element)| {
        check(element, inner, "").or_else(|_| check(element, inner, &join(path, &step_to(list, index))))
    })
}

fn check_scalar(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    let result = match schema.format() {
        "time-with-unit" if is_delay(path) => Time::parse_delay(&text_of(value)).map(drop),
        "time-with-unit" => text_of(value).parse::<Time>().map(drop),
        "rate-with-unit" => text_of(value).parse::<Rate>().map(drop),
        "share" => text_of(value).parse::<Fraction>().map(drop),
        "transport" => schema.transports().parse(&text_of(value)).map(drop),
        _ => check_plain(value, schema, path),
    };
    result.map_err(|error| error.at(path).or_hint(schema.description()))
}

/// Returns whether the time at a path is a delay of the network, which is a matter of milliseconds.
fn is_delay(path: &str) -> bool {
    path.starts_with("network.") && path.split('.').any(|key| matches!(key, "delay" | "jitter" | "mean-fade"))
}

fn check_plain(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    if schema.has_type("boolean") {
        fits(value.is_boolean(), value, schema, path, "is neither true nor false")
    } else if schema.has_type("string") {
        fits(value.is_string(), value, schema, path, "is not a text")
    } else if schema.has_type("integer") {
        // serde takes no 1.0 for a whole number either, and would say so in its own words.
        fits(value.is_i64() || value.is_u64(), value, schema, path, "is not a whole number")?;
        check_range(value, schema, path)
    } else {
        fits(value.is_number(), value, schema, path, "is not a number")?;
        check_range(value, schema, path)
    }
}

fn check_range(value: &Value, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    let number = value.as_f64().unwrap_or(f64::NAN);
    let bound = |keyword| schema.keyword(keyword).and_then(Value::as_f64);
    let high_enough = bound("minimum").is_none_or(|least| number >= least);
    let above = bound("exclusiveMinimum").is_none_or(|limit| number > limit);
    fits(high_enough && above, value, schema, path, "is too small")?;
    match schema.maximum().filter(|most| number > *most) {
        Some(most) => Err(too_large(value, schema, path, most)),
        None => Ok(()),
    }
}

fn too_large(value: &Value, schema: SchemaNode<'_>, path: &str, most: f64) -> ScenarioError {
    let error = misfit(value, schema, path, "is too large");
    let has_maximum = schema.keyword("maximum").is_some();
    if has_maximum { error } else { error.allowed(format!("a whole number up to {most}")) }
}

fn fits(fits: bool, value: &Value, schema: SchemaNode<'_>, path: &str, problem: &str) -> Result<(), ScenarioError> {
    if fits { Ok(()) } else { Err(misfit(value, schema, path, problem)) }
}

fn misfit(value: &Value, schema: SchemaNode<'_>, path: &str, problem: &str) -> ScenarioError {
    ScenarioError::new(path, problem).value(value).allowed(schema.expected()).hint(schema.description())
}
