//! The plan of a run: every node, link, route, flow and application of a scenario, by name.

use crate::applications::{source, viewer};
use crate::bottleneck::bottleneck_of;
use crate::default_window;
use crate::endpoint::carrier_of;
use crate::link_paths::no_route;
use crate::loss::{impairments_of, losses_of, outages_of};
use crate::rates::rates_of;
use crate::topology::{AppStart, FlowSpec, RoutePair, Topology};
use crate::web::session;
use earlybird_scenario::{
    Channel, Dumbbell, Flow, Link, Network as NetworkModel, Scenario, ScenarioError, Start, Transport, WebSessions,
};
use earlybird_sim::{
    Carrier, FlowId, GroupId, HeaderSize, LinkId, LinkSettings, Network, NoRoute, NodeId, PacketFilter,
};
use earlybird_traffic::{PathId, Sites};
use earlybird_units::{Duration, Instant, SeedTree};
use std::rc::Rc;
use std::sync::Arc;

/// One flow by name.
#[derive(Clone, Debug)]
pub(crate) struct FlowPlan {
    pub(crate) name: String,
    pub(crate) group: usize,
    pub(crate) index: u32,
    pub(crate) start: Instant,
}

/// A group of flows.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    pub(crate) flow: Flow,
    pub(crate) transport: Transport,
    pub(crate) carrier: Carrier,
    /// Whether the path's BDP decides the largest window.
    fits_window: bool,
}

/// Everything that is known before the run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) flows: Vec<FlowPlan>,
    pub(crate) groups: Vec<GroupPlan>,
    pub(crate) bottleneck: String,
    pub(crate) warm_up: Instant,
    pub(crate) end: Instant,
    pub(crate) network: NetworkModel,
    counts_queue_lengths: bool,
    /// Whether links keep their queueing delays.
    keeps_delays: bool,
    seeds: SeedTree,
}

impl Plan {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Result<Self, ScenarioError> {
        let mut plan = Self::of_groups(scenario, seed)?;
        for (group, flow) in scenario.flows.iter().enumerate() {
            for (index, name) in (0..).zip(flow.members()) {
                // Seeds by name, not by order: another flow in the scenario leaves this one as it was.
                let start = start_of(&flow.start, index, plan.seeds.child("flow").child(&name));
                plan.flows.push(FlowPlan { name, group, index, start });
            }
        }
        Ok(plan)
    }

    /// Returns whether links count other headers than those of real networks for some group.
    pub(crate) fn has_short_headers(&self) -> bool {
        let is_short =
            |group: &GroupPlan| matches!(group.carrier, Carrier::Tcp(settings) if settings.headers != HeaderSize::Real);
        self.groups.iter().any(is_short)
    }

    /// Plans everything but the single flows, which may be too many for memory.
    pub(crate) fn of_groups(scenario: &Scenario, seed: u64) -> Result<Self, ScenarioError> {
        let seeds = SeedTree::new(seed);
        let mut groups = Vec::new();
        for flow in &scenario.flows {
            let endpoint = scenario.endpoint_of(flow)?;
            groups.push(GroupPlan {
                flow: flow.clone(),
                transport: endpoint.transport,
                carrier: carrier_of(&endpoint, flow),
                fits_window: default_window::is_open(&endpoint),
            });
        }
        // All times of a plan are counted from the start of the run.
        let warm_up = Instant::ZERO + scenario.measure.warm_up.duration();
        let end = Instant::ZERO + scenario.duration.duration();
        let derived = || bottleneck_of(&scenario.network, &scenario.flows, end);
        let bottleneck = scenario.measure.bottleneck.clone().map_or_else(derived, Ok)?;
        let network = scenario.network.clone();
        let counts_queue_lengths = scenario.measure.queue_positions;
        Ok(Self {
            flows: Vec::new(),
            groups,
            bottleneck,
            warm_up,
            end,
            network,
            counts_queue_lengths,
            keeps_delays: scenario.measure.percentiles,
            seeds,
        })
    }

    /// Returns the plan of a network without flows, which runs without end.
    pub(crate) fn of_network(network: &NetworkModel, seed: u64) -> Self {
        Self {
            flows: Vec::new(),
            groups: Vec::new(),
            bottleneck: String::new(),
            warm_up: Instant::ZERO,
            end: Instant::NEVER,
            network: network.clone(),
            counts_queue_lengths: false,
            keeps_delays: false,
            seeds: SeedTree::new(seed),
        }
    }

    /// Returns the flow with this name.
    pub(crate) fn flow_named(&self, name: &str) -> Option<FlowId> {
        let index = self.flows.iter().position(|flow| flow.name == name)?;
        Some(FlowId(index as u32))
    }

    /// Returns the packets to which a rule for the flow or group of this name applies; all if it names none.
    fn filter_of(&self, name: Option<&str>) -> PacketFilter {
        PacketFilter {
            flow: name.and_then(|name| self.flow_named(name)),
            group: name.and_then(|name| self.group_named(name)),
        }
    }

    /// Returns the bottleneck's number: links are numbered in the order in which the scenario names them.
    pub(crate) fn bottleneck_id(&self) -> Option<LinkId> {
        let index = self.network.link_names().iter().position(|name| *name == self.bottleneck)?;
        Some(LinkId(index as u32))
    }

    pub(crate) fn group_named(&self, name: &str) -> Option<GroupId> {
        let index = self.groups.iter().position(|group| group.flow.name == name)?;
        Some(GroupId(index as u32))
    }

    /// Returns the propagation delay of a flow's forward and reverse route together.
    pub(crate) fn round_trip(&self, flow: usize) -> Option<Duration> {
        let mut builder = NetworkBuilder::new(self);
        let pair = *builder.route_pairs(&self.flows[flow]).ok()?.first()?;
        Some(builder.network.delay(pair.there) + builder.network.delay(pair.back))
    }

    /// Returns of each flow the propagation delay there and back, and the links that its data cross.
    pub(crate) fn flow_routes(&self) -> Vec<Option<(Duration, Vec<LinkId>)>> {
        let mut builder = NetworkBuilder::new(self);
        let pairs: Vec<_> = self.flows.iter().map(|flow| builder.route_pairs(flow).ok()?.first().copied()).collect();
        let network = &builder.network;
        let route = |pair: RoutePair| {
            (network.delay(pair.there) + network.delay(pair.back), network.links_of(pair.there).collect())
        };
        pairs.into_iter().map(|pair| pair.map(route)).collect()
    }

    /// Builds the network and the flows.
    pub(crate) fn topology(&self) -> Result<Topology, ScenarioError> {
        let mut builder = NetworkBuilder::new(self);
        if matches!(self.network, NetworkModel::Dumbbell(_)) {
            builder.network.reserve_links(ACCESS_LINKS * self.flows.len());
        }
        let pairs: Vec<Vec<RoutePair>> =
            self.flows.iter().map(|flow| builder.route_pairs(flow)).collect::<Result<_, _>>()?;
        let flows = Vec::with_capacity(self.flows.len());
        let mut topology = Topology { network: builder.network, paths: Vec::new(), flows };
        for (flow, pairs) in self.flows.iter().zip(&pairs) {
            let spec = self.spec(&mut topology, flow, pairs);
            topology.flows.push(spec);
        }
        Ok(topology)
    }

    fn spec(&self, topology: &mut Topology, flow: &FlowPlan, pairs: &[RoutePair]) -> FlowSpec {
        let group = &self.groups[flow.group];
        let sources = match group.flow.application.web_sessions() {
            Some(sessions) => self.sessions(topology, flow, sessions, pairs),
            None => vec![(flow.start, source(&group.flow, topology.add_path(pairs[0])))],
        };
        // The window depends on the routes, which exist only now.
        let fitted = || default_window::fitted(group.carrier, &topology.network, pairs, self.end);
        FlowSpec {
            id: FlowId(topology.flows.len() as u32),
            group: GroupId(flow.group as u32),
            name: flow.name.clone(),
            transport: group.transport,
            carrier: if group.fits_window { fitted() } else { group.carrier },
            seeds: self.seeds.child("flow").child(&flow.name),
            sources,
            viewer: viewer(&group.flow, group.transport.kind),
        }
    }

    fn sessions(
        &self,
        topology: &mut Topology,
        flow: &FlowPlan,
        web: WebSessions,
        pairs: &[RoutePair],
    ) -> Vec<AppStart> {
        // Servers are at the senders' side of the group; `pairs` holds every server with every client.
        let per_client = |client: u32| (0..web.pairs).map(move |server| (server * web.pairs + client) as usize);
        let mut paths = |is_request: bool| -> Vec<Vec<PathId>> {
            let mut path = |pair: RoutePair| topology.add_path(if is_request { pair.reversed() } else { pair });
            (0..web.pairs).map(|client| per_client(client).map(|index| path(pairs[index])).collect()).collect()
        };
        // Shared by the sessions of the flow, since every server has a route to every client.
        let sites = Arc::new(Sites { requests: paths(true), responses: paths(false) });
        let seeds = self.seeds.child("flow").child(&flow.name);
        let model = &self.groups[flow.group].flow;
        let app_start = |index| {
            // Sessions of a flow start independently.
            let seeds = seeds.child("session").nth(u64::from(index));
            let start = start_of(&model.start, flow.index, seeds);
            Some((start, session(&model.application, &sites, seeds.random())?))
        };
        // Other applications have no sessions.
        (0..web.count).filter_map(app_start).collect()
    }
}

fn start_of(start: &Start, index: u32, seeds: SeedTree) -> Instant {
    Instant::ZERO
        + match start {
            Start::At(at) => at.duration(),
            Start::Uniform([low, high]) => {
                seeds.child("start").random().duration_between(low.duration(), high.duration())
            }
            Start::Each(times) => times.get(index as usize).map_or(Duration::ZERO, |at| at.duration()),
        }
}

/// A host of a dumbbell: its links to and from its router.
#[derive(Clone, Copy, Debug)]
struct HostLinks {
    up: LinkId,
    down: LinkId,
}

pub(crate) struct NetworkBuilder<'a> {
    plan: &'a Plan,
    pub(crate) network: Network,
    shape: TopologyKind,
}

#[derive(Clone)]
enum TopologyKind {
    Dumbbell(Rc<DumbbellParts>),
    Links(Rc<[(String, NodeId)]>),
}

struct DumbbellParts {
    access: Channel,
    routers: [NodeId; 2],
    forward: LinkId,
    backward: LinkId,
}

/// Access links of two hosts, one in each direction.
const ACCESS_LINKS: usize = 4;

impl<'a> NetworkBuilder<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let mut network = Network::default();
        let shape = match &plan.network {
            NetworkModel::Dumbbell(dumbbell) => Self::dumbbell(plan, &mut network, dumbbell),
            NetworkModel::Links(links) => Self::links(plan, &mut network, links),
        };
        Self { plan, network, shape }
    }

    fn dumbbell(plan: &Plan, network: &mut Network, dumbbell: &Dumbbell) -> TopologyKind {
        let routers = [network.add_node(), network.add_node()];
        let forward = add_link(plan, network, routers, ["left", "right"], &dumbbell.bottleneck);
        let backward = add_link(plan, network, [routers[1], routers[0]], ["right", "left"], &dumbbell.backward());
        TopologyKind::Dumbbell(Rc::new(DumbbellParts { access: dumbbell.access.clone(), routers, forward, backward }))
    }

    fn links(plan: &Plan, network: &mut Network, links: &[Link]) -> TopologyKind {
        let names = plan.network.nodes();
        let nodes: Rc<[_]> = names.into_iter().map(|name| (name.to_owned(), network.add_node())).collect();
        for link in links {
            let [from, to] = [&link.from, &link.to].map(|name| node_named(&nodes, name));
            add_link(plan, network, [from, to], [&link.from, &link.to], &link.forward());
            add_link(plan, network, [to, from], [&link.to, &link.from], &link.backward());
        }
        TopologyKind::Links(nodes)
    }

    /// Returns the routes of a flow: one pair of hosts, or every server with every client for web sessions.
    pub(crate) fn route_pairs(&mut self, flow: &FlowPlan) -> Result<Vec<RoutePair>, ScenarioError> {
        let model = &self.plan.groups[flow.group].flow;
        let count = model.application.web_sessions().map_or(1, |web| web.pairs);
        match self.shape.clone() {
            TopologyKind::Dumbbell(parts) => Ok(self.dumbbell_route_pairs(&parts, flow, model, count)),
            TopologyKind::Links(nodes) => Ok(vec![self.route_pair_between(&nodes, model)?; (count * count) as usize]),
        }
    }

    fn dumbbell_route_pairs(
        &mut self,
        parts: &DumbbellParts,
        flow: &FlowPlan,
        model: &Flow,
        count: u32,
    ) -> Vec<RoutePair> {
        let access: Vec<Channel> = (0..count).map(|host| self.access_of(parts, flow, host)).collect();
        let mut hosts = |side: &str| -> Vec<HostLinks> {
            access.iter().map(|access| self.add_host(parts.routers, access, side, &flow.name)).collect()
        };
        let (senders, receivers) = (hosts(&model.from), hosts(&model.to));
        // Flows from the right use the same links in the other direction.
        let is_forward = model.from == "left";
        let (there, back) = if is_forward { (parts.forward, parts.backward) } else { (parts.backward, parts.forward) };
        let every = senders.iter().flat_map(|sender| receivers.iter().map(move |receiver| (sender, receiver)));
        let routes = every.map(|(sender, receiver)| RoutePair {
            there: self.network.add_route_over(vec![sender.up, there, receiver.down]),
            back: self.network.add_route_over(vec![receiver.up, back, sender.down]),
        });
        routes.collect()
    }

    /// Returns the access links of a flow's hosts of this number, with the access delay of its group.
    fn access_of(&self, parts: &DumbbellParts, flow: &FlowPlan, host: u32) -> Channel {
        let mut access = parts.access.clone();
        if let Some(delay) = &self.plan.groups[flow.group].flow.access_delay {
            let seeds = self.plan.seeds.child("flow").child(&flow.name).child("access").nth(u64::from(host));
            let [low, high] = delay.range(access.delay).map(earlybird_scenario::Time::duration);
            // Each host draws its own delay, from a stream of its flow.
            access.delay = seeds.random().duration_between(low, high).into();
        }
        access
    }

    fn add_host(&mut self, routers: [NodeId; 2], access: &Channel, side: &str, flow: &str) -> HostLinks {
        let router = routers[usize::from(side != "left")];
        let host = self.network.add_node();
        let up = add_link(self.plan, &mut self.network, [host, router], [flow, side], access);
        let down = add_link(self.plan, &mut self.network, [router, host], [side, flow], access);
        HostLinks { up, down }
    }

    fn route_pair_between(&mut self, nodes: &[(String, NodeId)], flow: &Flow) -> Result<RoutePair, ScenarioError> {
        let [from, to] = [&flow.from, &flow.to].map(|name| node_named(nodes, name));
        self.add_route_pair(from, to).map_err(|_| no_route(flow))
    }

    /// Returns the routes between two nodes by name; `None` if there are none, and in a dumbbell, whose hosts have no names.
    pub(crate) fn route_pair(&mut self, ends: [&str; 2]) -> Option<RoutePair> {
        let TopologyKind::Links(nodes) = self.shape.clone() else { return None };
        let [from, to] = ends.map(|name| node_named(&nodes, name));
        self.add_route_pair(from, to).ok()
    }

    fn add_route_pair(&mut self, from: NodeId, to: NodeId) -> Result<RoutePair, NoRoute> {
        Ok(RoutePair { there: self.network.add_route(from, to)?, back: self.network.add_route(to, from)? })
    }
}

fn node_named(nodes: &[(String, NodeId)], name: &str) -> NodeId {
    nodes.iter().find(|(known, _)| known == name).map_or(NodeId(0), |(_, node)| *node)
}

/// Returns the seeds of what both directions of a link have in common.
fn seeds_of_both(plan: &Plan, mut names: [&str; 2]) -> SeedTree {
    names.sort_unstable();
    names.iter().fold(plan.seeds.child("link"), |seeds, name| seeds.child(name))
}

fn add_link(plan: &Plan, network: &mut Network, ends: [NodeId; 2], names: [&str; 2], channel: &Channel) -> LinkId {
    let name = names.join("-");
    let seeds = plan.seeds.child("link").child(&name);
    let is_bottleneck = name == plan.bottleneck;
    let (rate, changes) = rates_of(channel, || seeds_of_both(plan, names));
    let settings = LinkSettings {
        name,
        rate,
        changes,
        outages: outages_of(channel, true),
        delay: channel.delay.duration(),
        limit: channel.queue.limit(),
        discipline: channel.queue.discipline(),
        random: seeds.child("queue").random(),
        losses: losses_of(&|name| plan.filter_of(name), channel, seeds),
    };
    let id = network.add_link(ends[0], ends[1], settings);
    if channel.is_impaired() {
        network.set_impairments(id, impairments_of(&|name| plan.filter_of(name), channel, seeds));
    }
    // Must be set before the first packet.
    network.link_mut(id).measure_between(plan.warm_up, plan.end);
    if plan.keeps_delays {
        network.link_mut(id).keep_queueing_delays();
    }
    // Counting by group costs memory and time per packet: only the bottleneck's counts are reported.
    if is_bottleneck {
        network.link_mut(id).count_groups(plan.groups.len());
        if plan.counts_queue_lengths {
            network.link_mut(id).count_queue_lengths(plan.groups.len());
        }
    }
    id
}
