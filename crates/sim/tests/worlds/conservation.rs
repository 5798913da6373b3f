//! Conservation of packets: each that is sent arrives or is counted as dropped.

use crate::dumbbell::{BUDGET, Burst, Dumbbell, DuplexLink, FORWARD, add_flow, link, lossy, ns2, rfc, seconds};
use crate::observers::Census;
use earlybird_sim::{LinkCounts, LinkId, Loss, LossRule, Observer, Packet, PacketEvent, QueueLimit, World};
use earlybird_tcp::Config;
use earlybird_units::{Instant, SeedTree};

fn bernoulli(probability: f64) -> Loss {
    Loss::new(LossRule::Bernoulli(probability), SeedTree::new(5).random())
}

#[test]
fn every_packet_of_finished_transfers_arrived_or_was_dropped() {
    for endpoints in [ns2(Config::ns2()), rfc(Config::rfc())] {
        let forward = lossy(link(2_000_000, 20, QueueLimit::Packets(10)), vec![bernoulli(0.02)]);
        let mut world = DuplexLink::new(forward).world(endpoints, 5_000_000, Census::default());
        assert!(world.run_until(seconds(600), BUDGET));
        let (network, census) = world.into_parts();
        let dropped: u64 = census.dropped.iter().sum();
        assert_eq!(census.sent, census.arrived + dropped);
        assert!(dropped > 50 && census.arrived > 5000);
        for (index, link) in network.links().enumerate() {
            let LinkCounts { packets_in, packets_out, bytes_out, .. } = link.reading(seconds(600)).total;
            assert_eq!(packets_in, census.entered[index] + census.dropped.get(index).copied().unwrap_or(0));
            assert_eq!(packets_out, census.entered[index]);
            assert_eq!(bytes_out, census.bytes_entered[index]);
        }
    }
}

#[test]
fn a_link_passes_to_the_next_what_it_does_not_hold() {
    let mut dumbbell = Dumbbell::new(link(5_000_000, 15, QueueLimit::Packets(30))).with_pairs(5);
    for number in 0..dumbbell.network.links().count() as u32 {
        dumbbell.network.link_mut(LinkId(number)).measure_between(seconds(0), seconds(20));
    }
    let mut world = dumbbell.world(ns2(Config::ns2()), Census::default());
    for second in [1, 2, 5, 20] {
        assert!(world.run_until(seconds(second), BUDGET));
    }
    let (network, census) = world.into_parts();
    let totals: Vec<_> = network.links().map(|link| link.reading_at_end().total).collect();
    // Links 2, 6, 10, … lead from the left hosts to the bottleneck, 5, 9, 13, … from it to the right hosts.
    let up: u64 = totals[2..].iter().step_by(4).map(|total| total.packets_out).sum();
    let down: u64 = totals[5..].iter().step_by(4).map(|total| total.packets_in).sum();
    // At most a window of 64 per flow is on its way.
    assert!((totals[0].packets_in..totals[0].packets_in + 320).contains(&up));
    assert!(
        totals
            .iter()
            .all(|total| total.packets_in == total.packets_out + total.packets_dropped + total.packets_waiting)
    );
    assert!((down..down + 320).contains(&totals[0].packets_out));
    assert!(census.sent >= census.arrived + census.dropped.iter().sum::<u64>());
}

/// Bytes that the bottleneck let in, per ten seconds.
#[derive(Default)]
struct Tide(Vec<u64>);

impl Observer for Tide {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Entered(FORWARD) {
            let decade = (at.as_nanos() / 10_000_000_000) as usize;
            self.0.resize(self.0.len().max(decade + 1), 0);
            self.0[decade] += u64::from(packet.bytes);
        }
    }
}

/// 10 Mb/s carry 12,500,000 bytes in ten seconds; 39 packets of 1040 bytes may wait and one be on the wire.
#[test]
fn a_link_never_carries_more_than_its_rate() {
    let bottleneck = link(10_000_000, 15, QueueLimit::Packets(40));
    let mut world = Dumbbell::new(bottleneck).with_pairs(20).world(ns2(Config::ns2()), Tide::default());
    assert!(world.run_until(seconds(100), BUDGET));
    let (_, Tide(tide)) = world.into_parts();
    assert_eq!(tide.len(), 10);
    for (decade, bytes) in tide.into_iter().enumerate() {
        assert!(bytes <= 12_500_000 + 40 * 1040, "{bytes} bytes in ten seconds");
        assert!(decade == 0 || bytes > 12_000_000, "twenty flows fill the link: {bytes}");
    }
}

#[test]
fn groups_count_what_settled_flows_send() {
    let mut duplex = DuplexLink::new(link(8_000_000, 10, QueueLimit::Unlimited));
    duplex.network.link_mut(FORWARD).count_groups(2);
    duplex.network.link_mut(FORWARD).measure_between(seconds(1), seconds(10));
    let mut world = World::new(duplex.network, ());
    let path = world.add_path(duplex.there, duplex.back);
    for (group, start) in [(0, 0), (1, 2), (1, 3)] {
        let burst = Box::new(Burst { path, bytes: 10_000 });
        add_flow(&mut world, "flow", group, ns2(Config::ns2()), burst, seconds(start));
    }
    assert!(world.run_until(seconds(10), BUDGET));
    let (network, ()) = world.into_parts();
    let [start, end] = [network.link(FORWARD).reading_at_start(), network.link(FORWARD).reading_at_end()];
    let settled = start.groups.iter().zip(&end.groups).map(|(start, end)| end.arrived_after(start).packets_in);
    // The opening packet and ten segments each; the first flow was before the count. Its last ACK of the handshake rides
    // on data.
    assert_eq!(settled.collect::<Vec<_>>(), [0, 22]);
    assert_eq!(end.total.packets_in, 33);
}
