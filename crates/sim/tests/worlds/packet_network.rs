//! Packets that come from outside are carried as those of endpoints are.

use crate::dumbbell::{BUDGET, Dumbbell, FORWARD, link, lossy, rfc, seconds};
use crate::losses::loss;
use earlybird_sim::{
    Content, CorrelatedBernoulli, Discipline, Duplication, Impairments, LinkSettings, LossRule, Network, Observer,
    Packet, PacketEvent, PacketFilter, PacketNetwork, QueueLimit, Reordering, RouteId,
};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::Datagram;
use rstest::rstest;

/// The packets that endpoints sent and got.
#[derive(Debug, Default)]
struct Post {
    sent: Vec<(Instant, Packet)>,
    arrived: Vec<(Instant, Packet)>,
}

impl Observer for Post {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Sent | PacketEvent::Retransmitted => self.sent.push((at, *packet)),
            PacketEvent::Arrived => self.arrived.push((at, *packet)),
            _ => {}
        }
    }
}

fn dumbbell(bottleneck: LinkSettings, is_impaired: bool) -> Dumbbell {
    let mut dumbbell = Dumbbell::new(bottleneck).with_pairs(5);
    if is_impaired {
        let chance = |name| CorrelatedBernoulli::new(0.02, 0.0, SeedTree::new(3).child(name).random());
        let delay = Duration::from_micros(3_333);
        let reordering =
            Reordering { chance: chance("late"), filter: PacketFilter::default(), delay, packets: Some(3) };
        let duplication = Duplication { chance: chance("twice"), filter: PacketFilter::default() };
        dumbbell.network.set_impairments(FORWARD, Impairments::new(Some(reordering), Some(duplication)));
    }
    dumbbell
}

/// Sends what the endpoints of a world sent, at the same times over the same network; gives what arrives.
fn carry(network: Network, sent: &[(Instant, Packet)], end: Instant) -> Vec<(Instant, Packet)> {
    let mut packet_network = PacketNetwork::new(network, ());
    let mut arrived = Vec::new();
    for (at, packet) in sent {
        arrived.extend(std::iter::from_fn(|| packet_network.poll_arrival(*at)));
        packet_network.send(*at, *packet);
    }
    // As a real clock does: no earlier than a deadline says.
    while let Some(at) = packet_network.poll_timeout().filter(|at| *at < end) {
        arrived.extend(std::iter::from_fn(|| packet_network.poll_arrival(at)));
    }
    arrived
}

#[rstest]
#[case::drop_tail(Discipline::DropTail, false)]
#[case::impaired(Discipline::DropTail, true)]
#[case::head_drop(Discipline::DropHead, false)]
#[case::codel(Discipline::Codel(CODEL), true)]
fn a_courier_delivers_when_and_what_a_world_does(#[case] discipline: Discipline, #[case] is_impaired: bool) {
    let limited = || LinkSettings { discipline, ..link(9_876_543, 17, QueueLimit::Packets(40)) };
    let bottleneck = || lossy(limited(), vec![loss(LossRule::Bernoulli(0.005), 5)]);
    let mut world = dumbbell(bottleneck(), is_impaired).world(rfc(Config::rfc()), Post::default());
    let end = seconds(20);
    assert!(world.run_until(end, BUDGET));
    let (network, post) = world.into_parts();
    assert!(post.arrived.len() > 20_000 && network.link(FORWARD).total.packets_dropped > 50);
    let (network, _) = dumbbell(bottleneck(), is_impaired).into_parts();
    let arrived = carry(network, &post.sent, end);
    assert_eq!(arrived.len(), post.arrived.len());
    // Simultaneous arrivals at different nodes have no order.
    let place = |(at, packet): &(Instant, Packet)| (*at, packet.to, packet.number, packet.bytes);
    let [came, expected] = [&arrived, &post.arrived].map(|list| {
        let mut places: Vec<_> = list.iter().map(place).collect();
        places.sort_unstable();
        places
    });
    assert!(came == expected);
}

const CODEL: earlybird_sim::CodelSettings = earlybird_sim::CodelSettings {
    target: Duration::from_millis(5),
    interval: Duration::from_millis(100),
    mtu: 1500,
    ecn: false,
};

fn datagram(route: RouteId, external_id: u32) -> Packet {
    Packet { external_id, ..Packet::external(route, 1000, Content::Datagram(Datagram::default())) }
}

/// Every packet is somewhere: on its way, arrived, or told to be dropped.
#[test]
fn the_tickets_of_dropped_packets_are_reported() {
    #[derive(Default)]
    struct Dropped(Vec<u32>);
    impl Observer for Dropped {
        fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
            if matches!(event, PacketEvent::Dropped(..)) {
                self.0.push(packet.external_id);
            }
        }
    }
    let (network, routes) = Dumbbell::new(link(1_000_000, 5, QueueLimit::Packets(4))).with_pairs(1).into_parts();
    let mut packet_network = PacketNetwork::new(network, Dropped::default());
    (0..10).for_each(|external_id| packet_network.send(Instant::ZERO, datagram(routes[0].0, external_id)));
    assert_eq!(packet_network.packets_in_flight(), 4);
    let arrived: Vec<u32> =
        std::iter::from_fn(|| packet_network.poll_arrival(seconds(1))).map(|(_, packet)| packet.external_id).collect();
    assert_eq!((arrived, &*packet_network.observer_mut().0), (vec![0, 1, 2, 3], &[4, 5, 6, 7, 8, 9][..]));
    assert_eq!((packet_network.packets_in_flight(), packet_network.poll_timeout()), (0, None));
}
