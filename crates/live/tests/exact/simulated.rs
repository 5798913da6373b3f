//! The transfer in the simulator.

use crate::seen::{Seen, seen};
use crate::{END, START, Transfer};
use earlybird_sim::{
    EndpointSettings, FlowSettings, GroupId, HeaderSize, Network, Observer, Packet, PacketEvent, RouteId, World,
};
use earlybird_traffic::{ConnectionId, PathId, SenderApp, SenderIo};
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::Segment;

/// Writes everything at once, and closes when all is acknowledged.
#[derive(Debug)]
struct Upload {
    path: PathId,
    bytes: u64,
}

impl SenderApp for Upload {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        let connection = io.open(self.path);
        io.write(connection, self.bytes);
    }

    fn on_drained(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        io.close(connection);
    }
}

/// Records sent segments.
#[derive(Default)]
struct SentSegments {
    there: Option<RouteId>,
    sent: Vec<(Instant, usize, Segment)>,
}

impl Observer for SentSegments {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if let (PacketEvent::Sent | PacketEvent::Retransmitted, Some(segment)) = (event, packet.segment()) {
            self.sent.push((at, usize::from(Some(packet.route) != self.there), *segment));
        }
    }
}

pub(crate) fn run((network, there, back): (Network, RouteId, RouteId), transfer: Transfer) -> Vec<Seen> {
    let mut world = World::new(network, SentSegments { there: Some(there), ..SentSegments::default() });
    let path = world.add_path(there, back);
    let config = transfer.config;
    let endpoints =
        EndpointSettings { opener: config, listener: config, headers: HeaderSize::Real, closes_with_fin: true };
    let flow = world.add_flow(FlowSettings { group: GroupId(0), endpoints, seeds: SeedTree::new(1) });
    world.add_sender(flow, Box::new(Upload { path, bytes: transfer.bytes }), START);
    assert!(world.run_until(END, 1 << 40));
    seen(world.into_parts().1.sent)
}
