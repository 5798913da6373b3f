//! Quinn's configuration: its defaults, with random numbers of ours.

use crate::null::Null;
use crate::{Control, Quinn};
use earlybird_units::{Random, SeedTree};
use quinn_proto::congestion::{CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, ServerConfig, TransportConfig,
};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a connection's name, as quinn has them by default (`HashedConnectionIdGenerator`).
const NAME: usize = 8;
/// Bytes of the name that a client gives its server until that has chosen one (`MAX_CID_SIZE`).
const FIRST_NAME: usize = 20;

/// Names connections.
#[derive(Debug)]
struct Names(Random);

impl ConnectionIdGenerator for Names {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&bytes::<NAME>(&mut self.0))
    }

    fn cid_len(&self) -> usize {
        NAME
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn bytes<const N: usize>(random: &mut Random) -> [u8; N] {
    std::array::from_fn(|_| random.below(256) as u8)
}

/// Returns an endpoint for one connection: a server if there is a configuration for one.
pub(crate) fn endpoint(seeds: SeedTree, server: Option<ServerConfig>) -> Endpoint {
    let mut config = EndpointConfig::new(Arc::new(Null));
    config.rng_seed(Some(bytes(&mut seeds.child("quinn").random())));
    config.cid_generator(move || Box::new(Names(seeds.child("names").random())));
    Endpoint::new(Arc::new(config), server.map(Arc::new), true, None)
}

/// Returns how a client connects.
pub(crate) fn client(stack: Quinn, seeds: SeedTree) -> ClientConfig {
    let mut config = ClientConfig::new(Arc::new(Null));
    let first = ConnectionId::new(&bytes::<FIRST_NAME>(&mut seeds.child("first name").random()));
    config.initial_dst_cid_provider(Arc::new(move || first)).transport_config(transport(stack));
    config
}

/// Returns how a server accepts.
pub(crate) fn server(stack: Quinn) -> ServerConfig {
    let mut config = ServerConfig::new(Arc::new(Null), Arc::new(Null));
    config.transport_config(transport(stack));
    config
}

/// Quinn's defaults, but a connection is not given up while its application pauses, and a datagram is one packet.
fn transport(stack: Quinn) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(None).enable_segmentation_offload(false);
    match stack.control {
        Control::Cubic => config.congestion_controller_factory(Arc::new(CubicConfig::default())),
        Control::NewReno => config.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
    };
    Arc::new(config)
}
