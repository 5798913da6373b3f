//! What can be run but is probably not meant.

use crate::endpoint::real_time::mean_period;
use crate::plan::Plan;
use earlybird_scenario::{Client, Scenario, ScenarioError};
use earlybird_traffic::minimum_playback_delay;
use earlybird_units::Duration;

/// Lists what in a scenario is legal but cannot work well: today playback delays that leave no time for a repair.
///
/// # Errors
/// As [`run`](crate::run).
pub fn warnings(scenario: &Scenario) -> Result<Vec<ScenarioError>, ScenarioError> {
    let plan = Plan::new(scenario, 1)?;
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
    let (Some(Client::Deadline(client)), Some(period)) = (flow.listener(kind), mean_period(flow)) else {
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
