//! The network of a scenario for the emulator.

use crate::plan::{NetworkBuilder, Plan};
use crate::topology::RoutePair;
use earlybird_scenario::{Network as NetworkModel, Scenario, ScenarioError};
use earlybird_sim::Network;
use earlybird_units::Instant;

/// A network, and the routes of one flow.
#[derive(Debug)]
pub struct Emulation {
    /// The links, with the losses and impairments that the seed draws.
    pub network: Network,
    /// The routes between its sender and its receiver.
    pub route_pair: RoutePair,
}

/// Returns the network of a scenario as the packets of a flow see it, by its name (default: the first one).
///
/// The scenario's traffic is not in it.
///
/// # Errors
///
/// If there is no such flow, or no route for it.
pub fn emulation(scenario: &Scenario, seed: u64, flow: Option<&str>) -> Result<Emulation, ScenarioError> {
    let mut plan = Plan::new(scenario, seed)?;
    // The emulator runs until it is stopped.
    plan.end = Instant::NEVER;
    let names = || plan.flows.iter().map(|flow| flow.name.as_str());
    let chosen = flow.map_or(Some(0), |name| names().position(|known| known == name)).ok_or_else(|| {
        let allowed: Vec<&str> = names().collect();
        ScenarioError {
            path: "flows".into(),
            problem: "has no such flow".into(),
            value: flow.unwrap_or_default().to_owned(),
            allowed: allowed.join(", "),
            ..ScenarioError::default()
        }
    })?;
    let mut builder = NetworkBuilder::new(&plan);
    // Of many hosts, as web sessions have them, the first two.
    let route_pair = builder.route_pairs(&plan.flows[chosen])?[0];
    Ok(Emulation { network: builder.network, route_pair })
}

/// Returns a network by itself as packets see it that travel from the first node of its first link to the last node of its last
/// link.
///
/// # Errors
///
/// If there is no route between the two, or the network is a dumbbell, whose hosts come with flows.
pub fn network_emulation(network: &NetworkModel, seed: u64) -> Result<Emulation, ScenarioError> {
    let error = |problem: &str| ScenarioError::new("network", problem);
    let NetworkModel::Links(links) = network else {
        return Err(error("is a dumbbell, whose hosts come with flows").allowed("a list of links"));
    };
    let ends = links.first().zip(links.last()).map(|(first, last)| [first.from.as_str(), last.to.as_str()]);
    let plan = Plan::of_network(network, seed);
    let mut builder = NetworkBuilder::new(&plan);
    let route_pair =
        ends.and_then(|ends| builder.route_pair(ends)).ok_or_else(|| error("has no route between its ends"))?;
    Ok(Emulation { network: builder.network, route_pair })
}
