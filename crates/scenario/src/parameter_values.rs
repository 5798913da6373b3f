//! The values of parameters: from overrides, through the overlays of `[variants]`, into the places of their names.

use crate::document::{parse_value, position};
use crate::overrides::merge;
use crate::parameter_checks::check_references;
use crate::parameters::{Variants, declared, is_resolved, reference};
use crate::schema_walk::SchemaNode;
use earlybird_transport::{ScenarioError, did_you_mean, listed, nearest, text_of};
use serde_json::{Map, Value};

/// Sets parameters to the values of overrides. Returns the overrides that are key paths.
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

/// The variant for every value that is not listed.
const ANY_OTHER: &str = "*";

/// Merges the overlays that the parameters' values select, in the order of the parameters' names.
pub(crate) fn overlay(document: &mut Value, variants: &Variants, root: SchemaNode<'_>) -> Result<(), ScenarioError> {
    for (name, choices) in variants {
        let value = &document["parameters"][name];
        let chosen = choices
            .get(text_of(value))
            // A listed value wins, wherever `*` stands.
            .or_else(|| choices.get(ANY_OTHER))
            .ok_or_else(|| no_variant(name, value, choices))?;
        merge(document, chosen, root, "")?;
    }
    Ok(())
}

/// Puts the parameters' values in the place of their names.
pub(crate) fn substitute(document: &Value) -> Result<Value, ScenarioError> {
    let mut filled = document.clone();
    if is_resolved(document) || declared(document).is_empty() {
        return Ok(filled);
    }
    // Once more: overrides and overlays may have brought references.
    check_references(document, &Variants::new())?;
    let table = filled.as_object_mut().into_iter().flatten();
    // The record of the parameters keeps what was declared or overridden.
    table.filter(|(key, _)| *key != "parameters").for_each(|(_, value)| fill(value, declared(document)));
    filled["resolved"] = Value::Bool(true);
    Ok(filled)
}

/// Adds a hint to an error if the value at its path is that of a parameter.
pub(crate) fn add_parameter_hint(error: ScenarioError, document: &Value) -> ScenarioError {
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
            // The path may lead on into the value that was put in here.
            _ => break,
        };
    }
    reference(node)
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

fn no_variant(name: &str, value: &Value, choices: &Value) -> ScenarioError {
    let names = || choices.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    ScenarioError::new(name, "is not among its variants")
        .value(value)
        .allowed(listed(names()))
        .hint(did_you_mean(nearest(&text_of(value), names())))
}

fn refuse_if_resolved(document: &Value, key: &str) -> Result<(), ScenarioError> {
    if !is_resolved(document) {
        return Ok(());
    }
    Err(ScenarioError::new(key, "is a parameter that has already been filled in")
        .allowed("key paths, as the scenario is resolved")
        .hint("set the parameter of the original scenario."))
}
