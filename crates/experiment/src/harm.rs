//! The harm that a group of flows does to the others: R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry, "Beyond Jain's
//! Fairness Index: Setting the Bar For The Deployment of Congestion Control Algorithms", Workshop on Hot Topics in Networks 2019.

use crate::report::Report;
use crate::table::{Column, Summary, Value};
use earlybird_scenario::Scenario;

/// Returns the scenario without the group whose harm is measured, if it is.
pub(crate) fn without_group(scenario: &Scenario) -> Option<Scenario> {
    let harmful = scenario.measure.harm_by.as_ref()?;
    let mut solo = scenario.clone();
    // Random streams belong to names, so that the other flows are what they were.
    solo.flows.retain(|flow| flow.name != *harmful);
    Some(solo)
}

/// Appends the harm to the summary of a run, from the run without the group.
pub(crate) fn append(harmful: &str, beside: &mut Report, solo: &Report) {
    let of_both = |column, reduce: fn(&[f64]) -> f64| [&*beside, solo].map(|run| reduce(&others(run, harmful, column)));
    let [rate, rate_solo] = of_both("throughput_bps", sum);
    let [delay, delay_solo] = of_both("delay_p95_ms", mean);
    let mut harm = Summary::new();
    // More throughput is better, and less delay: harm is the part of the better value that is lost.
    if rate_solo > 0.0 {
        harm.push(("harm_throughput".into(), Value::Float((rate_solo - rate) / rate_solo)));
    }
    if delay > 0.0 && delay_solo.is_finite() {
        harm.push(("harm_delay".into(), Value::Float((delay - delay_solo) / delay)));
    }
    beside.summary.append(&mut harm);
}

/// Returns a column of the flows that are not in this group, without NaN.
fn others(report: &Report, harmful: &str, name: &str) -> Vec<f64> {
    let column = |name| report.tables.iter().find(|(table, _)| *table == "flows")?.1.column(name);
    let (Some(Column::String(groups)), Some(Column::Float(values))) = (column("group"), column(name)) else {
        return Vec::new();
    };
    let pairs = groups.iter().zip(values).filter(|(group, value)| *group != harmful && !value.is_nan());
    pairs.map(|(_, value)| *value).collect()
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// Returns the mean; NaN of nothing.
fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}
