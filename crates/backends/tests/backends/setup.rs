//! Scenarios to run, and what is read of their reports.

use earlybird_experiment::{Column, Outputs, Report, RunError, Value};
use earlybird_scenario::Scenario;

/// 10 Mb/s, 40 ms there and back, one flow of each name.
pub(crate) fn scenario(flows: &str, extra: &str) -> Scenario {
    scenario_over("", flows, extra)
}

/// The same, with more settings of the link.
pub(crate) fn scenario_over(link: &str, flows: &str, extra: &str) -> Scenario {
    let text = format!(
        r#"
        duration = "4s"
        {extra}
        measure.warm-up = "1s"
        measure.start-up-delays = ["200ms", "1s"]
        measure.series = "100ms"
        {flows}
        [[network.links]]
        from = "a"
        to = "b"
        rate = "10Mbps"
        delay = "20ms"
        queue = {{ packets = 60 }}
        {link}
        "#
    );
    earlybird_scenario::resolve(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn bulk(transport: &str) -> String {
    format!(
        r#"
        [[flows]]
        name = "bulk"
        from = "a"
        to = "b"
        transport = "{transport}"
        application.bulk = {{}}
        "#
    )
}

/// Returns the report of a run; nothing where the machine does not allow one, which is said.
pub(crate) fn completed(outcome: Result<Report, RunError>) -> Option<Report> {
    match outcome {
        Ok(report) => Some(report),
        Err(error @ RunError::Namespace(_)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn simulated(scenario: &Scenario) -> Report {
    earlybird_experiment::run(scenario, 1, &Outputs::default(), &mut |_| true).expect("it can be simulated")
}

pub(crate) fn column(report: &Report, table: &str, name: &str) -> Vec<f64> {
    let (_, table) = report.tables.iter().find(|(known, _)| *known == table).expect("a table of this name");
    match &table.columns.iter().find(|(known, _)| *known == name).expect("a column of this name").1 {
        Column::Float(values) => values.clone(),
        Column::Integer(values) => values.iter().map(|value| *value as f64).collect(),
        column => panic!("{name}: {column:?}"),
    }
}

pub(crate) fn summary(report: &Report, key: &str) -> f64 {
    match report.summary.iter().find(|(known, _)| known == key) {
        Some((_, Value::Float(value))) => *value,
        Some((_, Value::Integer(value))) => *value as f64,
        value => panic!("{key}: {value:?}"),
    }
}
