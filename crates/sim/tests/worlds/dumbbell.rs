//! Small networks to run flows over.

use earlybird_sim::{
    Discipline, EndpointSettings, FlowId, FlowSettings, GroupId, HeaderSize, LinkId, LinkSettings, Loss, Network,
    NodeId, Observer, QueueLimit, RouteId, World,
};
use earlybird_tcp::{Config, Segmentation};
use earlybird_traffic::{Bulk, ConnectionId, PathId, SenderApp, SenderIo};
use earlybird_units::{Duration, Instant, Rate, SeedTree};

/// Events that no test needs.
pub(crate) const BUDGET: u64 = 1 << 40;

pub(crate) fn seconds(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// A link of so many bits per second and milliseconds.
pub(crate) fn link(rate: u64, delay: u64, limit: QueueLimit) -> LinkSettings {
    let rate = Rate::from_bits_per_second(rate).expect("a rate above zero");
    let delay = Duration::from_millis(delay);
    LinkSettings { delay, limit, ..LinkSettings::plain("", rate, SeedTree::new(1)) }
}

/// The same link without losses and limits.
fn plain(link: &LinkSettings) -> LinkSettings {
    let (losses, limit, discipline) = (Vec::new(), QueueLimit::Unlimited, Discipline::DropTail);
    LinkSettings { losses, limit, discipline, changes: None, ..link.clone() }
}

pub(crate) fn lossy(link: LinkSettings, losses: Vec<Loss>) -> LinkSettings {
    LinkSettings { losses, ..link }
}

/// ns-2's agents, of which the sinks never repeat the handshake.
pub(crate) fn ns2(config: Config) -> EndpointSettings {
    let listener = config.with_rto(earlybird_tcp::RtoConfig { initial: Duration::MAX, ..config.timers.rto });
    EndpointSettings { opener: config, listener, headers: HeaderSize::Ns2, closes_with_fin: false }
}

/// Connections as current standards have them.
pub(crate) fn rfc(config: Config) -> EndpointSettings {
    let config = config.with_segmentation(Segmentation::Simulated);
    EndpointSettings { opener: config, listener: config, headers: HeaderSize::Real, closes_with_fin: true }
}

/// Two hosts and a link each way. The forward link has number 0.
pub(crate) struct DuplexLink {
    pub(crate) network: Network,
    pub(crate) there: RouteId,
    pub(crate) back: RouteId,
}

impl DuplexLink {
    pub(crate) fn new(forward: LinkSettings) -> Self {
        let backward = plain(&forward);
        Self::both_directions(forward, backward)
    }

    pub(crate) fn both_directions(forward: LinkSettings, backward: LinkSettings) -> Self {
        let mut network = Network::default();
        let (left, right) = (network.add_node(), network.add_node());
        network.add_link(left, right, forward);
        network.add_link(right, left, backward);
        let there = network.add_route(left, right).expect("a route there");
        let back = network.add_route(right, left).expect("a route back");
        Self { network, there, back }
    }

    /// Makes a world with one flow that sends so many bytes at time 0 and never closes.
    pub(crate) fn world<O: Observer>(self, endpoints: EndpointSettings, bytes: u64, observer: O) -> World<O> {
        let mut world = World::new(self.network, observer);
        let path = world.add_path(self.there, self.back);
        add_flow(&mut world, "flow", 0, endpoints, Box::new(Burst { path, bytes }), Instant::ZERO);
        world
    }
}

pub(crate) const FORWARD: LinkId = LinkId(0);

/// Adds a flow with the seed of its name.
pub(crate) fn add_flow<O: Observer>(
    world: &mut World<O>,
    name: &str,
    group: u32,
    endpoints: EndpointSettings,
    application: Box<dyn SenderApp>,
    start: Instant,
) -> FlowId {
    let seeds = SeedTree::new(1).child(name);
    let flow = world.add_flow(FlowSettings { group: GroupId(group), endpoints, seeds });
    world.add_sender(flow, application, start);
    flow
}

/// Writes everything at once and leaves the connection open.
#[derive(Debug)]
pub(crate) struct Burst {
    pub(crate) path: PathId,
    pub(crate) bytes: u64,
}

impl SenderApp for Burst {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        let connection: ConnectionId = io.open(self.path);
        io.write(connection, self.bytes);
    }
}

/// Two routers with a bottleneck between them, and pairs of hosts around.
///
/// The forward link has number 0, the backward one 1; each pair adds the links up and down of its left host, then of its
/// right one.
pub(crate) struct Dumbbell {
    pub(crate) network: Network,
    routers: [NodeId; 2],
    back: LinkId,
    routes: Vec<(RouteId, RouteId)>,
}

impl Dumbbell {
    pub(crate) fn new(bottleneck: LinkSettings) -> Self {
        let mut network = Network::default();
        let routers = [network.add_node(), network.add_node()];
        let back = plain(&bottleneck);
        network.add_link(routers[0], routers[1], bottleneck);
        let back = network.add_link(routers[1], routers[0], back);
        Self { network, routers, back, routes: Vec::new() }
    }

    pub(crate) fn with_pairs(mut self, pairs: u32) -> Self {
        for _ in 0..pairs {
            let [(left_up, left_down), (right_up, right_down)] = self.routers.map(|router| self.add_host(router));
            let there = self.network.add_route_over(vec![left_up, FORWARD, right_down]);
            let back = self.network.add_route_over(vec![right_up, self.back, left_down]);
            self.routes.push((there, back));
        }
        self
    }

    /// Returns the links to and from the router.
    fn add_host(&mut self, router: NodeId) -> (LinkId, LinkId) {
        let host = self.network.add_node();
        let access = || link(100_000_000, 5, QueueLimit::Unlimited);
        (self.network.add_link(host, router, access()), self.network.add_link(router, host, access()))
    }

    /// Returns the network and the routes of each pair.
    pub(crate) fn into_parts(self) -> (Network, Vec<(RouteId, RouteId)>) {
        (self.network, self.routes)
    }

    /// Makes a world with an endless transfer per pair, which start 10 ms apart.
    pub(crate) fn world<O: Observer>(self, endpoints: EndpointSettings, observer: O) -> World<O> {
        let mut world = World::new(self.network, observer);
        for (index, (there, back)) in (0..).zip(self.routes) {
            let path = world.add_path(there, back);
            let start = Instant::ZERO + Duration::from_millis(10) * index;
            let bulk = Box::new(Bulk::new(path, None));
            add_flow(&mut world, &format!("flow-{index}"), 0, endpoints, bulk, start);
        }
        world
    }
}
