//! The network of a run and who acts on it, before anything happens.

use earlybird_scenario::Transport;
use earlybird_sim::{Carrier, FlowId, FlowSettings, GroupId, Network, Observer, RouteId, World};
use earlybird_traffic::{PathId, SenderApp, Viewer};
use earlybird_units::{Instant, SeedTree};

/// Routes between two hosts, both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePair {
    /// From the host that opens connections …
    pub there: RouteId,
    /// … and back.
    pub back: RouteId,
}

impl RoutePair {
    /// Returns the routes as the other host sees them.
    pub(crate) const fn reversed(self) -> Self {
        Self { there: self.back, back: self.there }
    }
}

/// When an application starts, and which.
pub type AppStart = (Instant, Box<dyn SenderApp>);

/// What a flow is made of.
#[derive(Debug)]
pub struct FlowSpec {
    /// Its number in results.
    pub id: FlowId,
    /// The number of its group.
    pub group: GroupId,
    /// Its name.
    pub name: String,
    /// What its senders do about congestion and loss, as the scenario calls it …
    pub transport: Transport,
    /// … and as an endpoint of ours does it.
    pub carrier: Carrier,
    /// Its random numbers.
    pub seeds: SeedTree,
    /// Who writes: one application, or as many as there are web sessions.
    pub sources: Vec<AppStart>,
    /// Who plays what comes of its first connection.
    pub viewer: Option<Viewer>,
}

/// All that a run needs besides a world for it to take place in.
#[derive(Debug)]
pub struct Topology {
    /// The links and the routes over them.
    pub network: Network,
    /// The ways along which applications open connections, by [`PathId`].
    pub paths: Vec<RoutePair>,
    /// The flows in order of their numbers.
    pub flows: Vec<FlowSpec>,
}

impl Topology {
    pub(crate) fn add_path(&mut self, pair: RoutePair) -> PathId {
        self.paths.push(pair);
        PathId(self.paths.len() as u32 - 1)
    }

    /// Makes a simulated world of it.
    pub(crate) fn into_world<O: Observer>(self, observer: O) -> World<O> {
        let mut world = World::new(self.network, observer);
        for RoutePair { there, back } in self.paths {
            world.add_path(there, back);
        }
        for FlowSpec { group, carrier, seeds, sources, viewer, .. } in self.flows {
            let id = world.add_flow(FlowSettings { group, endpoints: carrier, seeds });
            for (start, source) in sources {
                world.add_sender(id, source, start);
            }
            if let Some(viewer) = viewer {
                world.add_receiver(id, Box::new(viewer));
            }
        }
        world
    }
}
