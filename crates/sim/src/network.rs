//! Nodes, links, and the routes over them.

use crate::ids::{LinkId, NodeId, RouteId};
use crate::impairment::Impairments;
use crate::link::{Link, LinkSettings};
use earlybird_units::Duration;
use std::collections::VecDeque;

const END_OF_ROUTE: LinkId = LinkId(u32::MAX);

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
    /// By link; empty for most.
    impairments: Vec<Impairments>,
    /// The links of all routes, one route behind the other, each closed by [`END_OF_ROUTE`].
    steps: Vec<LinkId>,
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
        self.impairments.push(Impairments::default());
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
            let is_fed_by_one = matches!(known, Feeder::One(_));
            let link_itself = &mut self.links[link.0 as usize];
            link_itself.is_private = is_fed_by_one && !link_itself.is_served();
            feeder = Feeder::One(link);
        }
        let start = self.steps.len() as u32;
        self.steps.extend(links);
        self.steps.push(END_OF_ROUTE);
        RouteId(start)
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

    /// Gives the first link of a route, or of what is left of it.
    pub(crate) fn first_link(&self, route: RouteId) -> Option<LinkId> {
        Some(self.steps[route.0 as usize]).filter(|link| *link != END_OF_ROUTE)
    }

    /// Gives the propagation time of a route.
    pub fn delay(&self, route: RouteId) -> Duration {
        self.delays(route).fold(Duration::ZERO, |sum, delay| sum + delay)
    }

    /// Gives the propagation time of a route's last link; of none, nothing.
    pub(crate) fn last_hop(&self, route: RouteId) -> Duration {
        self.delays(route).last().unwrap_or_default()
    }

    fn delays(&self, route: RouteId) -> impl Iterator<Item = Duration> {
        self.links_of(route).map(|link| self.link(link).settings().delay)
    }

    /// Gives the links of a route in order.
    pub fn links_of(&self, route: RouteId) -> impl Iterator<Item = LinkId> + '_ {
        self.steps[route.0 as usize..].iter().copied().take_while(|link| *link != END_OF_ROUTE)
    }

    /// Gives a link.
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.0 as usize]
    }

    /// Gives a link to change it.
    pub fn link_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self.links[link.0 as usize]
    }

    /// Lets packets leave a link out of order or twice.
    pub fn impair(&mut self, link: LinkId, impairments: Impairments) {
        self.link_mut(link).is_impaired = impairments.reordering.is_some() || impairments.duplication.is_some();
        *self.impairments_mut(link) = impairments;
    }

    /// Gives what a link does to packets besides losing them.
    pub fn impairments(&self, link: LinkId) -> &Impairments {
        &self.impairments[link.0 as usize]
    }

    /// Gives the same of all links in order of their numbers.
    pub fn all_impairments(&self) -> impl Iterator<Item = &Impairments> {
        self.impairments.iter()
    }

    pub(crate) fn impairments_mut(&mut self, link: LinkId) -> &mut Impairments {
        &mut self.impairments[link.0 as usize]
    }

    /// Gives all links in order of their numbers.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Discipline, QueueLimit};
    use earlybird_units::{Duration, Rate, SeedTree};

    fn settings() -> LinkSettings {
        LinkSettings {
            name: String::new(),
            rate: Rate::from_bits_per_second(1).unwrap(),
            changes: None,
            delay: Duration::ZERO,
            limit: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            random: SeedTree::new(0).random(),
            losses: Vec::new(),
        }
    }

    #[test]
    fn the_route_with_the_fewest_links_is_taken_and_shared_links_are_not_private() {
        let mut network = Network::default();
        let [a, b, c, d] = [(); 4].map(|()| network.add_node());
        let [ac, bc, cd] = [(a, c), (b, c), (c, d)].map(|(from, to)| network.add_link(from, to, settings()));
        let route = network.add_route(a, d).unwrap();
        assert_eq!([network.first_link(route), network.first_link(route.rest())], [Some(ac), Some(cd)]);
        assert_eq!(network.first_link(route.rest().rest()), None);
        assert!(network.link(cd).is_private && !network.link(ac).is_private);
        network.add_route(b, d).unwrap();
        assert!(!network.link(cd).is_private && !network.link(bc).is_private);
        assert_eq!(network.add_route(d, a), Err(NoRoute { from: d, to: a }));
    }
}
