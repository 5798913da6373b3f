//! The line of a TOML text in which an error is.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

type Value<'a> = Spanned<DeValue<'a>>;

/// Returns the line, from 1, of what is at a key path of a TOML text; if only its beginning exists, the line of that.
///
/// List elements are picked by name or number, as in [`crate::ScenarioError::path`]. Returns `None` for JSON, for text that is
/// not TOML, and if not even the first key exists.
pub fn line_of(text: &str, path: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut steps = path.split('.');
    let (mut start, mut node) = entry(document.get_ref(), steps.next()?)?;
    for step in steps {
        // A missing key has no line: the table that lacks it is what the reader has to look at.
        let Some((inner_start, inner)) = child(node, step) else { break };
        (start, node) = (inner_start, inner);
    }
    Some(text[..start].matches('\n').count() + 1)
}

fn child<'a, 'd>(node: &'a Value<'d>, step: &str) -> Option<(usize, &'a Value<'d>)> {
    match node.get_ref() {
        DeValue::Table(table) => entry(table, step),
        DeValue::Array(list) => element(list, step),
        _ => None,
    }
}

/// Returns where a key is written, and its value.
fn entry<'a, 'd>(table: &'a DeTable<'d>, key: &str) -> Option<(usize, &'a Value<'d>)> {
    let (name, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    Some((name.span().start, value))
}

fn element<'a, 'd>(list: &'a DeArray<'d>, step: &str) -> Option<(usize, &'a Value<'d>)> {
    let named = list.iter().find(|one| element_name(one).as_deref() == Some(step));
    let found = named.or_else(|| list.get(step.parse::<usize>().ok()?))?;
    Some((found.span().start, found))
}

/// Returns the name of a list element, by the rule of `document::element_name`.
fn element_name(element: &Value<'_>) -> Option<String> {
    let text = |key| element.get_ref().as_table()?.iter().find(|(name, _)| name.get_ref() == key)?.1.get_ref().as_str();
    text("name").map(str::to_owned).or_else(|| Some(format!("{}-{}", text("from")?, text("to")?)))
}
