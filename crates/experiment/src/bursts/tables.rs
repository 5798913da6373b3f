//! The bursts of a run as a table, and in a few numbers.

use super::{Burst, FlowBursts, Mode, all};
use crate::bursts::isolated_burst::rule;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::summary::Value;
use crate::table::Table;
use earlybird_scenario::{Bursts, Scenario};

/// The paper shows playout buffers up to this, in seconds.
const LARGEST_BUFFER: f64 = 10.0;

/// Returns one row per burst.
pub(crate) fn table(plan: &Plan, recorder: &Recorder, settings: &Bursts) -> Table {
    let flows = all(plan, recorder, settings);
    let rows: Vec<_> = flows
        .iter()
        .flat_map(|flow| (1..).zip(&flow.bursts).map(move |(number, burst)| (flow, number, burst)))
        .collect();
    Table::default()
        .string("flow", rows.iter().map(|(flow, ..)| flow.flow.clone()))
        .integer("burst", rows.iter().map(|(_, number, _)| *number))
        .float("start_s", rows.iter().map(|(.., burst)| burst.start.as_secs_f64()))
        .float("end_s", rows.iter().map(|(.., burst)| burst.end.as_secs_f64()))
        .float("max_delay_s", rows.iter().map(|(.., burst)| burst.longest))
        .integer("late_segments", rows.iter().map(|(.., burst)| burst.late))
        .integer("affected_segments", rows.iter().map(|(.., burst)| burst.affected))
        .integer("fast_retransmits", rows.iter().map(|(.., burst)| u64::from(burst.fast_retransmits)))
        .integer("timeouts", rows.iter().map(|(.., burst)| u64::from(burst.timeouts)))
        .float("expired_s", rows.iter().map(|(.., burst)| burst.expired.as_secs_f64()))
        .string("mode", rows.iter().map(|(.., burst)| burst.label()))
        .float("equation_s", rows.iter().map(|(flow, _, burst)| burst.expected(&flow.path)))
        .float("equation_as_expired_s", rows.iter().map(|(flow, _, burst)| burst.expected_as_expired(&flow.path)))
}

/// Returns the bursts in a few numbers, over all media flows.
pub(crate) fn summary(scenario: &Scenario, plan: &Plan, recorder: &Recorder) -> Vec<(String, Option<Value>)> {
    let Some(settings) = &scenario.measure.bursts else { return Vec::new() };
    let flows = all(plan, recorder, settings);
    let Some(first) = flows.first() else { return Vec::new() };
    let bursts: Vec<(&FlowBursts, &Burst)> =
        flows.iter().flat_map(|flow| flow.bursts.iter().map(move |burst| (flow, burst))).collect();
    let mean = |value: &dyn Fn(&FlowBursts, &Burst) -> f64| {
        bursts.iter().map(|(flow, burst)| value(flow, burst)).sum::<f64>() / bursts.len() as f64
    };
    let base = flows.iter().map(|flow| flow.base).fold(f64::INFINITY, f64::min);
    let longest = mean(&|_, burst| burst.longest);
    let most = bursts.iter().map(|(_, burst)| burst.longest).fold(f64::NAN, f64::max);
    let least = bursts.iter().map(|(_, burst)| burst.longest).fold(f64::NAN, f64::min);
    let buffer = longest - base;
    let playout = (most - base).min(LARGEST_BUFFER);
    let segments = |buffer: f64| Some(Value::Integer((buffer / first.path.period).ceil() as u64));
    // 10 s are 300 packets, although ns-2's interval is a little shorter than 1/30 s.
    let rounding = 1e-9 * first.path.period;
    let real = |name: &str, value: f64| (name.to_owned(), Some(Value::Float(value)));
    vec![
        ("b".to_owned(), rule(scenario, &plan.bottleneck).map(|rule| Value::Integer(rule.burst))),
        real("rtt_ms", 1e3 * first.path.rtt),
        ("bursts".to_owned(), Some(Value::Integer(bursts.len() as u64))),
        real("base_delay_s", base),
        real("max_delay_s", longest),
        real("max_delay_min_s", least),
        real("max_delay_max_s", most),
        real("buffer_s", buffer),
        ("buffer_segments".to_owned(), segments(buffer)),
        real("playout_buffer_s", playout),
        ("playout_buffer_segments".to_owned(), segments(playout - rounding)),
        real("late_segments", mean(&|_, burst| burst.late as f64)),
        real("affected_segments", mean(&|_, burst| burst.affected as f64)),
        real("fast_retransmits", mean(&|_, burst| f64::from(burst.fast_retransmits))),
        real("timeouts", mean(&|_, burst| f64::from(burst.timeouts))),
        (
            "modes".to_owned(),
            Some(Value::String(modes(&bursts.iter().map(|(_, burst)| burst.mode()).collect::<Vec<_>>()))),
        ),
        real("equation_s", mean(&|flow, burst| burst.expected(&flow.path))),
    ]
}

/// Writes how many bursts had which mode: `DRTO:1 TO:9`.
fn modes(modes: &[Mode]) -> String {
    let count = |mode: Mode| (mode, modes.iter().filter(|one| **one == mode).count());
    let counted = Mode::ALL.into_iter().map(count).filter(|(_, count)| *count > 0);
    counted.map(|(mode, count)| format!("{}:{count}", mode.name())).collect::<Vec<_>>().join(" ")
}
