//! The checks that no schema can make: how the parts of a scenario fit together.

mod channel;
mod datagrams;
mod ingest;
mod network;
mod queue;
mod rate;
mod real_time;
mod segments;
mod traffic;

use crate::model::{Flow, Network, Scenario, Seeds, Sweep};
use crate::overrides::check_key;
use crate::schema_walk::SchemaNode;
use earlybird_transport::{ScenarioError, Time, did_you_mean, join, listed, nearest, positive};
use serde_json::Value;

/// Checks a scenario whose keys, types and ranges are known to be right.
pub(crate) fn validate(scenario: &Scenario, document: &Value, root: SchemaNode<'_>) -> Result<(), ScenarioError> {
    positive(scenario.duration, "duration")?;
    // First: most checks ask for the endpoints of flows.
    validate_endpoints(scenario)?;
    // Next: the paths of all errors below use the flows' names.
    traffic::validate(scenario)?;
    ingest::validate(scenario)?;
    segments::validate(scenario)?;
    datagrams::validate(scenario)?;
    network::validate(scenario)?;
    // After the network, whose names of links are the paths from here on.
    rate::validate(&scenario.network)?;
    real_time::validate(scenario)?;
    queue::validate(&scenario.network)?;
    channel::validate(&scenario.network, &scenario.flows)?;
    validate_measure(scenario)?;
    scenario.sweep.as_ref().map_or(Ok(()), |sweep| validate_sweep(sweep, document, root))
}

/// Checks a network by itself. No rule of a link can be for a flow, as there is none.
pub(crate) fn validate_network(network: &Network) -> Result<(), ScenarioError> {
    network::validate_links(network)?;
    rate::validate(network)?;
    queue::validate(network)?;
    channel::validate(network, &[])
}

/// Returns the error unless the condition holds.
fn ensure(holds: bool, error: impl FnOnce() -> ScenarioError) -> Result<(), ScenarioError> {
    if holds { Ok(()) } else { Err(error()) }
}

fn validate_endpoints(scenario: &Scenario) -> Result<(), ScenarioError> {
    scenario.endpoint.check("endpoint")?;
    for flow in &scenario.flows {
        scenario.endpoint_of(flow)?.check(&format!("flows.{}.endpoint", flow.name))?;
    }
    Ok(())
}

fn validate_measure(scenario: &Scenario) -> Result<(), ScenarioError> {
    let measure = &scenario.measure;
    before_the_end(measure.warm_up, scenario.duration, "measure.warm-up")?;
    measure.series.map_or(Ok(()), |series| positive(series, "measure.series"))?;
    measure.harm_by.as_ref().map_or(Ok(()), |group| validate_harm_by(group, &scenario.flows))?;
    let Some(bottleneck) = &measure.bottleneck else { return Ok(()) };
    known(bottleneck, &scenario.network.link_names(), "measure.bottleneck", "is not a link")
}

fn validate_harm_by(group: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    let path = "measure.harm-by";
    let groups: Vec<String> = flows.iter().map(|flow| flow.name.clone()).collect();
    known(group, &groups, path, "is not a group of flows")?;
    let error = || ScenarioError::new(path, "is the only group of flows").text(group);
    ensure(groups.len() > 1, || error().hint("add the flows that it may harm."))
}

fn before_the_end(time: Time, duration: Time, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, format!("leaves nothing of a run of {duration}")).text(&time.to_string());
    let error = || error().allowed(format!("a duration shorter than {duration}"));
    ensure(time < duration, || error().hint("shorten it, or lengthen `duration`."))
}

/// Checks that a name is among those that exist.
fn known(name: &str, names: &[String], path: &str, problem: &str) -> Result<(), ScenarioError> {
    let names = || names.iter().map(String::as_str);
    let error = || ScenarioError::new(path, problem).text(name).allowed(listed(names()));
    ensure(names().any(|one| one == name), || error().hint(did_you_mean(nearest(name, names()))))
}

fn validate_sweep(sweep: &Sweep, document: &Value, root: SchemaNode<'_>) -> Result<(), ScenarioError> {
    for (key, values) in &sweep.grid {
        let path = join("sweep.grid", key);
        // The error is about the key of the grid, not about the place that it names.
        check_key(document, root, key).map_err(|error| error.at(&path))?;
        let error = || ScenarioError::new(&path, "is an empty list").allowed("a list of at least 1");
        ensure(!values.is_empty(), error)?;
    }
    let Seeds::List(seeds) = &sweep.seeds else { return Ok(()) };
    // A run made twice would count twice in every mean.
    let repeated = (1..seeds.len()).find(|index| seeds[..*index].contains(&seeds[*index]));
    repeated.map_or(Ok(()), |index| Err(repeated_seed(seeds[index])))
}

fn repeated_seed(seed: u64) -> ScenarioError {
    ScenarioError::new("sweep.seeds", "is listed twice").text(&seed.to_string()).allowed("a list of different seeds")
}
