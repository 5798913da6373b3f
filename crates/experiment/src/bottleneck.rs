//! Which link is the bottleneck where the scenario names none: the slowest on the ways of the flows' data.

use crate::marking::ACCESS;
use crate::plan::{NetworkBuilder, Plan};
use earlybird_scenario::{Flow, Network, ScenarioError};
use earlybird_sim::LinkId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Returns its name. Of those equally slow it is the one that most flows cross, of these the first.
pub(crate) fn bottleneck_of(plan: &Plan) -> Result<String, ScenarioError> {
    let from_left = || plan.groups.iter().any(|group| group.flow.from == "left");
    match plan.network {
        Network::Dumbbell(_) => Ok(if from_left() { "left-right" } else { "right-left" }.to_owned()),
        Network::Links(_) => slowest(plan),
    }
}

/// Returns the names of the links that a group's data cross, and of those that its ACKs do.
pub(crate) fn ways_of(plan: &Plan, flow: &Flow) -> Result<[Vec<String>; 2], ScenarioError> {
    let mut builder = NetworkBuilder::new(plan);
    let Some([there, back]) = builder.routes_of(flow)? else {
        let [there, back] =
            if flow.from == "left" { ["left-right", "right-left"] } else { ["right-left", "left-right"] };
        return Ok([there, back].map(|link| vec![ACCESS.to_owned(), link.to_owned()]));
    };
    let name = |link| builder.network.link(link).settings().name.clone();
    Ok([there, back].map(|route| builder.network.links_of(route).map(name).collect()))
}

fn slowest(plan: &Plan) -> Result<String, ScenarioError> {
    let mut builder = NetworkBuilder::new(plan);
    let mut flows: BTreeMap<LinkId, u64> = BTreeMap::new();
    for group in &plan.groups {
        let Some([route, _]) = builder.routes_of(&group.flow)? else { continue };
        builder.network.links_of(route).for_each(|link| *flows.entry(link).or_default() += u64::from(group.flow.count));
    }
    let settings = |link: &LinkId| builder.network.link(*link).settings();
    let slowest = flows.into_iter().min_by(|(one, flows), (other, others)| {
        let bits = |link| settings(link).bits_before(plan.end);
        bits(one).total_cmp(&bits(other)).then(Reverse(flows).cmp(&Reverse(others)))
    });
    Ok(slowest.map_or(String::new(), |(link, _)| settings(&link).name.clone()))
}
