//! The bottleneck of a scenario that names none: the slowest link that the data of flows cross.

use crate::link_paths::{channel_of, paths};
use crate::rates::rates_of;
use earlybird_scenario::{Channel, Flow, Network, ScenarioError, TraceStart};
use earlybird_sim::LinkId;
use earlybird_units::{Instant, SeedTree};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Returns the bottleneck's name. Of equally slow links it is the one that most flows cross, and of these the first.
pub(crate) fn bottleneck_of(network: &Network, flows: &[Flow], end: Instant) -> Result<String, ScenarioError> {
    let from_left = || flows.iter().any(|flow| flow.from == "left");
    match network {
        Network::Dumbbell(_) => Ok(if from_left() { "left-right" } else { "right-left" }.to_owned()),
        Network::Links(_) => slowest(network, flows, end),
    }
}

fn slowest(network: &Network, flows: &[Flow], end: Instant) -> Result<String, ScenarioError> {
    let mut crossing: BTreeMap<LinkId, u64> = BTreeMap::new();
    for flow in flows {
        let [there, _] = paths(network, flow)?;
        for link in there {
            *crossing.entry(link).or_default() += u64::from(flow.count);
        }
    }
    let bits = |link: &LinkId| channel_of(network, *link).map_or(0.0, |channel| bits_before(&channel, end));
    let slowest = crossing.into_iter().min_by(|(one, flows), (other, others)| {
        bits(one).total_cmp(&bits(other)).then(Reverse(flows).cmp(&Reverse(others)))
    });
    Ok(slowest.map_or(String::new(), |(link, _)| network.link_names().swap_remove(link.0 as usize)))
}

/// Returns how many bits a link can send before `end`: rates that change are compared by their means over the run.
fn bits_before(channel: &Channel, end: Instant) -> f64 {
    let (rate, changes) = rates_of(channel, || SeedTree::new(0));
    let constant = || rate.bits_per_second() as f64 * end.as_secs_f64();
    // Of a trace that begins at random the mean counts, so that the bottleneck is the same for all seeds.
    let changes = changes.filter(|_| channel.trace_start != Some(TraceStart::Random));
    changes.map_or_else(constant, |changes| changes.bits_before(end, rate))
}
