//! Warnings about scenarios that are legal but probably not intended.

mod implausible;
mod lockstep;

use crate::Outputs;
use crate::capture::LENGTHS;
use crate::ecn::{marks, room_in_bytes};
use crate::endpoint::full_packet;
use crate::link_paths::link_names;
use crate::plan::Plan;
use crate::unused_settings::first_start;
use earlybird_scenario::{Client, Scenario, ScenarioError};
use earlybird_sim::Carrier;
use earlybird_tcp::EcnMode;
use earlybird_traffic::minimum_playback_delay;
use earlybird_units::Duration;

/// Lists settings that are legal but cannot work well: playback delays without time for a retransmission, queues that hold
/// no packet, transports that need marks which no queue sets, constant-rate flows in step, values that no network has, and
/// an end before the first start.
///
/// # Errors
/// As [`run`](crate::run).
pub fn warnings(scenario: &Scenario) -> Result<Vec<ScenarioError>, ScenarioError> {
    let plan = Plan::new(scenario, 1)?;
    let mut all = nothing_to_run(scenario);
    all.extend(missing_ecn_marking(scenario, &plan)?);
    all.extend(queues_without_room(scenario, &plan)?);
    all.extend(short_playback_delays(scenario, &plan)?);
    all.extend(lockstep::flows_in_step(scenario, &plan)?);
    all.extend(implausible::implausible_values(scenario, &plan));
    Ok(all)
}

/// Warns if the run ends before any flow starts.
fn nothing_to_run(scenario: &Scenario) -> Vec<ScenarioError> {
    let first = scenario.flows.iter().map(first_start).min().filter(|first| *first >= scenario.duration);
    let warning = |first| ScenarioError {
        path: "duration".to_owned(),
        value: scenario.duration.to_string(),
        problem: "ends before any flow starts".to_owned(),
        allowed: format!("any, but above {first} something is sent"),
        hint: String::new(),
    };
    first.map(warning).into_iter().collect()
}

/// Lists scalable transports on paths without marking.
fn missing_ecn_marking(scenario: &Scenario, plan: &Plan) -> Result<Vec<ScenarioError>, ScenarioError> {
    let mut found = Vec::new();
    for (flow, group) in scenario.flows.iter().zip(&plan.groups) {
        let [there, _] = link_names(&scenario.network, flow)?;
        let lives_by_marks =
            matches!(group.carrier, Carrier::Tcp(settings) if settings.opener.ecn == EcnMode::Accurate);
        if lives_by_marks && !there.iter().any(|link| marks(&scenario.network, link)) {
            found.push(ScenarioError {
                path: format!("flows.{}.transport", flow.name),
                value: group.transport.to_string(),
                problem: "needs ECN marks, and no queue on its path marks".to_owned(),
                allowed: "any, but it reacts only to losses here".to_owned(),
                hint: "`dualpi2` marks, as do disciplines such as `codel` with `ecn = true`.".to_owned(),
            });
        }
    }
    Ok(found)
}

/// Lists queues without room for one full packet: they drop every packet that finds the link busy, or all packets.
fn queues_without_room(scenario: &Scenario, plan: &Plan) -> Result<Vec<ScenarioError>, ScenarioError> {
    let mut found: Vec<ScenarioError> = Vec::new();
    for (flow, group) in scenario.flows.iter().zip(&plan.groups) {
        let packet = full_packet(&group.carrier);
        for link in &link_names(&scenario.network, flow)?[0] {
            let Some((path, room)) = room_in_bytes(&scenario.network, link).filter(|(_, room)| *room < packet) else {
                continue;
            };
            if found.iter().all(|known| known.path != path) {
                found.push(ScenarioError {
                    path,
                    value: room.to_string(),
                    problem: format!("has no room for a full packet of `{}`, which has {packet} bytes", flow.name),
                    allowed: format!("any, but {packet} or more let such packets through"),
                    hint: String::new(),
                });
            }
        }
    }
    Ok(found)
}

fn short_playback_delays(scenario: &Scenario, plan: &Plan) -> Result<Vec<ScenarioError>, ScenarioError> {
    // One flow per group is enough: all have the same delays but for access links.
    let firsts = (0..scenario.flows.len()).filter_map(|group| plan.flows.iter().position(|flow| flow.group == group));
    let flows = scenario.flows.iter().zip(firsts.map(|first| plan.round_trip(first).unwrap_or_default()));
    flows.filter_map(|(flow, rtt)| short_playback_delay(scenario, flow, rtt).transpose()).collect()
}

/// The MTCP paper: 1.5 round trips and three periods must pass before a lost packet can have been repaired.
fn short_playback_delay(
    scenario: &Scenario,
    flow: &earlybird_scenario::Flow,
    rtt: Duration,
) -> Result<Option<ScenarioError>, ScenarioError> {
    let kind = scenario.endpoint_of(flow)?.transport.kind;
    let (Some(Client::Deadline(client)), Some(period)) = (flow.listener(kind), flow.mean_period()) else {
        return Ok(None);
    };
    let least = minimum_playback_delay(rtt, period, Duration::ZERO);
    let delay = client.playback_delay;
    let is_short = kind.is_real_time() && client.adaptive.is_none() && delay.duration() < least;
    Ok(is_short.then(|| ScenarioError {
        path: format!("flows.{}.client.deadline.playback-delay", flow.name),
        value: delay.to_string(),
        problem: format!(
            "is below 1.5 round trips + 3 periods (MTCP paper), here 1.5·{} + 3·{}: what is lost cannot be repaired in time",
            earlybird_scenario::Time::from(rtt),
            earlybird_scenario::Time::from(period)
        ),
        allowed: format!("any, but {} or more repairs", earlybird_scenario::Time::from(least)),
        hint: String::new(),
    }))
}

/// Lists unexpected properties of the files that a run will write.
///
/// # Errors
/// As [`run`](crate::run).
pub fn output_warnings(scenario: &Scenario, outputs: &Outputs) -> Result<Vec<ScenarioError>, ScenarioError> {
    let names = outputs.trace_flows.join(", ");
    let traces_nothing = outputs.trace.is_none() && outputs.qlog.is_none() && !names.is_empty();
    let plan = Plan::of_groups(scenario, 1)?;
    let differs = outputs.capture.is_some() && plan.has_short_headers();
    let unused = (
        "--trace-flow",
        names,
        "is declared but never used: no trace is written",
        "write one with `--trace-out` or `--qlog`.",
    );
    let other = ("--pcap", String::new(), LENGTHS, "profiles `rfc` and `linux` count what the capture shows.");
    let applicable = [(traces_nothing, unused), (differs, other)].into_iter().filter(|(applies, _)| *applies);
    let warning = |(path, value, problem, hint): (&str, String, &str, &str)| ScenarioError {
        path: path.to_owned(),
        value,
        problem: problem.to_owned(),
        allowed: String::new(),
        hint: hint.to_owned(),
    };
    Ok(applicable.map(|(_, parts)| warning(parts)).collect())
}
