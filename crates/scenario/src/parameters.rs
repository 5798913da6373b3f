//! Named values: `[parameters]`, `"$name"` in their place, and the overlays of `[variants]`.

use crate::document::{join, parse_value, position, step_to};
use crate::error::{ScenarioError, text_of};
use crate::overrides::merge;
use crate::shape::Shape;
use crate::suggest::{did_you_mean, listed, nearest};
use serde_json::{Map, Value};
use std::sync::LazyLock;

static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The overlays of a scenario: parameter → value → overlay.
pub(crate) type Variants = Map<String, Value>;

/// Gives the declared parameters with their values.
pub(crate) fn declared(document: &Value) -> &Map<String, Value> {
    document.get("parameters").and_then(Value::as_object).unwrap_or(&NONE)
}

/// Tells whether the parameters are already applied and only kept for the record.
pub(crate) fn is_resolved(document: &Value) -> bool {
    document.get("resolved") == Some(&Value::Bool(true))
}

/// Gives the name in `"$name"`, if the value is such a reference.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix('$').filter(|name| is_name(name))
}

/// Takes the variants out of the document and checks that parameters and their uses match.
pub(crate) fn take_variants(document: &mut Value) -> Result<Variants, ScenarioError> {
    if is_resolved(document) {
        return Ok(Variants::new());
    }
    let variants = document.as_object_mut().and_then(|table| table.remove("variants"));
    let variants = variants.map_or(Ok(Variants::new()), into_variants)?;
    check_declarations(document)?;
    check_references(document, &variants)?;
    check_variants(document, &variants)?;
    check_usage(document, &variants)?;
    Ok(variants)
}

/// Gives parameters their values; hands back the overrides that are key paths.
pub(crate) fn assign<'a>(
    document: &mut Value,
    overrides: &'a [(String, String)],
) -> Result<Vec<(&'a str, Value)>, ScenarioError> {
    let mut paths = Vec::new();
    for (key, text) in overrides {
        let value = parse_value(text, key)?;
        let name = key.strip_prefix("parameters.").unwrap_or(key);
        if declared(document).contains_key(name) {
            refuse_if_resolved(document, key)?;
            document["parameters"][name] = value;
        } else {
            paths.push((key.as_str(), value));
        }
    }
    Ok(paths)
}

/// Merges the overlays that the parameters' values select, in the order of the parameters' names.
pub(crate) fn overlay(document: &mut Value, variants: &Variants) -> Result<(), ScenarioError> {
    for (name, choices) in variants {
        let value = &document["parameters"][name];
        let chosen = choices.get(text_of(value)).ok_or_else(|| no_variant(name, value, choices))?;
        merge(document, chosen, Shape::root(), "")?;
    }
    Ok(())
}

/// Puts the parameters' values in the place of their names.
pub(crate) fn substitute(document: &Value) -> Result<Value, ScenarioError> {
    let mut filled = document.clone();
    if is_resolved(document) || declared(document).is_empty() {
        return Ok(filled);
    }
    check_references(document, &Variants::new())?;
    let table = filled.as_object_mut().into_iter().flatten();
    table.filter(|(key, _)| *key != "parameters").for_each(|(_, value)| fill(value, declared(document)));
    filled["resolved"] = Value::Bool(true);
    Ok(filled)
}

/// Adds to an error that the value at its path is that of a parameter.
pub(crate) fn blame(error: ScenarioError, document: &Value) -> ScenarioError {
    let Some(name) = origin(document, &error.path).filter(|_| !is_resolved(document)) else { return error };
    let hint = format!("{} The value is that of parameter `{name}`.", error.hint);
    error.hint(hint.trim_start())
}

fn origin<'a>(document: &'a Value, path: &str) -> Option<&'a str> {
    let mut node = document;
    for step in path.split('.') {
        node = match node {
            Value::Array(list) => &list[position(list, step)?],
            Value::Object(table) => table.get(step)?,
            _ => break,
        };
    }
    reference(node)
}

fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    text.starts_with(|letter: char| letter.is_ascii_alphabetic()) && text.chars().all(is_part)
}

fn fill(value: &mut Value, parameters: &Map<String, Value>) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|element| fill(element, parameters)),
        Value::Object(table) => table.values_mut().for_each(|entry| fill(entry, parameters)),
        _ => {
            if let Some(known) = reference(value).and_then(|name| parameters.get(name)) {
                *value = known.clone();
            }
        }
    }
}

fn into_variants(value: Value) -> Result<Variants, ScenarioError> {
    match value {
        Value::Object(variants) => Ok(variants),
        other => Err(ScenarioError::new("variants", "is not a table").value(&other).allowed(VARIANTS)),
    }
}

const VARIANTS: &str = "tables [variants.PARAMETER.VALUE] with the keys to change";

fn check_declarations(document: &Value) -> Result<(), ScenarioError> {
    for (name, value) in declared(document) {
        let error = ScenarioError::new(&join("parameters", name), "");
        if !is_name(name) {
            let problem = "is not a name for a parameter".to_owned();
            let error = ScenarioError { problem, ..error }.text(name);
            return Err(error.allowed("a letter followed by letters, digits, `-` and `_`"));
        }
        if let Some(other) = reference(value) {
            let problem = format!("refers to another parameter, `{other}`");
            return Err(ScenarioError { problem, ..error }.value(value).allowed("a value"));
        }
    }
    Ok(())
}

/// Lists every `"$name"` of a value with its path.
fn references<'a>(value: &'a Value, path: &str, found: &mut Vec<(String, &'a str)>) {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, one)| references(one, &join(path, &step_to(list, index)), found));
        }
        Value::Object(table) => table.iter().for_each(|(key, one)| references(one, &join(path, key), found)),
        _ => found.extend(reference(value).map(|name| (path.to_owned(), name))),
    }
}

fn all_references<'a>(document: &'a Value, variants: &'a Variants) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    let table = document.as_object().into_iter().flatten();
    table.filter(|(key, _)| *key != "parameters").for_each(|(key, one)| references(one, key, &mut found));
    variants.iter().for_each(|(name, one)| references(one, &join("variants", name), &mut found));
    found
}

fn check_references(document: &Value, variants: &Variants) -> Result<(), ScenarioError> {
    let parameters = declared(document);
    match all_references(document, variants).into_iter().find(|(_, name)| !parameters.contains_key(*name)) {
        Some((path, name)) => Err(undeclared(&path, "$", name, parameters)),
        None => Ok(()),
    }
}

fn undeclared(path: &str, sign: &str, name: &str, parameters: &Map<String, Value>) -> ScenarioError {
    let names: Vec<_> = parameters.keys().map(|name| format!("{sign}{name}")).collect();
    let names = || names.iter().map(String::as_str);
    let allowed = if parameters.is_empty() { "no name, as [parameters] is empty".to_owned() } else { listed(names()) };
    let name = format!("{sign}{name}");
    let hint = did_you_mean(nearest(&name, names()));
    ScenarioError::new(path, "is not a parameter").text(&name).allowed(allowed).hint(hint)
}

fn check_variants(document: &Value, variants: &Variants) -> Result<(), ScenarioError> {
    for (name, choices) in variants {
        let path = join("variants", name);
        if !declared(document).contains_key(name) {
            return Err(undeclared(&path, "", name, declared(document)));
        }
        let choices = choices.as_object().ok_or_else(|| not_overlays(&path, choices))?;
        choices.iter().try_for_each(|(value, overlay)| check_overlay(&join(&path, value), overlay))?;
    }
    Ok(())
}

fn check_overlay(path: &str, overlay: &Value) -> Result<(), ScenarioError> {
    let keys = overlay.as_object().ok_or_else(|| not_overlays(path, overlay))?;
    let unchangeable = ["parameters", "variants", "resolved"].into_iter().find(|key| keys.contains_key(*key));
    let error = |key| ScenarioError::new(&join(path, key), "cannot depend on a parameter").text(key);
    unchangeable.map_or(Ok(()), |key| Err(error(key).allowed("the other keys of a scenario")))
}

fn not_overlays(path: &str, value: &Value) -> ScenarioError {
    ScenarioError::new(path, "is not a table").value(value).allowed(VARIANTS)
}

fn no_variant(name: &str, value: &Value, choices: &Value) -> ScenarioError {
    let names = || choices.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    ScenarioError::new(name, "is not among its variants")
        .value(value)
        .allowed(listed(names()))
        .hint(did_you_mean(nearest(&text_of(value), names())))
}

fn check_usage(document: &Value, variants: &Variants) -> Result<(), ScenarioError> {
    let used = all_references(document, variants);
    let is_used = |name: &str| variants.contains_key(name) || used.iter().any(|(_, other)| *other == name);
    match declared(document).keys().find(|name| !is_used(name)) {
        Some(name) => Err(unused(name)),
        None => Ok(()),
    }
}

fn unused(name: &str) -> ScenarioError {
    ScenarioError::new(&join("parameters", name), "is declared but never used")
        .text(name)
        .allowed("parameters that a value or a variant refers to")
        .hint(format!("write \"${name}\" where its value belongs, or take it out."))
}

fn refuse_if_resolved(document: &Value, key: &str) -> Result<(), ScenarioError> {
    if !is_resolved(document) {
        return Ok(());
    }
    Err(ScenarioError::new(key, "is a parameter that has already been filled in")
        .allowed("key paths, as the scenario is resolved")
        .hint("set the parameter of the original scenario."))
}
