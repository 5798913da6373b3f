#![allow(dead_code, reason = "each test file uses some of it")]
//! Runs of the scenarios that come with earlybird.

use earlybird_experiment::{Column, Outputs, Report, Value, run};
use earlybird_scenario::{Scenario, resolve, resolve_in};
use std::path::Path;

/// Runs a scenario file with changes.
pub(crate) fn report(file: &str, changes: &[(&str, &str)]) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join(file)).expect("a scenario file");
    let scenario = resolve_in(&folder, &text, &owned(changes)).expect("a good scenario");
    run_once(&scenario, &Outputs::default())
}

fn owned(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Reads a scenario that stands in the test, with changes.
pub(crate) fn scenario_of(text: &str, changes: &[(&str, &str)]) -> Scenario {
    resolve(text, &owned(changes)).expect("a good scenario")
}

/// Runs a scenario, which may write files.
pub(crate) fn run_once(scenario: &Scenario, outputs: &Outputs) -> Report {
    run(scenario, 1, outputs, &mut |_| true).expect("a run")
}

/// Runs a scenario that stands in the test.
pub(crate) fn run_text(text: &str) -> Report {
    run_once(&scenario_of(text, &[]), &Outputs::default())
}

/// Returns a number of the summary.
pub(crate) fn summary(report: &Report, key: &str) -> f64 {
    match report.summary.iter().find(|(name, _)| name == key) {
        Some((_, Value::Float(value))) => *value,
        Some((_, Value::Integer(value))) => *value as f64,
        other => panic!("{key}: {other:?}"),
    }
}

/// Returns a column of a table, by name.
pub(crate) fn column(report: &Report, table: &str, column: &str) -> Column {
    let table = &report.tables.iter().find(|(name, _)| *name == table).expect("a table").1;
    table.columns.iter().find(|(name, _)| *name == column).expect("a column").1.clone()
}

/// Returns a column of real numbers.
pub(crate) fn real(report: &Report, table: &str, name: &str) -> Vec<f64> {
    match column(report, table, name) {
        Column::Float(values) => values,
        other => panic!("{other:?}"),
    }
}

/// Returns a column of whole numbers.
pub(crate) fn whole(report: &Report, table: &str, name: &str) -> Vec<i64> {
    match column(report, table, name) {
        Column::Integer(values) => values,
        other => panic!("{other:?}"),
    }
}

/// Returns a column of texts.
pub(crate) fn texts(report: &Report, table: &str, name: &str) -> Vec<String> {
    match column(report, table, name) {
        Column::String(values) => values,
        other => panic!("{other:?}"),
    }
}
