//! Web sessions: a request over one connection, the answer over another, a pause.

use crate::dumbbell::{BUDGET, DuplexLink, add_flow, link, ns2, rfc, seconds};
use earlybird_sim::{EndpointSettings, FlowEnd, FlowId, Observer, QueueLimit, World};
use earlybird_tcp::Config;
use earlybird_traffic::{Sites, WebParameters, WebSession};
use earlybird_units::{Duration, Instant, SeedTree};
use std::sync::Arc;

/// The bytes that each connection carried, in the order of their ends.
#[derive(Default)]
struct Sizes(Vec<u64>);

impl Observer for Sizes {
    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        self.0.push(end.bytes_delivered);
    }
}

fn sizes_of_a_session(endpoints: EndpointSettings) -> Vec<u64> {
    let duplex = DuplexLink::new(link(10_000_000, 10, QueueLimit::Unlimited));
    let mut world = World::new(duplex.network, Sizes::default());
    let [request, response] =
        [(duplex.there, duplex.back), (duplex.back, duplex.there)].map(|(there, back)| world.add_path(there, back));
    let sites = Arc::new(Sites { requests: vec![vec![request]], responses: vec![vec![response]] });
    let parameters = WebParameters { think: Duration::from_secs(1), object_packets: 10.0, object_shape: 1.2 };
    let session = WebSession::new(sites, parameters, SeedTree::new(3).random());
    add_flow(&mut world, "session", 0, endpoints, Box::new(session), Instant::ZERO);
    assert!(world.run_until(seconds(100), BUDGET));
    world.into_parts().1.0
}

/// Equal seeds ask for equal pages, whatever the connections are made of.
#[test]
fn a_session_with_fins_asks_and_is_answered_in_turn_like_one_without() {
    let without = sizes_of_a_session(ns2(Config::ns2()));
    let with = sizes_of_a_session(rfc(Config::rfc()));
    for sizes in [&without, &with] {
        assert!(sizes.len() > 100, "{} connections in 100 s", sizes.len());
        assert!(sizes.iter().step_by(2).all(|request| *request == 1000), "every other connection is a request");
    }
    let common = without.len().min(with.len());
    assert_eq!(without[..common], with[..common]);
}
