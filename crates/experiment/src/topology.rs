//! The network of a run with its flows and applications, before the run starts.

use earlybird_scenario::Transport;
use earlybird_sim::{Carrier, FlowId, FlowSettings, GroupId, Network, Observer, RouteId, World};
use earlybird_traffic::{PathId, SenderApp, Viewer};
use earlybird_units::{Instant, SeedTree};

/// The routes between two hosts in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePair {
    /// From the host that opens connections to the other one.
    pub there: RouteId,
    /// The reverse direction.
    pub back: RouteId,
}

impl RoutePair {
    /// Returns the routes from the other host's point of view.
    pub(crate) const fn reversed(self) -> Self {
        Self { there: self.back, back: self.there }
    }
}

/// A sender application with its start time.
pub type AppStart = (Instant, Box<dyn SenderApp>);

/// The specification of a flow.
#[derive(Debug)]
pub struct FlowSpec {
    /// Its number in results.
    pub id: FlowId,
    /// The number of its group.
    pub group: GroupId,
    /// Its name.
    pub name: String,
    /// The transport by its name in the scenario …
    pub transport: Transport,
    /// … and as settings of endpoints.
    pub carrier: Carrier,
    /// Its random numbers.
    pub seeds: SeedTree,
    /// The sender applications: one, or one per web session.
    pub sources: Vec<AppStart>,
    /// The viewer that reads its first connection.
    pub viewer: Option<Viewer>,
}

/// The network, paths and flows of a run, independent of the backend.
#[derive(Debug)]
pub struct Topology {
    /// The links and the routes over them.
    pub network: Network,
    /// The paths for connections, by [`PathId`].
    pub paths: Vec<RoutePair>,
    /// The flows in order of their numbers.
    pub flows: Vec<FlowSpec>,
}

impl Topology {
    pub(crate) fn add_path(&mut self, pair: RoutePair) -> PathId {
        self.paths.push(pair);
        PathId(self.paths.len() as u32 - 1)
    }

    /// Makes a simulated world.
    pub(crate) fn into_world<O: Observer>(self, observer: O) -> World<O> {
        let mut world = World::new(self.network, observer);
        // Ids are positions: the world numbers paths and flows in the same order.
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
