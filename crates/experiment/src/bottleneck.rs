//! Which link is the bottleneck where the scenario names none: the slowest on the ways of the flows' data.

use crate::plan::{Builder, Plan};
use earlybird_scenario::{Network, ScenarioError};
use earlybird_sim::LinkId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Gives its name. Of those equally slow it is the one that most flows cross, of these the first.
pub(crate) fn bottleneck_of(plan: &Plan) -> Result<String, ScenarioError> {
    let from_left = || plan.groups.iter().any(|group| group.flow.from == "left");
    match plan.network {
        Network::Dumbbell(_) => Ok(if from_left() { "left-right" } else { "right-left" }.to_owned()),
        Network::Links(_) => slowest(plan),
    }
}

fn slowest(plan: &Plan) -> Result<String, ScenarioError> {
    let mut builder = Builder::new(plan);
    let mut flows: BTreeMap<LinkId, u32> = BTreeMap::new();
    for group in &plan.groups {
        let Some(route) = builder.route_of(&group.flow)? else { continue };
        builder.network.links_of(route).for_each(|link| *flows.entry(link).or_default() += group.flow.count);
    }
    let settings = |link: &LinkId| builder.network.link(*link).settings();
    let slowest = flows.into_iter().min_by(|(one, flows), (other, others)| {
        let bits = |link| settings(link).bits_before(plan.end);
        bits(one).total_cmp(&bits(other)).then(Reverse(flows).cmp(&Reverse(others)))
    });
    Ok(slowest.map_or(String::new(), |(link, _)| settings(&link).name.clone()))
}
