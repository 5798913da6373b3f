//! Perturbations of a scenario: each setting with other values, each flow and link left out.

use crate::document::step_to;
use crate::model::Scenario;
use crate::schema_walk::{DocumentSchema, Kind, SchemaNode};
use earlybird_transport::join;
use serde::Deserialize;
use serde_json::{Value, json};

/// A setting that is declared, and is not what it would be if it were left out.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its path, as errors have it.
    pub path: String,
    /// Its value; nothing for a flow or a link.
    pub value: Option<Value>,
    /// The scenario without it.
    pub without: Scenario,
    /// The scenario with other values of it.
    pub others: Vec<Scenario>,
}

/// Parts of a scenario on which its run depends.
const PARTS: [&str; 3] = ["endpoint", "flows", "network"];
/// The key of the application: it always has an effect, and its value may be long.
const ALWAYS_READ: &str = "application";

/// Visits every flow and link and every setting. The settings of a flow or link are left out if `is_of_interest` returns
/// `false` for it.
pub fn visit_settings(scenario: &Scenario, is_of_interest: &mut dyn FnMut(Setting) -> bool) {
    let Ok(mut document) = serde_json::to_value(scenario) else { return };
    let schema = DocumentSchema::of(scenario.endpoint.controls.transports());
    let mut walk = Walk { scenario, is_of_interest };
    for part in PARTS {
        walk.below(&mut document, &mut vec![Step::Key(part.to_owned())], part, schema.root().child(part));
    }
}

/// Reads a changed document of a scenario, with the same register of transports.
fn read(document: &Value, scenario: &Scenario) -> Option<Scenario> {
    let changed = Scenario::deserialize(document).ok()?;
    changed.with_transports(scenario.endpoint.controls.transports()).ok()
}

#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

struct Walk<'a> {
    scenario: &'a Scenario,
    is_of_interest: &'a mut dyn FnMut(Setting) -> bool,
}

fn at<'a>(document: &'a mut Value, steps: &[Step]) -> &'a mut Value {
    steps.iter().fold(document, |node, step| match step {
        Step::Key(key) => &mut node[key.as_str()],
        Step::Index(index) => &mut node[*index],
    })
}

impl Walk<'_> {
    fn below(&mut self, document: &mut Value, steps: &mut Vec<Step>, path: &str, schema: Option<SchemaNode<'_>>) {
        let Some(schema) = schema else { return };
        match at(document, steps).clone() {
            Value::Object(entries) => {
                for key in entries.keys().filter(|key| *key != ALWAYS_READ) {
                    steps.push(Step::Key(key.clone()));
                    self.entry(document, steps, &join(path, key), schema.child(key));
                    steps.pop();
                }
            }
            Value::Array(list) if list.iter().all(Value::is_object) => {
                let Kind::List(inner) = schema.kind() else { return };
                for index in 0..list.len() {
                    self.element(document, steps, index, &join(path, &step_to(&list, index)), inner);
                }
            }
            _ => {}
        }
    }

    fn element(
        &mut self,
        document: &mut Value,
        steps: &mut Vec<Step>,
        index: usize,
        path: &str,
        schema: SchemaNode<'_>,
    ) {
        let Some(element) = at(document, steps).as_array_mut().map(|list| list.remove(index)) else { return };
        // There is no scenario without any flow or link; of losses and changes of a rate none is needed.
        let is_last = at(document, steps).as_array().is_some_and(Vec::is_empty) && is_needed(steps);
        let without = read(document, self.scenario).filter(|_| !is_last);
        if let Some(list) = at(document, steps).as_array_mut() {
            list.insert(index, element);
        }
        let setting = |without| Setting { path: path.to_owned(), value: None, without, others: Vec::new() };
        if without.is_some_and(|without| !(self.is_of_interest)(setting(without))) {
            return;
        }
        steps.push(Step::Index(index));
        self.below(document, steps, path, Some(schema));
        steps.pop();
    }

    fn entry(&mut self, document: &mut Value, steps: &mut Vec<Step>, path: &str, schema: Option<SchemaNode<'_>>) {
        let value = at(document, steps).take();
        // A table is no setting itself: its entries are visited one by one.
        let is_table = value.is_object() || value.as_array().is_some_and(|list| list.iter().any(Value::is_object));
        let others = if is_table { Vec::new() } else { others(&value, schema) };
        // Takes the key out; each assignment below puts it back.
        let without = self.left_out(document, steps);
        let scenario = self.scenario;
        let mut with = |other: Value| {
            *at(document, steps) = other;
            read(document, scenario)
        };
        // Equal to the scenario: the value is the default, and leaving it out changes nothing.
        if let Some(without) = without.filter(|without| !is_table && without != self.scenario) {
            let others = others.into_iter().filter_map(&mut with).collect();
            (self.is_of_interest)(Setting { path: path.to_owned(), value: Some(value.clone()), without, others });
        }
        *at(document, steps) = value;
        if is_table {
            self.below(document, steps, path, schema);
        }
    }

    /// Reads the document without the entry that `steps` lead to.
    fn left_out(&self, document: &mut Value, steps: &[Step]) -> Option<Scenario> {
        let (Step::Key(key), table) = steps.split_last()? else { return None };
        let table = at(document, table).as_object_mut()?;
        table.remove(key);
        read(document, self.scenario)
    }
}

/// Returns whether a list must have an element: that of flows, or of links.
fn is_needed(steps: &[Step]) -> bool {
    matches!(steps.last(), Some(Step::Key(key)) if key == "flows" || key == "links")
}

/// Returns other values of a setting's kind; not all of them need be legal.
fn others(value: &Value, schema: Option<SchemaNode<'_>>) -> Vec<Value> {
    let Some(schema) = schema else { return Vec::new() };
    if let Kind::Choice = schema.kind() {
        return schema.options().filter(|(_, inner)| inner.is_none()).map(|(word, _)| json!(word)).collect();
    }
    match (schema.format(), value) {
        ("time-with-unit", _) => vec![json!("1.25ms"), json!("1.25s")],
        ("rate-with-unit", _) => vec![json!("1.25Mb/s")],
        ("transport", _) => vec![json!("tahoe"), json!("cubic"), json!("udp")],
        (_, Value::Bool(truth)) => vec![json!(!truth)],
        (_, Value::Number(number)) => {
            // One more and half: where one of them is out of range, the other is not.
            let whole = number.as_u64().map(|whole| json!(whole + 1));
            whole.into_iter().chain(number.as_f64().map(|real| json!(real / 2.0))).collect()
        }
        _ => Vec::new(),
    }
}
