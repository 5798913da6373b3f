//! Nodes, links, and the routes over them.

use crate::ids::{LinkId, NodeId, RouteId};
use crate::impairment::Impairments;
use crate::link::{Link, LinkSettings};
use earlybird_units::Duration;
use std::collections::VecDeque;

/// One link of a route with two flags, packed into one number: every packet reads it at every link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop(u32);

impl Hop {
    /// Marks the end of a route.
    pub(crate) const END: Self = Self(u32::MAX);
    /// An event is needed: this is the end of the route, or the link is event-driven.
    const NEEDS_EVENT: u32 = 1 << 31;
    /// Packets continue to the next link, which only this one feeds: the arrival there is known ahead of time and needs
    /// no event.
    const CHAINED: u32 = 1 << 30;

    /// Returns the link.
    #[inline]
    pub(crate) const fn link(self) -> LinkId {
        LinkId(self.0 & !(Self::NEEDS_EVENT | Self::CHAINED))
    }

    /// Returns whether the analytic link model does not apply here.
    #[inline]
    pub(crate) const fn needs_event(self) -> bool {
        self.0 & Self::NEEDS_EVENT != 0
    }

    /// Returns whether a packet continues to the next link without an event.
    #[inline]
    pub(crate) const fn is_chained(self) -> bool {
        self.0 & Self::CHAINED != 0
    }
}

/// The error that two nodes are not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoute {
    /// Start of the route.
    pub from: NodeId,
    /// End of the route.
    pub to: NodeId,
}

/// The source of a link's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Upstream {
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
    feeders: Vec<Upstream>,
    /// By link; empty for most.
    impairments: Vec<Impairments>,
    /// The hops of all routes, one route after the other, each closed by [`Hop::END`].
    hops: Vec<Hop>,
    nodes: u32,
}

/// Returns the links of the path with the fewest of them; `ends` has the nodes that each link leads from and to. `None` if
/// the nodes are not connected.
///
/// Of equally long paths it is the one whose links were added first, so that the result depends on nothing but the input.
pub fn fewest_links(ends: &[(NodeId, NodeId)], from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
    let nodes = ends.iter().flat_map(|(start, end)| [start.0, end.0]).chain([from.0, to.0]).max().unwrap_or(0);
    let mut incoming_link = vec![None; nodes as usize + 1];
    let mut frontier = VecDeque::from([from]);
    while let Some(node) = frontier.pop_front() {
        if node == to {
            return Some(backtrack(ends, from, to, &incoming_link));
        }
        for (index, &(start, end)) in ends.iter().enumerate() {
            // Of equally short routes, breadth-first search in order of declaration finds the first declared one.
            if start == node && end != from && incoming_link[end.0 as usize].is_none() {
                incoming_link[end.0 as usize] = Some(LinkId(index as u32));
                frontier.push_back(end);
            }
        }
    }
    None
}

fn backtrack(ends: &[(NodeId, NodeId)], from: NodeId, to: NodeId, incoming_link: &[Option<LinkId>]) -> Vec<LinkId> {
    let mut route = Vec::new();
    let mut node = to;
    while let Some(link) = incoming_link[node.0 as usize].filter(|_| node != from) {
        route.push(link);
        node = ends[link.0 as usize].0;
    }
    route.reverse();
    route
}

impl Network {
    /// Adds a node.
    pub fn add_node(&mut self) -> NodeId {
        self.nodes += 1;
        NodeId(self.nodes - 1)
    }

    /// Reserves memory for this many more links. Links are large, and moving them as their list grows costs time.
    pub fn reserve_links(&mut self, additional: usize) {
        self.links.reserve(additional);
        self.ends.reserve(additional);
        self.feeders.reserve(additional);
        self.impairments.reserve(additional);
    }

    /// Adds a link in one direction.
    pub fn add_link(&mut self, from: NodeId, to: NodeId, settings: LinkSettings) -> LinkId {
        self.links.push(Link::new(settings));
        self.ends.push((from, to));
        self.feeders.push(Upstream::Nobody);
        self.impairments.push(Impairments::default());
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds the route with the fewest links, the first declared where several are as short.
    ///
    /// # Errors
    ///
    /// [`NoRoute`] if the nodes are not connected.
    pub fn add_route(&mut self, from: NodeId, to: NodeId) -> Result<RouteId, NoRoute> {
        let links = fewest_links(&self.ends, from, to).ok_or(NoRoute { from, to })?;
        Ok(self.add_route_over(links))
    }

    /// Adds a route over these links, each of which must begin at the end of the previous one.
    pub fn add_route_over(&mut self, links: Vec<LinkId>) -> RouteId {
        // The first link of a route is fed by a host, which may send at any time.
        let mut feeder = Upstream::Many;
        for &link in &links {
            let known = &mut self.feeders[link.0 as usize];
            // A link whose routes all come over the same upstream link sees packets in order, with no other source.
            *known = if *known == Upstream::Nobody || *known == feeder { feeder } else { Upstream::Many };
            feeder = Upstream::One(link);
        }
        let start = self.hops.len() as u32;
        self.hops.extend(links.into_iter().map(|link| Hop(link.0)));
        self.hops.push(Hop::END);
        RouteId(start)
    }

    /// Sets the flags of all hops. Called once, when all links and routes are known.
    pub(crate) fn classify_hops(&mut self) {
        for index in 0..self.hops.len() {
            if self.hops[index] == Hop::END {
                continue;
            }
            let link = self.hops[index].link();
            let needs_event = if self.link(link).is_event_driven() { Hop::NEEDS_EVENT } else { 0 };
            let is_chained = if self.is_chained(link, self.hops[index + 1]) { Hop::CHAINED } else { 0 };
            self.hops[index] = Hop(link.0 | needs_event | is_chained);
        }
    }

    fn is_chained(&self, link: LinkId, next: Hop) -> bool {
        let is_private = |link: LinkId| matches!(self.feeders[link.0 as usize], Upstream::One(_));
        // Computing an arrival ahead of time needs three things: a next link that only this one feeds, no reordering,
        // and analytic links on both sides.
        let is_known = next != Hop::END && is_private(next.link()) && !self.link(next.link()).is_event_driven();
        is_known && !self.link(link).is_impaired && !self.link(link).is_event_driven()
    }

    /// Returns the first hop of a route, or of the rest of one.
    #[inline]
    pub(crate) fn first_hop(&self, route: RouteId) -> Hop {
        self.hops[route.0 as usize]
    }

    /// Returns the propagation time of a route.
    pub fn delay(&self, route: RouteId) -> Duration {
        self.delays(route).fold(Duration::ZERO, |sum, delay| sum + delay)
    }

    /// Returns the propagation delay of a route's last link, or zero for an empty route.
    pub(crate) fn last_link_delay(&self, route: RouteId) -> Duration {
        self.delays(route).last().unwrap_or_default()
    }

    fn delays(&self, route: RouteId) -> impl Iterator<Item = Duration> {
        self.links_of(route).map(|link| self.link(link).settings().delay)
    }

    /// Returns the links of a route in order.
    pub fn links_of(&self, route: RouteId) -> impl Iterator<Item = LinkId> + '_ {
        self.hops[route.0 as usize..].iter().take_while(|step| **step != Hop::END).map(|step| step.link())
    }

    /// Returns a link.
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.0 as usize]
    }

    /// Returns a link to change it.
    pub fn link_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self.links[link.0 as usize]
    }

    /// Adds jitter, reordering and duplication to a link.
    pub fn set_impairments(&mut self, link: LinkId, impairments: Impairments) {
        self.link_mut(link).is_impaired = impairments.is_any();
        *self.impairments_mut(link) = impairments;
    }

    /// Returns the jitter, reordering and duplication of a link.
    pub fn impairments(&self, link: LinkId) -> &Impairments {
        &self.impairments[link.0 as usize]
    }

    /// Returns the jitter, reordering and duplication of all links in order of their numbers.
    pub fn all_impairments(&self) -> impl Iterator<Item = &Impairments> {
        self.impairments.iter()
    }

    pub(crate) fn impairments_mut(&mut self, link: LinkId) -> &mut Impairments {
        &mut self.impairments[link.0 as usize]
    }

    /// Returns all links in order of their numbers.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_units::{Rate, SeedTree};

    fn settings() -> LinkSettings {
        LinkSettings::plain("", Rate::from_bits_per_second(1).unwrap(), SeedTree::new(0))
    }

    #[test]
    fn the_route_with_the_fewest_links_is_taken_and_shared_links_are_not_private() {
        let mut network = Network::default();
        let [a, b, c, d] = [(); 4].map(|()| network.add_node());
        let [ac, bc, cd] = [(a, c), (b, c), (c, d)].map(|(from, to)| network.add_link(from, to, settings()));
        let route = network.add_route(a, d).unwrap();
        let is_chained = |network: &mut Network, route: RouteId| {
            network.classify_hops();
            network.first_hop(route).is_chained()
        };
        assert_eq!(network.links_of(route).collect::<Vec<_>>(), [ac, cd]);
        assert_eq!(network.first_hop(route.rest().rest()), Hop::END);
        assert!(is_chained(&mut network, route) && !is_chained(&mut network, route.rest()));
        let other = network.add_route(b, d).unwrap();
        assert!(!is_chained(&mut network, route) && !is_chained(&mut network, other));
        assert_eq!(network.first_hop(other).link(), bc);
        assert_eq!(network.add_route(d, a), Err(NoRoute { from: d, to: a }));
    }
}
