//! The links that the data and the ACKs of flows cross, from the scenario alone: no network is built.

use earlybird_scenario::{Channel, Flow, Network, ScenarioError};
use earlybird_sim::{LinkId, NodeId, fewest_links};

/// The name by which the access links of a dumbbell go here.
pub(crate) const ACCESS: &str = "access";

/// Returns the names of the links that a flow's data cross, and of those that its ACKs cross.
pub(crate) fn link_names(network: &Network, flow: &Flow) -> Result<[Vec<String>; 2], ScenarioError> {
    if let Network::Dumbbell(_) = network {
        let links = if flow.from == "left" { ["left-right", "right-left"] } else { ["right-left", "left-right"] };
        return Ok(links.map(|link| vec![ACCESS.to_owned(), link.to_owned()]));
    }
    let names = network.link_names();
    let to_names = |path: Vec<LinkId>| path.into_iter().map(|link| names[link.0 as usize].clone()).collect();
    Ok(paths(network, flow)?.map(to_names))
}

/// Returns whether a flow's data cross the bottleneck.
pub(crate) fn crosses(network: &Network, bottleneck: &str, flow: &Flow) -> bool {
    link_names(network, flow).is_ok_and(|[there, _]| there.iter().any(|link| link == bottleneck))
}

/// Returns the paths of a flow between two named nodes, there and back. Links have the numbers that the simulator gives them:
/// the order in which the scenario lists them, forward before backward.
pub(crate) fn paths(network: &Network, flow: &Flow) -> Result<[Vec<LinkId>; 2], ScenarioError> {
    let nodes = network.nodes();
    let id_of = |name: &str| NodeId(nodes.iter().position(|known| *known == name).unwrap_or(0) as u32);
    let [from, to] = [&flow.from, &flow.to].map(|name| id_of(name));
    let Network::Links(links) = network else { return Ok([Vec::new(), Vec::new()]) };
    let ends = links.iter().map(|link| [&link.from, &link.to].map(|name| id_of(name)));
    let ends: Vec<_> = ends.flat_map(|[start, end]| [(start, end), (end, start)]).collect();
    let path = |from, to| fewest_links(&ends, from, to).ok_or_else(|| no_route(flow));
    Ok([path(from, to)?, path(to, from)?])
}

/// Returns the error of a flow whose nodes are not connected.
pub(crate) fn no_route(flow: &Flow) -> ScenarioError {
    ScenarioError {
        path: format!("flows.{}", flow.name),
        problem: format!("has no route from `{}` to `{}` and back", flow.from, flow.to),
        ..ScenarioError::default()
    }
}

/// Returns the channel of a link between named nodes.
pub(crate) fn channel_of(network: &Network, link: LinkId) -> Option<Channel> {
    let Network::Links(links) = network else { return None };
    let model = links.get(link.0 as usize / 2)?;
    Some(if link.0.is_multiple_of(2) { model.forward() } else { model.backward() })
}
