//! From text to a JSON value: the one form every later step works on.

use earlybird_transport::{ScenarioError, join};
use serde_json::{Map, Value};

/// Reads TOML, or JSON if the text starts with a brace.
pub(crate) fn parse(text: &str) -> Result<Value, ScenarioError> {
    // No TOML document starts with a brace, so that the language need not be said.
    if text.trim_start().starts_with('{') { parse_json(text) } else { parse_toml(text) }
}

/// Reads a value as `--set` takes it: TOML, and what is not TOML is a text.
pub(crate) fn parse_value(text: &str, path: &str) -> Result<Value, ScenarioError> {
    match text.trim().parse::<toml::Value>() {
        Ok(value) => from_toml(value, path),
        // A bare word such as `pert` or `20ms`: quotes would have to survive the shell.
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// Returns the name by which a path picks this list element: its `name`, or `from-to` if it is a link.
pub(crate) fn element_name(element: &Value) -> Option<String> {
    let text = |key| element.get(key).and_then(Value::as_str);
    match text("name") {
        Some(name) => Some(name.to_owned()),
        None => Some(format!("{}-{}", text("from")?, text("to")?)),
    }
}

/// Finds the list element that a step of a path picks, by name or by number from 0.
pub(crate) fn position(list: &[Value], step: &str) -> Option<usize> {
    // A name wins over a number, as errors and resolved scenarios write names.
    let named = list.iter().position(|element| element_name(element).as_deref() == Some(step));
    named.or_else(|| step.parse().ok().filter(|index| *index < list.len()))
}

/// Returns the shortest step that picks element `index`: its name where that is unique so far, else its number.
pub(crate) fn step_to(list: &[Value], index: usize) -> String {
    let name = element_name(&list[index]).filter(|name| position(list, name) == Some(index));
    // A dot would end the step.
    name.filter(|name| !name.is_empty() && !name.contains('.')).unwrap_or_else(|| index.to_string())
}

/// Writes a path as errors do, from one in which numbers in brackets pick list elements.
pub(crate) fn named(document: &Value, path: &str) -> String {
    let mut node = Some(document);
    let steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    let names = steps.map(|step| {
        let list = node.and_then(Value::as_array);
        let index = list.and_then(|list| step.parse().ok().filter(|index| *index < list.len()));
        node = node.and_then(|node| index.map_or_else(|| node.get(step), |index| node.get(index)));
        index.zip(list).map_or_else(|| step.to_owned(), |(index, list)| step_to(list, index))
    });
    names.collect::<Vec<_>>().join(".")
}

fn parse_json(text: &str) -> Result<Value, ScenarioError> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        // serde_json repeats the place, which is the path of the error.
        let message = message.split(" at line ").next().unwrap_or_default();
        syntax_error(text, error.line(), error.column(), "JSON", message)
    })
}

fn parse_toml(text: &str) -> Result<Value, ScenarioError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        syntax_error(text, line, column, "TOML", error.message())
    })?;
    from_toml(toml::Value::Table(table), "")
}

fn syntax_error(text: &str, line: usize, column: usize, language: &str, message: &str) -> ScenarioError {
    let written = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    ScenarioError::new(&format!("line {line}, column {column}"), format!("is not {language}: {message}"))
        .text(written.trim())
        .allowed("TOML, or JSON in a text that starts with `{`")
}

/// Returns line and column, from 1, of a byte of the text.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    // Columns as editors count them: in characters.
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

fn from_toml(value: toml::Value, path: &str) -> Result<Value, ScenarioError> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => finite(number, path)?,
        toml::Value::Boolean(truth) => Value::Bool(truth),
        // JSON has no dates: as a text the schema can judge it.
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(list) => from_list(list, path)?,
        toml::Value::Table(table) => from_table(table, path)?,
    })
}

fn finite(number: f64, path: &str) -> Result<Value, ScenarioError> {
    // TOML has `inf` and `nan`, JSON has not.
    let error = || ScenarioError::new(path, "is not finite").text(&number.to_string()).allowed("a finite number");
    serde_json::Number::from_f64(number).map(Value::Number).ok_or_else(error)
}

fn from_list(list: Vec<toml::Value>, path: &str) -> Result<Value, ScenarioError> {
    let elements = list.into_iter().enumerate();
    let values = elements.map(|(index, element)| from_toml(element, &join(path, &index.to_string())));
    values.collect::<Result<_, _>>().map(Value::Array)
}

fn from_table(table: toml::Table, path: &str) -> Result<Value, ScenarioError> {
    let entry = |(key, value): (String, toml::Value)| {
        let value = from_toml(value, &join(path, &key))?;
        Ok((key, value))
    };
    table.into_iter().map(entry).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}
