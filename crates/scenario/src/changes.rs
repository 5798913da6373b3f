//! What of a scenario could be otherwise: each setting with other values, each flow and link left out.

use crate::document::{join, step_to};
use crate::model::Scenario;
use crate::shape::{Kind, Shape};
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

/// Parts of a scenario that shape its run.
const PARTS: [&str; 3] = ["endpoint", "flows", "network"];
/// What a flow writes is always read, and may be long.
const ALWAYS_READ: &str = "application";

/// Looks at every flow and link, and at every setting, until `is_of_interest` says of a flow or link that its settings are
/// not.
pub fn visit_settings(scenario: &Scenario, is_of_interest: &mut dyn FnMut(Setting) -> bool) {
    let Ok(mut document) = serde_json::to_value(scenario) else { return };
    let mut walk = Walk { scenario, is_of_interest };
    for part in PARTS {
        walk.below(&mut document, &mut vec![Step::Key(part.to_owned())], part, Shape::root().child(part));
    }
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
    fn below(&mut self, document: &mut Value, steps: &mut Vec<Step>, path: &str, shape: Option<Shape>) {
        let Some(shape) = shape else { return };
        match at(document, steps).clone() {
            Value::Object(entries) => {
                for key in entries.keys().filter(|key| *key != ALWAYS_READ) {
                    steps.push(Step::Key(key.clone()));
                    self.entry(document, steps, &join(path, key), shape.child(key));
                    steps.pop();
                }
            }
            Value::Array(list) if list.iter().all(Value::is_object) => {
                let Kind::List(inner) = shape.kind() else { return };
                for index in 0..list.len() {
                    self.element(document, steps, index, &join(path, &step_to(&list, index)), inner);
                }
            }
            _ => {}
        }
    }

    fn element(&mut self, document: &mut Value, steps: &mut Vec<Step>, index: usize, path: &str, shape: Shape) {
        let Some(element) = at(document, steps).as_array_mut().map(|list| list.remove(index)) else { return };
        // There is no scenario without any flow or link.
        let is_last = at(document, steps).as_array().is_some_and(Vec::is_empty);
        let without = Scenario::deserialize(&*document).ok().filter(|_| !is_last);
        if let Some(list) = at(document, steps).as_array_mut() {
            list.insert(index, element);
        }
        let setting = |without| Setting { path: path.to_owned(), value: None, without, others: Vec::new() };
        if without.is_some_and(|without| !(self.is_of_interest)(setting(without))) {
            return;
        }
        steps.push(Step::Index(index));
        self.below(document, steps, path, Some(shape));
        steps.pop();
    }

    fn entry(&mut self, document: &mut Value, steps: &mut Vec<Step>, path: &str, shape: Option<Shape>) {
        let value = at(document, steps).take();
        let is_table = value.is_object() || value.as_array().is_some_and(|list| list.iter().any(Value::is_object));
        let others = if is_table { Vec::new() } else { others(&value, shape) };
        let without = Self::left_out(document, steps);
        let mut with = |other: Value| {
            *at(document, steps) = other;
            Scenario::deserialize(&*document).ok()
        };
        if let Some(without) = without.filter(|without| !is_table && without != self.scenario) {
            let others = others.into_iter().filter_map(&mut with).collect();
            (self.is_of_interest)(Setting { path: path.to_owned(), value: Some(value.clone()), without, others });
        }
        *at(document, steps) = value;
        if is_table {
            self.below(document, steps, path, shape);
        }
    }

    /// Reads the document without the entry that `steps` lead to.
    fn left_out(document: &mut Value, steps: &[Step]) -> Option<Scenario> {
        let (Step::Key(key), table) = steps.split_last()? else { return None };
        let table = at(document, table).as_object_mut()?;
        table.remove(key);
        Scenario::deserialize(&*document).ok()
    }
}

/// Returns other values of a setting's kind; not all of them need be legal.
fn others(value: &Value, shape: Option<Shape>) -> Vec<Value> {
    let Some(shape) = shape else { return Vec::new() };
    if let Kind::Choice = shape.kind() {
        return shape.options().filter(|(_, inner)| inner.is_none()).map(|(word, _)| json!(word)).collect();
    }
    match (shape.format(), value) {
        ("time-with-unit", _) => vec![json!("1.25ms"), json!("1.25s")],
        ("rate-with-unit", _) => vec![json!("1.25Mb/s")],
        ("transport", _) => vec![json!("tahoe"), json!("cubic"), json!("udp")],
        (_, Value::Bool(truth)) => vec![json!(!truth)],
        (_, Value::Number(number)) => {
            let whole = number.as_u64().map(|whole| json!(whole + 1));
            whole.into_iter().chain(number.as_f64().map(|real| json!(real / 2.0))).collect()
        }
        _ => Vec::new(),
    }
}
