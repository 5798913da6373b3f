//! Drop-tail queues, in packets and in bytes.

use crate::dumbbell::{BUDGET, DuplexLink, FORWARD, link, ns2, seconds};
use crate::observers::Gate;
use earlybird_sim::{LinkSettings, QueueLimit, RateChanges};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant};

/// A burst of 20 packets of 1040 bytes at an idle link of 1 Mb/s. Gives how many it let in and how many waited.
fn burst_into(limit: QueueLimit) -> (u64, usize) {
    let config = Config::ns2().with_initial_window(20);
    let mut world = DuplexLink::new(link(1_000_000, 100, limit)).world(ns2(config), 20_000, Gate::default());
    // The handshake takes 200 ms and a little; the first ACK of data comes after 400 ms.
    assert!(world.run_until(Instant::from_nanos(300_000_000), BUDGET));
    let (network, gate) = world.into_parts();
    let burst = &gate.let_in[1..];
    assert_eq!(burst.len(), 20);
    let let_in = burst.iter().filter(|is_in| **is_in).count() as u64;
    assert!(burst[..let_in as usize].iter().all(|is_in| *is_in), "the tail is dropped");
    (let_in, network.link(FORWARD).max_backlog)
}

/// As in ns-2, whose queue drops when its length plus one reaches the limit (`drop-tail.cc`): a limit of L packets lets
/// L − 1 wait, and one more is on the wire.
#[test]
fn a_limit_of_l_packets_lets_l_minus_1_wait_and_1_be_sent() {
    for (limit, waiting) in [(2, 1), (5, 4), (20, 19), (21, 19)] {
        assert_eq!(burst_into(QueueLimit::Packets(limit)), (waiting as u64 + 1, waiting), "limit {limit}");
    }
    assert_eq!(burst_into(QueueLimit::Unlimited), (20, 19));
}

/// The same rule in bytes: what waits stays below the limit.
#[test]
fn a_limit_of_4160_bytes_lets_3_packets_of_1040_wait_and_4161_bytes_4() {
    for (limit, waiting) in [(1041, 1), (4160, 3), (4161, 4), (5200, 4), (1 << 40, 19)] {
        assert_eq!(burst_into(QueueLimit::Bytes(limit)), (waiting as u64 + 1, waiting), "limit {limit}");
    }
}

/// ns-2 drops everything at a limit of one packet, even in front of an idle link; here that packet is sent.
#[test]
fn a_queue_of_1_packet_dropped_everything() {
    assert_eq!(burst_into(QueueLimit::Packets(1)), (1, 0));
    for changes in [
        Some(RateChanges::Steps([].into())),
        Some(RateChanges::Opportunities { times: [Duration::from_millis(8)].into(), start: Duration::ZERO }),
    ] {
        let forward = LinkSettings { changes, ..link(1_000_000, 100, QueueLimit::Packets(1)) };
        let mut world = DuplexLink::new(forward).world(ns2(Config::ns2()), 20_000, Gate::default());
        assert!(world.run_until(seconds(300), BUDGET));
        let (network, _) = world.into_parts();
        let total = network.link(FORWARD).reading(seconds(300)).total;
        assert!(total.packets_out > 20 && total.packets_dropped > 0, "{total:?}");
    }
}

#[test]
fn a_packet_of_the_limit_in_bytes_finds_no_room() {
    let link = link(1_000_000, 100, QueueLimit::Bytes(40));
    let mut world = DuplexLink::new(link).world(ns2(Config::ns2()), 20_000, Gate::default());
    assert!(world.run_until(seconds(30), BUDGET));
    let (network, gate) = world.into_parts();
    // The opening packet at 0, 3, 9 and 21 s.
    assert_eq!(gate.let_in, [false; 4]);
    assert_eq!((network.link(FORWARD).total.packets_in, network.link(FORWARD).total.packets_accepted()), (4, 0));
}

/// 1 Mb/s send 1040 bytes in 8.32 ms: packet n of the burst waits n times as long.
#[test]
fn queueing_delays_add_up() {
    let config = Config::ns2().with_initial_window(20);
    let mut world = DuplexLink::new(link(1_000_000, 100, QueueLimit::Unlimited)).world(ns2(config), 20_000, ());
    assert!(world.run_until(seconds(10), BUDGET));
    let (mut network, ()) = world.into_parts();
    let duplex = network.link_mut(FORWARD);
    let sum: u64 = (0..20).sum();
    assert_eq!(duplex.reading(seconds(10)).queue_time.as_nanos(), sum * 8_320_000);
    assert_eq!(duplex.backlog(seconds(10)), 0);
}
