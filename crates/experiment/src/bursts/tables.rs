//! The bursts of a run as a table, and in a few numbers.

use super::{Burst, FlowBursts, Mode, all};
use crate::bursts::isolated_burst::rule;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::table::{Table, Value};
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
        .float("expired_rto_s", rows.iter().map(|(.., burst)| burst.expired.as_secs_f64()))
        .string("recovery_mode", rows.iter().map(|(.., burst)| burst.label()))
        .float("model_delay_s", rows.iter().map(|(flow, _, burst)| burst.expected(&flow.path)))
        .float("model_delay_expired_rto_s", rows.iter().map(|(flow, _, burst)| burst.expected_as_expired(&flow.path)))
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
    // Flows share the bottleneck, so that the smallest base is that of the path.
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
        ("burst_length".to_owned(), rule(scenario, &plan.bottleneck).map(|rule| Value::Integer(rule.burst))),
        real("base_rtt_ms", 1e3 * first.path.rtt),
        ("bursts".to_owned(), Some(Value::Integer(bursts.len() as u64))),
        real("base_delay_s", base),
        real("burst_delay_mean_s", longest),
        real("burst_delay_min_s", least),
        real("burst_delay_max_s", most),
        real("mean_playout_buffer_s", buffer),
        ("mean_playout_buffer_segments".to_owned(), segments(buffer)),
        real("playout_buffer_s", playout),
        ("playout_buffer_segments".to_owned(), segments(playout - rounding)),
        real("late_segments_per_burst", mean(&|_, burst| burst.late as f64)),
        real("affected_segments_per_burst", mean(&|_, burst| burst.affected as f64)),
        real("fast_retransmits_per_burst", mean(&|_, burst| f64::from(burst.fast_retransmits))),
        real("timeouts_per_burst", mean(&|_, burst| f64::from(burst.timeouts))),
        (
            "recovery_modes".to_owned(),
            Some(Value::String(mode_counts(&bursts.iter().map(|(_, burst)| burst.mode()).collect::<Vec<_>>()))),
        ),
        real("model_delay_s", mean(&|flow, burst| burst.expected(&flow.path))),
    ]
}

/// Writes how many bursts had which mode: `DRTO:1 TO:9`.
fn mode_counts(modes: &[Mode]) -> String {
    let count = |mode: Mode| (mode, modes.iter().filter(|one| **one == mode).count());
    let counted = Mode::ALL.into_iter().map(count).filter(|(_, count)| *count > 0);
    counted.map(|(mode, count)| format!("{}:{count}", mode.name())).collect::<Vec<_>>().join(" ")
}
