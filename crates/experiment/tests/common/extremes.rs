//! Scenarios made extreme: what comes of them is an error, or a run within the memory that was announced.

use earlybird_experiment::{Outputs, RunError, estimate, random_parts, run, warnings};
use earlybird_scenario::{Rate, Time, canonical_json, resolve, resolve_in};
use serde_json::{Value, json};
use std::path::Path;

/// Memory that a run may announce, in bytes; what asks for more is refused, as it is by the program.
pub(crate) const MEMORY: f64 = 400e6;

/// Questions whether to go on that are answered with yes: some hundred thousand events.
const PATIENCE: u32 = 400;

/// The outcome of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It is not valid.
    Invalid,
    /// It asks for more memory than there is.
    TooLarge,
    /// It was run, to its end or until nobody was interested any more.
    Ran,
}

/// Reads a scenario and runs it for a while.
pub(crate) fn try_text(folder: &Path, text: &str) -> Outcome {
    let Ok(scenario) = resolve_in(folder, text, &[]) else { return Outcome::Invalid };
    // A valid scenario is valid in its canonical form too, which is stored with a result.
    assert_eq!(resolve(&canonical_json(&scenario), &[]).as_ref(), Ok(&scenario));
    let Ok(expected) = estimate(&scenario, &Outputs::default()) else { return Outcome::Invalid };
    if expected.within(MEMORY).is_err() {
        return Outcome::TooLarge;
    }
    assert!(expected.bytes.is_finite() && expected.packets >= 0.0, "{expected:?}");
    if warnings(&scenario).is_err() || random_parts(&scenario).is_err() {
        return Outcome::Invalid;
    }
    let mut patience = PATIENCE;
    let mut keep_going = |_| {
        patience -= 1;
        patience > 0
    };
    match run(&scenario, 1, &Outputs::default(), &mut keep_going) {
        Ok(_) | Err(RunError::Interrupted) => Outcome::Ran,
        Err(_) => Outcome::Invalid,
    }
}

/// Returns the paths of all numbers, times and rates of a complete scenario.
pub(crate) fn leaves(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(document, String::new(), &mut found);
    found
}

fn collect(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            let parts = table.iter().filter(|(key, _)| !["parameters", "sweep", "title"].contains(&key.as_str()));
            parts.for_each(|(key, value)| collect(value, format!("{path}/{key}"), found));
        }
        // The first elements stand for the others.
        Value::Array(list) => {
            list.iter().take(3).enumerate().for_each(|(index, value)| collect(value, format!("{path}/{index}"), found));
        }
        _ if !extremes(value).is_empty() => found.push(path),
        _ => {}
    }
}

/// Returns extreme values in the place of one of the same kind.
pub(crate) fn extremes(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) if number.is_f64() => {
            [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300, -1.0].map(|one| json!(one)).into()
        }
        Value::Number(_) => [0, 1, 2, 65_535, 4_294_967_295, u64::MAX].map(|one| json!(one)).into(),
        Value::String(text) if text.parse::<Time>().is_ok() => {
            ["0s", "1ns", "999ns", "1us", "1h", "584y", "18446744073s"].map(|one| json!(one)).into()
        }
        Value::String(text) if text.parse::<Rate>().is_ok() => {
            ["1b/s", "7b/s", "18446744073709551615b/s", "1000Gb/s"].map(|one| json!(one)).into()
        }
        _ => Vec::new(),
    }
}
