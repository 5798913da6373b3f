//! Nodes, links, and the routes over them.

use crate::link::{Link, LinkSettings};
use std::collections::VecDeque;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A list of links from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteId(pub u32);

/// There is no way between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoute {
    /// From here …
    pub from: NodeId,
    /// … to there.
    pub to: NodeId,
}

/// What feeds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nobody,
    One(LinkId),
    /// Several links, or a host.
    Many,
}

/// The links and routes of a world.
#[derive(Debug, Default)]
pub struct Network {
    pub(crate) links: Vec<Link>,
    ends: Vec<(NodeId, NodeId)>,
    feeders: Vec<Feeder>,
    routes: Vec<Vec<LinkId>>,
    nodes: u32,
}

impl Network {
    /// Adds a node.
    pub fn add_node(&mut self) -> NodeId {
        self.nodes += 1;
        NodeId(self.nodes - 1)
    }

    /// Adds a link in one direction.
    pub fn add_link(&mut self, from: NodeId, to: NodeId, settings: LinkSettings) -> LinkId {
        self.links.push(Link::new(settings));
        self.ends.push((from, to));
        self.feeders.push(Feeder::Nobody);
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds the route with the fewest links, the first declared where several are as short.
    ///
    /// # Errors
    ///
    /// [`NoRoute`] if the nodes are not connected.
    pub fn add_route(&mut self, from: NodeId, to: NodeId) -> Result<RouteId, NoRoute> {
        let links = self.shortest(from, to).ok_or(NoRoute { from, to })?;
        Ok(self.add_route_over(links))
    }

    /// Adds a route over these links, each of which must begin where the one before ends.
    pub fn add_route_over(&mut self, links: Vec<LinkId>) -> RouteId {
        let mut feeder = Feeder::Many;
        for &link in &links {
            let known = &mut self.feeders[link.0 as usize];
            *known = if *known == Feeder::Nobody || *known == feeder { feeder } else { Feeder::Many };
            feeder = Feeder::One(link);
        }
        self.routes.push(links);
        RouteId(self.routes.len() as u32 - 1)
    }

    fn shortest(&self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let mut came_by = vec![None; self.nodes as usize];
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            if node == to {
                return Some(self.trace_back(from, to, &came_by));
            }
            for (index, &(start, end)) in self.ends.iter().enumerate() {
                if start == node && end != from && came_by[end.0 as usize].is_none() {
                    came_by[end.0 as usize] = Some(LinkId(index as u32));
                    frontier.push_back(end);
                }
            }
        }
        None
    }

    fn trace_back(&self, from: NodeId, to: NodeId, came_by: &[Option<LinkId>]) -> Vec<LinkId> {
        let mut route = Vec::new();
        let mut node = to;
        while let Some(link) = came_by[node.0 as usize].filter(|_| node != from) {
            route.push(link);
            node = self.ends[link.0 as usize].0;
        }
        route.reverse();
        route
    }

    /// Gives the link that a packet enters after `hops` links of its route.
    pub(crate) fn next_link(&self, route: RouteId, hops: u8) -> Option<LinkId> {
        self.routes[route.0 as usize].get(usize::from(hops)).copied()
    }

    /// Says whether one link alone feeds this one, in order: then arrivals need no event, they are known beforehand.
    pub(crate) fn is_private(&self, link: LinkId) -> bool {
        matches!(self.feeders[link.0 as usize], Feeder::One(_))
    }

    /// Gives a link.
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.0 as usize]
    }

    /// Gives a link to change it.
    pub fn link_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self.links[link.0 as usize]
    }

    /// Gives all links in order of their numbers.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::QueueLimit;
    use earlybird_units::{Duration, Rate};

    fn settings() -> LinkSettings {
        LinkSettings {
            name: String::new(),
            rate: Rate::from_bits_per_second(1).unwrap(),
            delay: Duration::ZERO,
            limit: QueueLimit::Unlimited,
            losses: Vec::new(),
        }
    }

    #[test]
    fn the_route_with_the_fewest_links_is_taken_and_shared_links_are_not_private() {
        let mut network = Network::default();
        let [a, b, c, d] = [(); 4].map(|()| network.add_node());
        let [ac, bc, cd] = [(a, c), (b, c), (c, d)].map(|(from, to)| network.add_link(from, to, settings()));
        let route = network.add_route(a, d).unwrap();
        assert_eq!([network.next_link(route, 0), network.next_link(route, 1)], [Some(ac), Some(cd)]);
        assert!(network.is_private(cd) && !network.is_private(ac));
        network.add_route(b, d).unwrap();
        assert!(!network.is_private(cd) && !network.is_private(bc));
        assert_eq!(network.add_route(d, a), Err(NoRoute { from: d, to: a }));
    }
}
