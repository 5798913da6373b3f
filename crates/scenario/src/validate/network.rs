use super::{ensure, known};
use crate::model::{Flow, Link, Network, Scenario};
use earlybird_transport::{ScenarioError, listed};
use std::collections::BTreeSet;

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    validate_links(&scenario.network)?;
    check_ends(scenario)
}

pub(super) fn validate_links(network: &Network) -> Result<(), ScenarioError> {
    if let Network::Links(links) = network { check_links(links) } else { Ok(()) }
}

fn check_links(links: &[Link]) -> Result<(), ScenarioError> {
    let mut names = BTreeSet::new();
    for (index, link) in links.iter().enumerate() {
        // By number: the name is what is checked here.
        let path = format!("network.links.{index}");
        check_node(&link.from, &format!("{path}.from"))?;
        check_node(&link.to, &format!("{path}.to"))?;
        check_pair(link, &path)?;
        check_new(&mut names, link, &path)?;
    }
    Ok(())
}

fn check_node(node: &str, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "is not a name for a node").text(node);
    // A dot would end the step of a key path.
    ensure(!node.is_empty() && !node.contains('.'), || error().allowed("a text without dots, not empty"))
}

fn check_pair(link: &Link, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(&format!("{path}.to"), "is also where the link begins").text(&link.to);
    ensure(link.from != link.to, || error().allowed("another node"))
}

fn check_new(names: &mut BTreeSet<String>, link: &Link, path: &str) -> Result<(), ScenarioError> {
    // By names, which key paths use: `a-b` to `c` and `a` to `b-c` join other nodes, and are called the same.
    let is_new = names.insert(link.name()) && names.insert(link.reverse_name());
    let error = || ScenarioError::new(path, "joins two nodes that are already joined").text(&link.name());
    ensure(is_new, || {
        error()
            .allowed("one link for every two nodes, with names `from-to` that differ")
            .hint("a link runs in both directions; `reverse` describes the opposite one.")
    })
}

/// Checks that the flows' nodes exist and that there is a way between them; links run in both directions.
fn check_ends(scenario: &Scenario) -> Result<(), ScenarioError> {
    let nodes: Vec<_> = scenario.network.nodes().into_iter().map(str::to_owned).collect();
    for flow in &scenario.flows {
        let path = format!("flows.{}", flow.name);
        known(&flow.from, &nodes, &format!("{path}.from"), "is not a node")?;
        known(&flow.to, &nodes, &format!("{path}.to"), "is not a node")?;
        check_route(&scenario.network, flow, &path)?;
    }
    Ok(())
}

fn check_route(network: &Network, flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    let (from, to) = (flow.from.as_str(), flow.to.as_str());
    let error = |problem: String| ScenarioError::new(&format!("{path}.to"), problem).text(to);
    let others = reachable(network, from);
    ensure(from != to, || error("is also where the flow begins".to_owned()).allowed(listed(others.iter().copied())))?;
    ensure(others.contains(to), || {
        error(format!("cannot be reached: there is no route between `{from}` and `{to}`"))
            .allowed(listed(others.iter().copied()))
            .hint("add a link to `network.links`.")
    })
}

/// Returns the other nodes to which there is a way.
fn reachable<'a>(network: &'a Network, start: &'a str) -> BTreeSet<&'a str> {
    let Network::Links(links) = network else {
        return ["left", "right"].into_iter().filter(|node| *node != start).collect();
    };
    let mut found = BTreeSet::from([start]);
    let mut size = 0;
    // Until nothing is added, as links stand in any order.
    while found.len() > size {
        size = found.len();
        for link in links {
            cross(link, &mut found);
        }
    }
    found.remove(start);
    found
}

/// Adds the end of the link that is not yet found, if the other end is.
fn cross<'a>(link: &'a Link, found: &mut BTreeSet<&'a str>) {
    if found.contains(link.from.as_str()) || found.contains(link.to.as_str()) {
        found.extend([link.from.as_str(), link.to.as_str()]);
    }
}
