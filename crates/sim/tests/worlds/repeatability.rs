//! Equal seeds give equal runs, and only what is connected influences each other.

use crate::dumbbell::{BUDGET, Dumbbell, DuplexLink, add_flow, link, lossy, ns2, rfc, seconds};
use crate::observers::Diary;
use earlybird_sim::{FlowEnd, FlowId, Loss, LossRule, Network, Observer, QueueLimit, RouteId, World};
use earlybird_tcp::{AgeReference, Config, Control, Dupthresh, PertFlags};
use earlybird_traffic::{Bulk, ConnectionId, PathId, SenderApp, SenderIo};
use earlybird_units::{Instant, SeedTree};

/// Draws random numbers for its early responses and its clock.
fn random_config() -> Config {
    let trigger = Dupthresh::EarlyRetransmission(AgeReference::Missing);
    Config::ns2().with_control_only(Control::Pert(PertFlags::DEFAULT)).with_dupthresh(trigger)
}

fn loss(name: &str) -> Loss {
    Loss::new(LossRule::Bernoulli(0.01), SeedTree::new(9).child(name).random())
}

fn diary_of_a_crowd(pairs: u32) -> Diary {
    let bottleneck = lossy(link(5_000_000, 15, QueueLimit::Packets(30)), vec![loss("bottleneck")]);
    let mut world = Dumbbell::new(bottleneck).with_pairs(pairs).world(ns2(random_config()), Diary::default());
    assert!(world.run_until(seconds(20), BUDGET));
    world.finish();
    world.into_parts().1
}

#[test]
fn the_same_seed_gives_the_same_run_packet_by_packet() {
    let diary = diary_of_a_crowd(5);
    assert!(diary.entries.len() > 10_000);
    assert_eq!(diary, diary_of_a_crowd(5));
    assert_ne!(diary, diary_of_a_crowd(6));
}

/// Two hosts, and a lossy link of their own each way.
fn add_island(network: &mut Network, name: &str) -> (RouteId, RouteId) {
    let [left, right] = [network.add_node(), network.add_node()];
    network.add_link(left, right, lossy(link(2_000_000, 20, QueueLimit::Packets(20)), vec![loss(name)]));
    network.add_link(right, left, link(2_000_000, 20, QueueLimit::Unlimited));
    let there = network.add_route(left, right).expect("a route there");
    (there, network.add_route(right, left).expect("a route back"))
}

/// Runs one flow per name, each on its own island, and gives what the one called `watched` did.
fn diary_of(watched: &str, names: &[&str]) -> Diary {
    let mut network = Network::default();
    let islands: Vec<_> = names.iter().map(|name| add_island(&mut network, name)).collect();
    let number = names.iter().position(|name| *name == watched).expect("the watched flow") as u32;
    let mut world = World::new(network, Diary::of(FlowId(number)));
    for (name, (there, back)) in names.iter().zip(islands) {
        let path = world.add_path(there, back);
        add_flow(&mut world, name, 0, ns2(random_config()), Box::new(Bulk::new(path, None)), Instant::ZERO);
    }
    assert!(world.run_until(seconds(50), BUDGET));
    world.finish();
    Diary { only: None, ..world.into_parts().1 }
}

#[test]
fn a_flow_elsewhere_that_draws_random_numbers_changes_nothing() {
    let only_flow = diary_of("a", &["a"]);
    assert!(only_flow.entries.len() > 5000);
    assert_eq!(only_flow, diary_of("a", &["a", "b"]));
    assert_eq!(only_flow, diary_of("a", &["c", "b", "a"]));
    assert_ne!(only_flow, Diary { only: None, ..diary_of("b", &["a", "b"]) });
}

/// If no other traffic can join, arrivals are computed ahead without events. A second route that joins halfway takes
/// that away; as long as nobody uses it, nothing may change.
#[test]
fn a_chain_computed_ahead_gives_what_a_chain_of_events_gives() {
    let run = |is_joined: bool| {
        let mut network = Network::default();
        let nodes = [(); 4].map(|()| network.add_node());
        for (index, rate) in [9_000_000, 3_000_000, 2_000_000].into_iter().enumerate() {
            let limit = QueueLimit::Packets(12);
            let forward = lossy(link(rate, 7, limit), vec![loss(&format!("link-{index}"))]);
            network.add_link(nodes[index], nodes[index + 1], forward);
            network.add_link(nodes[index + 1], nodes[index], link(rate, 7, QueueLimit::Unlimited));
        }
        let route = |network: &mut Network, from: usize, to: usize| network.add_route(nodes[from], nodes[to]);
        let there = route(&mut network, 0, 3).expect("a route there");
        let back = route(&mut network, 3, 0).expect("a route back");
        if is_joined {
            for (from, to) in [(1, 3), (2, 3), (2, 0), (1, 0)] {
                route(&mut network, from, to).expect("a part of a route");
            }
        }
        let mut world = World::new(network, Diary::default());
        let path = world.add_path(there, back);
        add_flow(&mut world, "flow", 0, ns2(random_config()), Box::new(Bulk::new(path, None)), Instant::ZERO);
        assert!(world.run_until(seconds(60), BUDGET));
        let mut diary = world.into_parts().1;
        // Events that are determined ahead of time are recorded ahead of time.
        diary.entries.sort_by_key(|(at, entry, number, ack)| (*at, *entry as u8, *number, *ack));
        diary.entries.retain(|(at, ..)| *at < seconds(59));
        diary.entries
    };
    let ahead = run(false);
    assert!(ahead.len() > 5000);
    assert!(ahead == run(true), "the runs differ");
}

/// The bytes that each connection received.
#[derive(Default)]
struct Shares(Vec<u64>);

impl Observer for Shares {
    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        self.0.push(end.bytes_delivered);
    }
}

/// 1000 windows of 4 packets fit into the queue: without losses every flow gets about a thousandth of 200 Mb/s for 30 s.
#[test]
fn a_thousand_flows_get_equal_shares() {
    for endpoints in [ns2, rfc].map(|kind| kind(Config::ns2().with_max_window(4))) {
        let bottleneck = link(200_000_000, 15, QueueLimit::Packets(5000));
        let mut world = Dumbbell::new(bottleneck).with_pairs(1000).world(endpoints, Shares::default());
        assert!(world.run_until(seconds(30), BUDGET));
        world.finish();
        let Shares(received) = world.into_parts().1;
        assert_eq!(received.len(), 1000);
        let total: u64 = received.iter().sum();
        assert!((600_000_000..750_000_000).contains(&total), "{total} bytes");
        // The last starts 10 s after the first.
        let (least, most) =
            received.iter().fold((u64::MAX, 0), |(least, most), bytes| (least.min(*bytes), most.max(*bytes)));
        assert!(least * 5 > most * 2, "from {least} to {most} bytes");
    }
}

/// Opens one connection after the other, for one segment each.
#[derive(Debug)]
struct Chain {
    path: PathId,
    left: u32,
}

impl SenderApp for Chain {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        let connection = io.open(self.path);
        io.write(connection, 1000);
    }

    fn on_drained(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        io.close(connection);
        self.left -= 1;
        if self.left > 0 {
            self.on_wake(io);
        }
    }
}

/// The places of endpoints and packets are used again; late packets of one connection never reach the next.
#[test]
fn ten_thousand_transfers_one_after_the_other_all_end() {
    for endpoints in [ns2(Config::ns2()), rfc(Config::rfc())] {
        let duplex = DuplexLink::new(link(100_000_000, 1, QueueLimit::Unlimited));
        let mut world = World::new(duplex.network, Shares::default());
        let path = world.add_path(duplex.there, duplex.back);
        add_flow(&mut world, "chain", 0, endpoints, Box::new(Chain { path, left: 10_000 }), Instant::ZERO);
        assert!(world.run_until(seconds(100), BUDGET));
        let Shares(received) = world.into_parts().1;
        assert_eq!(received, vec![1000; 10_000]);
    }
}
