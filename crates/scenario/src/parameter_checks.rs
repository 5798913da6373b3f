//! Whether parameters, variants and the places that refer to them match.

use crate::document::step_to;
use crate::parameters::{Variants, declared, is_name, is_resolved, reference};
use earlybird_transport::{ScenarioError, did_you_mean, join, listed, nearest};
use serde_json::{Map, Value};

/// Takes the variants out of the document and checks that parameters and their uses match.
pub(crate) fn take_variants(document: &mut Value) -> Result<Variants, ScenarioError> {
    // Their record stays, but nothing refers to it any more.
    if is_resolved(document) {
        return Ok(Variants::new());
    }
    let variants = document.as_object_mut().and_then(|table| table.remove("variants"));
    let variants = variants.map_or(Ok(Variants::new()), into_variants)?;
    // Names first: a `$name` is a reference only if the name is one.
    check_declarations(document)?;
    check_references(document, &variants)?;
    check_variants(document, &variants)?;
    // Last: a misspelt use leaves its parameter unused, and the misspelling is what to tell.
    check_usage(document, &variants)?;
    Ok(variants)
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
        // Values are put in once, so that a reference within one would stay.
        if let Some(other) = reference(value) {
            let problem = format!("refers to another parameter, `{other}`");
            return Err(ScenarioError { problem, ..error }.value(value).allowed("a value"));
        }
    }
    Ok(())
}

/// A `"$name"` with its path.
type Found<'a> = (String, &'a str);

/// Finds the first `"$name"` with a wanted name.
fn find<'a>(value: &'a Value, wanted: &dyn Fn(&str) -> bool) -> Option<Found<'a>> {
    match value {
        Value::Array(list) => list.iter().enumerate().find_map(|(index, one)| {
            let found = find(one, wanted)?;
            Some(below(&step_to(list, index), found))
        }),
        Value::Object(table) => table.iter().find_map(|(key, one)| Some(below(key, find(one, wanted)?))),
        _ => Some((String::new(), reference(value).filter(|name| wanted(name))?)),
    }
}

fn below<'a>(step: &str, (path, name): Found<'a>) -> Found<'a> {
    (join(step, &path), name)
}

/// Like [`find`], in the whole document except the parameters themselves.
fn find_use<'a>(document: &'a Value, variants: &'a Variants, wanted: &dyn Fn(&str) -> bool) -> Option<Found<'a>> {
    let mut keys = document.as_object().into_iter().flatten().filter(|(key, _)| *key != "parameters");
    let in_document = keys.find_map(|(key, one)| Some(below(key, find(one, wanted)?)));
    let in_overlays =
        || variants.iter().find_map(|(name, one)| Some(below(&join("variants", name), find(one, wanted)?)));
    in_document.or_else(in_overlays)
}

/// Checks that every `"$name"` is declared.
pub(crate) fn check_references(document: &Value, variants: &Variants) -> Result<(), ScenarioError> {
    let parameters = declared(document);
    match find_use(document, variants, &|name| !parameters.contains_key(name)) {
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
    // They decide which overlays apply.
    let unchangeable = ["parameters", "variants", "resolved"].into_iter().find(|key| keys.contains_key(*key));
    let error = |key| ScenarioError::new(&join(path, key), "cannot depend on a parameter").text(key);
    unchangeable.map_or(Ok(()), |key| Err(error(key).allowed("the other keys of a scenario")))
}

fn not_overlays(path: &str, value: &Value) -> ScenarioError {
    ScenarioError::new(path, "is not a table").value(value).allowed(VARIANTS)
}

fn check_usage(document: &Value, variants: &Variants) -> Result<(), ScenarioError> {
    let is_used =
        |name: &str| variants.contains_key(name) || find_use(document, variants, &|one| one == name).is_some();
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
