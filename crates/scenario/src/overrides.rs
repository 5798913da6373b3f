//! Values given by key path: `--set`, the keys of a sweep's grid, and the overlays of variants.

use crate::document::{element_name, position};
use crate::parameters::{self, reference};
use crate::schema_check::unknown_key;
use crate::schema_walk::{Kind, SchemaNode};
use crate::similar_keys::elsewhere;
use earlybird_transport::{ScenarioError, did_you_mean, join, listed, nearest};
use serde_json::{Map, Value};

type Table = Map<String, Value>;

/// Puts `value` in the place of what stands at the key path `key`; tables on the way are made where they are missing.
pub(crate) fn set(document: &mut Value, root: SchemaNode<'_>, key: &str, value: Value) -> Result<(), ScenarioError> {
    let steps: Vec<_> = key.split('.').collect();
    // Apart from deeper keys: at the top level the word may be a misspelt parameter.
    if !root_keys(root).contains(&steps[0]) {
        return Err(unknown_root(document, root, key, steps[0]));
    }
    set_below(document, root, &steps, value, "")
}

/// The top-level keys that may be set; `resolve` alone writes the others.
fn root_keys(root: SchemaNode<'_>) -> Vec<&str> {
    root.keys().into_iter().filter(|key| !["parameters", "resolved"].contains(key)).collect()
}

/// Checks that a sweep's grid may use this key: a parameter or a key path.
pub(crate) fn check_key(document: &Value, root: SchemaNode<'_>, key: &str) -> Result<(), ScenarioError> {
    if parameters::declared(document).contains_key(key) {
        return Ok(());
    }
    // On a copy and with any value: only the path is checked, values come with the runs.
    set(&mut document.clone(), root, key, Value::Null)
}

/// Merges `overlay` into `base`: tables key by key, list elements by name or number; all else is replaced.
pub(crate) fn merge(
    base: &mut Value,
    overlay: &Value,
    schema: SchemaNode<'_>,
    path: &str,
) -> Result<(), ScenarioError> {
    match (base, overlay, schema.kind()) {
        (Value::Array(list), Value::Object(changes), Kind::List(inner)) => merge_list(list, changes, inner, path),
        (Value::Object(table), Value::Object(changes), _) if !chooses_anew(table, changes, schema) => {
            merge_table(table, changes, schema, path)
        }
        // Another option of a choice, or a value: nothing of the old one fits.
        (base, overlay, _) => {
            base.clone_from(overlay);
            Ok(())
        }
    }
}

fn merge_list(list: &mut [Value], changes: &Table, inner: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    changes.iter().try_for_each(|(step, change)| {
        let index = position(list, step).ok_or_else(|| no_element(list, path, step))?;
        merge(&mut list[index], change, inner, &join(path, step))
    })
}

fn merge_table(table: &mut Table, changes: &Table, schema: SchemaNode<'_>, path: &str) -> Result<(), ScenarioError> {
    changes.iter().try_for_each(|(key, change)| {
        // A key that the model does not have is reported later, by the check of the whole scenario.
        let child = schema.child(key).unwrap_or(schema.anything());
        merge(table.entry(key).or_insert(Value::Null), change, child, &join(path, key))
    })
}

/// Returns whether the changes select another option of a choice, which then replaces the old one.
fn chooses_anew(table: &Table, changes: &Table, schema: SchemaNode<'_>) -> bool {
    matches!(schema.kind(), Kind::Choice) && !changes.keys().all(|key| table.contains_key(key))
}

fn set_below(
    node: &mut Value,
    schema: SchemaNode<'_>,
    steps: &[&str],
    value: Value,
    path: &str,
) -> Result<(), ScenarioError> {
    let Some((step, rest)) = steps.split_first() else {
        *node = value;
        return Ok(());
    };
    // The value of the parameter comes later, and would replace what is set below it.
    if let Some(name) = reference(node) {
        return Err(hidden_by_parameter(path, step, name));
    }
    match schema.kind() {
        Kind::List(inner) => set_element(node, inner, steps, value, path),
        Kind::Map(_) => {
            // Keys of a map may have dots, as the key paths of `sweep.grid`: the rest is one key.
            *entry(node, &steps.join("."), false) = value;
            Ok(())
        }
        kind => {
            let child = schema.child(step).ok_or_else(|| no_child(path, step, schema))?;
            let child_node = entry(node, step, matches!(kind, Kind::Choice));
            set_below(child_node, child, rest, value, &join(path, step))
        }
    }
}

/// Returns the value under `key`, made if missing; `is_exclusive` removes what stands beside it.
fn entry<'a>(node: &'a mut Value, key: &str, is_exclusive: bool) -> &'a mut Value {
    if !node.is_object() || (is_exclusive && node.get(key).is_none()) {
        *node = Value::Object(Map::new());
    }
    &mut node[key]
}

fn set_element(
    node: &mut Value,
    inner: SchemaNode<'_>,
    steps: &[&str],
    value: Value,
    path: &str,
) -> Result<(), ScenarioError> {
    if node.is_null() {
        *node = Value::Array(Vec::new());
    }
    let Value::Array(list) = node else { return Err(ScenarioError::new(path, "is not a list").value(node)) };
    // The next number appends: a list can be built by `--set` alone.
    let index = position(list, steps[0]).or_else(|| new_last(list, steps[0]));
    let index = index.ok_or_else(|| no_element(list, path, steps[0]))?;
    set_below(&mut list[index], inner, &steps[1..], value, &join(path, steps[0]))
}

/// Appends an empty element if `step` is the number it then has.
fn new_last(list: &mut Vec<Value>, step: &str) -> Option<usize> {
    let index = step.parse().ok().filter(|index| *index == list.len())?;
    list.push(Value::Null);
    Some(index)
}

fn no_element(list: &[Value], path: &str, step: &str) -> ScenarioError {
    let names: Vec<_> = list.iter().filter_map(element_name).collect();
    let names = || names.iter().map(String::as_str);
    let numbers = if list.is_empty() { "0".to_owned() } else { format!("or a number from 0 to {}", list.len()) };
    ScenarioError::new(&join(path, step), "is not in the list")
        .text(step)
        .allowed(listed(names().chain([numbers.as_str()])))
        .hint(did_you_mean(nearest(step, names())))
}

fn no_child(path: &str, step: &str, schema: SchemaNode<'_>) -> ScenarioError {
    if !schema.keys().is_empty() {
        return unknown_key(path, step, schema);
    }
    ScenarioError::new(&join(path, step), format!("is not a key: `{path}` is a value, not a table"))
        .text(step)
        .allowed(format!("`{path}` itself, which is {}", schema.expected()))
}

fn hidden_by_parameter(path: &str, step: &str, name: &str) -> ScenarioError {
    ScenarioError::new(&join(path, step), format!("lies within the value of parameter `{name}`"))
        .text(step)
        .allowed(format!("the key `{path}` as a whole, or the parameter"))
        .hint(format!("set `{name}`."))
}

fn unknown_root(document: &Value, root: SchemaNode<'_>, key: &str, step: &str) -> ScenarioError {
    let declared = parameters::declared(document);
    let parameters = || declared.keys().map(String::as_str);
    let keys = root_keys(root);
    let names = if declared.is_empty() { "none".to_owned() } else { listed(parameters()) };
    // Without a similar word the key may be misplaced, not misspelt.
    let guess = nearest(step, parameters().chain(keys.iter().copied()));
    ScenarioError::new(key, "is neither a parameter nor a key")
        .text(step)
        .allowed(format!("parameters ({names}), and paths that start with {}", listed(keys.iter().copied())))
        .hint(guess.map_or_else(|| elsewhere(key, root), |guess| did_you_mean(Some(guess))))
}
