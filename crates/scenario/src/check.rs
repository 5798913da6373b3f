//! Compares a document with the shape of the model, so that every misfit is named in the user's terms.

use crate::allowed::option_text;
use crate::document::{join, step_to};
use crate::error::{ScenarioError, text_of};
use crate::nearby::elsewhere;
use crate::quantity::{Fraction, Rate, Time};
use crate::shape::{Kind, Shape};
use crate::suggest::{did_you_mean, listed, nearest};
use crate::transport::Transport;
use serde_json::{Map, Value};

/// Checks keys, types and ranges of `value` and everything in it.
pub(crate) fn check(value: &Value, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    if value.is_null() && shape.optional {
        return Ok(());
    }
    match shape.kind() {
        Kind::Table(_) => check_table(table(value, shape, path)?, shape, path),
        Kind::Map(inner) => check_map(table(value, shape, path)?, inner, path),
        Kind::Choice => check_choice(value, shape, path),
        Kind::Either => check_either(value, shape, path),
        Kind::List(inner) => check_list(value, shape, inner, path),
        Kind::Scalar => check_scalar(value, shape, path),
        Kind::Any => Ok(()),
    }
}

/// Says that `key` does not exist at `path`, and which do.
pub(crate) fn unknown_key(path: &str, key: &str, shape: Shape) -> ScenarioError {
    // Variants are taken out of the document before it is compared with the model.
    let more = path.is_empty().then_some("variants");
    let keys: Vec<_> = shape.keys().into_iter().chain(more).collect();
    let guess = nearest(key, keys.iter().copied());
    let hint = guess.map_or_else(|| elsewhere(key), |guess| did_you_mean(Some(guess)));
    ScenarioError::new(&join(path, key), "is not a key here").text(key).allowed(listed(keys)).hint(hint)
}

fn table<'a>(value: &'a Value, shape: Shape, path: &str) -> Result<&'a Map<String, Value>, ScenarioError> {
    value.as_object().ok_or_else(|| misfit(value, shape, path, "is not a table"))
}

fn check_table(entries: &Map<String, Value>, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    if let Some(key) = entries.keys().find(|key| shape.child(key).is_none()) {
        return Err(unknown_key(path, key, shape));
    }
    if let Some(key) = shape.required().find(|key| !entries.contains_key(*key)) {
        return Err(missing(path, key, shape));
    }
    let known = entries.iter().filter_map(|(key, value)| Some((key, value, shape.child(key)?)));
    known.into_iter().try_for_each(|(key, value, child)| check(value, child, &join(path, key)))
}

fn missing(path: &str, key: &str, shape: Shape) -> ScenarioError {
    let error = ScenarioError::new(&join(path, key), "is missing");
    shape.child(key).map_or(error.clone(), |child| error.allowed(child.allowed()).hint(child.description()))
}

fn check_map(entries: &Map<String, Value>, inner: Shape, path: &str) -> Result<(), ScenarioError> {
    entries.iter().try_for_each(|(key, value)| check(value, inner, &join(path, key)))
}

fn check_choice(value: &Value, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    match value {
        Value::String(word) => check_word(word, shape, path),
        Value::Object(entries) if entries.len() == 1 => entries.iter().try_for_each(|(key, value)| {
            let inner = shape.child(key).ok_or_else(|| unknown_key(path, key, shape))?;
            check(value, inner, &join(path, key))
        }),
        Value::Object(_) => Err(misfit(value, shape, path, "does not choose exactly one")),
        _ => Err(misfit(value, shape, path, "is not one of the choices")),
    }
}

fn check_word(word: &str, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    let mut options = shape.options();
    if options.any(|(name, inner)| name == word && inner.is_none()) {
        return Ok(());
    }
    let guess = nearest(word, shape.options().map(|(name, _)| name));
    let guess = shape.options().find(|(name, _)| guess == Some(name)).map(option_text);
    Err(ScenarioError::new(path, "is not one of the choices")
        .text(word)
        .allowed(shape.allowed())
        .hint(did_you_mean(guess.as_deref()))
        .or_hint(shape.description()))
}

fn check_either(value: &Value, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    let alike = shape.alternatives().find(|one| matches!(one.kind(), Kind::List(_)) == value.is_array());
    match alike {
        Some(list) if value.is_array() => check(value, list, path),
        Some(one) if check(value, one, path).is_ok() => Ok(()),
        _ => Err(misfit(value, shape, path, "does not fit")),
    }
}

fn check_list(value: &Value, shape: Shape, inner: Shape, path: &str) -> Result<(), ScenarioError> {
    let list = value.as_array().ok_or_else(|| misfit(value, shape, path, "is not a list"))?;
    let length = list.len() as u64;
    if shape.length("minItems").is_some_and(|least| length < least) {
        return Err(misfit(value, shape, path, "is too short"));
    }
    if shape.length("maxItems").is_some_and(|most| length > most) {
        return Err(misfit(value, shape, path, "is too long"));
    }
    let mut elements = list.iter().enumerate();
    // The name of an element is only looked up where it is needed.
    elements.try_for_each(|(index, element)| {
        check(element, inner, "").or_else(|_| check(element, inner, &join(path, &step_to(list, index))))
    })
}

fn check_scalar(value: &Value, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    let result = match shape.format() {
        "time-with-unit" => text_of(value).parse::<Time>().map(drop),
        "rate-with-unit" => text_of(value).parse::<Rate>().map(drop),
        "share" => text_of(value).parse::<Fraction>().map(drop),
        "transport" => text_of(value).parse::<Transport>().map(drop),
        _ => check_plain(value, shape, path),
    };
    result.map_err(|error| error.at(path).or_hint(shape.description()))
}

fn check_plain(value: &Value, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    if shape.has_type("boolean") {
        fits(value.is_boolean(), value, shape, path, "is neither true nor false")
    } else if shape.has_type("string") {
        fits(value.is_string(), value, shape, path, "is not a text")
    } else if shape.has_type("integer") {
        fits(value.is_i64() || value.is_u64(), value, shape, path, "is not a whole number")?;
        check_range(value, shape, path)
    } else {
        fits(value.is_number(), value, shape, path, "is not a number")?;
        check_range(value, shape, path)
    }
}

fn check_range(value: &Value, shape: Shape, path: &str) -> Result<(), ScenarioError> {
    let number = value.as_f64().unwrap_or(f64::NAN);
    let bound = |keyword| shape.keyword(keyword).and_then(Value::as_f64);
    let high_enough = bound("minimum").is_none_or(|least| number >= least);
    let above = bound("exclusiveMinimum").is_none_or(|limit| number > limit);
    fits(high_enough && above, value, shape, path, "is too small")?;
    match shape.maximum().filter(|most| number > *most) {
        Some(most) => Err(too_large(value, shape, path, most)),
        None => Ok(()),
    }
}

fn too_large(value: &Value, shape: Shape, path: &str, most: f64) -> ScenarioError {
    let error = misfit(value, shape, path, "is too large");
    let is_said = shape.keyword("maximum").is_some();
    if is_said { error } else { error.allowed(format!("a whole number up to {most}")) }
}

fn fits(fits: bool, value: &Value, shape: Shape, path: &str, problem: &str) -> Result<(), ScenarioError> {
    if fits { Ok(()) } else { Err(misfit(value, shape, path, problem)) }
}

fn misfit(value: &Value, shape: Shape, path: &str, problem: &str) -> ScenarioError {
    ScenarioError::new(path, problem).value(value).allowed(shape.allowed()).hint(shape.description())
}
