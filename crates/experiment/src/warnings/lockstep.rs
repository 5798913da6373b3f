//! Warnings about constant-rate flows that keep step with each other.

use crate::link_paths::link_names;
use crate::plan::{GroupPlan, Plan};
use earlybird_scenario::{Application, Cbr, Network, Scenario, ScenarioError, Start, Time};
use earlybird_sim::Carrier;
use std::collections::BTreeMap;

/// The common properties of two constant-rate flows that keep step.
type Step = (String, Time, u64);

/// Lists groups of datagram flows whose packets always come to a full queue in the same order, so that one flow may get
/// all of the link and another one nothing: flows of the same packet interval that start at the same time and together
/// send more than a link on their path carries.
pub(super) fn flows_in_step(scenario: &Scenario, plan: &Plan) -> Result<Vec<ScenarioError>, ScenarioError> {
    let mut in_step: BTreeMap<Step, Vec<(&GroupPlan, f64)>> = BTreeMap::new();
    for group in &plan.groups {
        let (Some(cbr), Some(start)) = (unresponsive(group), common_start(group)) else { continue };
        for link in there_of(scenario, group)? {
            let rate = cbr.rate.rate().bits_per_second() as f64 * f64::from(group.flow.count);
            in_step.entry((link, start, interval(cbr))).or_default().push((group, rate));
        }
    }
    let is_overload = |(link, ..): &Step, groups: &[(&GroupPlan, f64)]| {
        let flows: u32 = groups.iter().map(|(group, _)| group.flow.count).sum();
        let offered: f64 = groups.iter().map(|(_, rate)| rate).sum();
        flows > 1 && rate_of(&scenario.network, link).is_some_and(|rate| offered > rate)
    };
    let mut reported: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for (step, groups) in in_step.iter().filter(|(step, groups)| is_overload(step, groups)) {
        let names = groups.iter().map(|(group, _)| format!("`{}`", group.flow.name)).collect::<Vec<_>>().join(", ");
        // Once for all links and starts at which the same groups meet.
        if !reported.contains(&names) {
            found.push(warning(groups[0].0, step, &names));
            reported.push(names);
        }
    }
    Ok(found)
}

/// Returns the rate of the link of this name in bits per second; `None` for access links and links without a fixed rate.
fn rate_of(network: &Network, name: &str) -> Option<f64> {
    let channel = match network {
        Network::Dumbbell(dumbbell) if name == "left-right" => dumbbell.bottleneck.clone(),
        Network::Dumbbell(dumbbell) if name == "right-left" => dumbbell.backward(),
        Network::Dumbbell(_) => return None,
        Network::Links(links) => links.iter().find_map(|link| match name {
            name if name == link.name() => Some(link.forward()),
            name if name == link.reverse_name() => Some(link.backward()),
            _ => None,
        })?,
    };
    channel.rate.filter(|_| channel.rate_steps.is_empty()).map(|rate| rate.rate().bits_per_second() as f64)
}

fn there_of(scenario: &Scenario, group: &GroupPlan) -> Result<Vec<String>, ScenarioError> {
    link_names(&scenario.network, &group.flow).map(|[there, _]| there)
}

fn unresponsive(group: &GroupPlan) -> Option<&Cbr> {
    match (&group.flow.application, &group.carrier) {
        (Application::Cbr(cbr), Carrier::Datagrams(_)) => Some(cbr),
        _ => None,
    }
}

/// Returns the time at which all flows of the group start.
fn common_start(group: &GroupPlan) -> Option<Time> {
    if let Start::At(at) = group.flow.start { Some(at) } else { None }
}

/// Returns the time between two packets in nanoseconds.
fn interval(cbr: &Cbr) -> u64 {
    let seconds = cbr.interval.unwrap_or(f64::from(cbr.packet) * 8.0 / cbr.rate.rate().bits_per_second() as f64);
    (seconds * 1e9) as u64
}

fn warning(group: &GroupPlan, (link, start, _): &Step, names: &str) -> ScenarioError {
    ScenarioError {
        path: format!("flows.{}.start", group.flow.name),
        value: start.to_string(),
        problem: format!(
            "starts flows of one packet interval in step ({names}): the same ones always find the queue of `{link}` full, \
             and one may get all of the link, another one nothing"
        ),
        allowed: "any, but flows that are not synchronised start at random".to_owned(),
        hint: format!(
            "`start = {{ uniform = [\"{start}\", \"{}\"] }}` draws the starts.",
            Time::from(start.duration() + JITTER)
        ),
    }
}

/// A second: longer than the interval of most sources.
const JITTER: earlybird_units::Duration = earlybird_units::Duration::from_secs(1);
