//! Packets are delivered at the right time, to the right side, unchanged.

use crate::links::{link, pair};
use earlybird_emulator::{Emulator, FlowRoutes, Rejections, Side};
use earlybird_sim::{
    CodelSettings, CorrelatedBernoulli, Discipline, Duplication, Impairments, LinkId, LinkSettings, PacketFilter,
    QueueLimit,
};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Checksums, Ecn, Flags, HEADERS_MAX, Segment, Style, emit, parse};
use proptest::collection::vec;
use proptest::prelude::*;

fn millis(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// 1 Mbit/s and 20 ms.
fn slow() -> LinkSettings {
    link(1_000_000, 20)
}

fn emulator(there: LinkSettings) -> Emulator {
    let (network, route) = pair(there, slow());
    Emulator::new(network, FlowRoutes::all(route), ())
}

/// A segment to port 80.
fn packet(payload: &[u8], ecn: Ecn) -> Vec<u8> {
    let addresses = Addresses {
        source: [10, 77, 0, 1].into(),
        destination: [10, 77, 0, 2].into(),
        source_port: 4000,
        destination_port: 80,
    };
    let segment = Segment { flags: Flags::ACK, ecn, len: payload.len() as u16, ..Segment::default() };
    let mut bytes = vec![0; HEADERS_MAX + payload.len()];
    let len = emit(&segment, &addresses, Style::default(), [payload, &[]], &mut bytes).expect("there is room");
    bytes.truncate(len);
    bytes
}

fn deliveries(emulator: &mut Emulator, now: Instant) -> Vec<(Instant, Side, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(delivery) = emulator.poll(now) {
        all.push((delivery.due, delivery.to, delivery.bytes.to_owned()));
    }
    all
}

#[test]
fn delivery_times_match_the_link() {
    let mut emulator = emulator(slow());
    // 1250 bytes take 10 ms at 1 Mbit/s.
    let [first, second] = [1, 2].map(|byte| packet(&[byte; 1210], Ecn::NotCapable));
    emulator.offer(millis(5), Side::Near, &first);
    emulator.offer(millis(5), Side::Near, &second);
    emulator.offer(millis(6), Side::Far, &first);
    assert_eq!(emulator.deadline(), Some(millis(35)));
    assert!(emulator.poll(Instant::from_nanos(34_999_999)).is_none());
    let all = deliveries(&mut emulator, millis(100));
    let expected = [(35, Side::Far, &first), (36, Side::Near, &first), (45, Side::Far, &second)];
    assert_eq!(all, expected.map(|(due, to, bytes)| (millis(due), to, bytes.clone())));
    assert_eq!(emulator.deadline(), None);
}

proptest! {
    /// Under loss, duplication and queueing, delivered packets are unchanged and nothing leaks.
    #[test]
    fn packets_are_unchanged(payloads in vec(vec(any::<u8>(), 0..300), 1..100), limit in 2_u32..30) {
        let (mut network, route) = pair(LinkSettings { limit: QueueLimit::Packets(limit), ..slow() }, slow());
        let chance = CorrelatedBernoulli::new(0.3, 0.0, SeedTree::new(2).random());
        let doubled = Duplication { chance, filter: PacketFilter::default() };
        network.set_impairments(LinkId(0), Impairments::new(None, Some(doubled)));
        let mut emulator = Emulator::new(network, FlowRoutes::all(route), ());
        let mut came = Vec::new();
        for (number, payload) in payloads.iter().enumerate() {
            emulator.offer(millis(number as u64), Side::Near, &packet(payload, Ecn::NotCapable));
            came.extend(deliveries(&mut emulator, millis(number as u64)));
        }
        came.extend(deliveries(&mut emulator, millis(10_000)));
        let mut rest = payloads.iter().map(|payload| packet(payload, Ecn::NotCapable));
        let mut last = Vec::new();
        for (_, _, bytes) in &came {
            // In order, with losses and duplicates.
            prop_assert!(*bytes == last || rest.any(|sent| sent == *bytes));
            last.clone_from(bytes);
        }
        let total = emulator.network().link(LinkId(0)).total;
        let doubled = emulator.network().impairments(LinkId(0)).packets_duplicated;
        prop_assert_eq!(came.len() as u64, total.packets_accepted() + doubled);
        prop_assert_eq!(emulator.bytes_in_flight(), 0);
    }
}

#[test]
fn ecn_capable_packets_are_marked() {
    let codel =
        CodelSettings { target: Duration::from_millis(1), interval: Duration::from_millis(10), mtu: 100, ecn: true };
    let mut emulator = emulator(LinkSettings { discipline: Discipline::Codel(codel), ..slow() });
    let sent = packet(&[7; 1000], Ecn::Capable0);
    (0..40).for_each(|_| emulator.offer(Instant::ZERO, Side::Near, &sent));
    let came = deliveries(&mut emulator, millis(1_000));
    let marked = came.iter().filter(|(.., bytes)| *bytes != sent);
    let parsed: Vec<_> = marked.map(|(.., bytes)| parse(bytes, Checksums::Verify).unwrap().segment.ecn).collect();
    assert!(came.len() == 40 && parsed.len() > 2 && parsed.iter().all(|ecn| *ecn == Ecn::Congested), "{parsed:?}");
    assert_eq!(emulator.network().link(LinkId(0)).total.packets_marked, parsed.len() as u64);
}

#[test]
fn unrouted_packets_are_counted() {
    let (network, route) = pair(slow(), slow());
    let mut routes = FlowRoutes::default();
    routes.add(80, route);
    let mut emulator = Emulator::new(network, routes, ());
    let known = packet(&[], Ecn::NotCapable);
    let unknown = {
        let mut bytes = known.clone();
        bytes[22..24].copy_from_slice(&81_u16.to_be_bytes());
        bytes
    };
    let to_all = [&[0x60, 0, 0, 0, 0, 0, 58, 255][..], &[0xfe; 16], &[0xff; 16]].concat();
    for bytes in [&known, &unknown, &to_all, &Vec::new(), &vec![0; 9]] {
        emulator.offer(Instant::ZERO, Side::Near, bytes);
    }
    assert_eq!(emulator.rejections(), Rejections { unrouted: 4, overflows: 0 });
    assert_eq!(deliveries(&mut emulator, millis(1_000)).len(), 1);
}

/// Inserts a UDP header between those of IP and TCP.
fn within_udp(packet: &[u8]) -> Vec<u8> {
    let mut bytes = [&packet[..20], &[0x27, 0x0f, 0x27, 0x0f, 0, 0, 0, 0], &packet[20..]].concat();
    bytes[9] = 17;
    bytes
}

#[test]
fn udp_encapsulation_is_transparent() {
    let (network, route) = pair(slow(), slow());
    let mut routes = FlowRoutes::default();
    routes.add(80, route);
    let mut emulator = Emulator::new(network, routes, ()).within_udp();
    // 1250 bytes take 10 ms at 1 Mbit/s; the UDP header does not count.
    let carried = within_udp(&packet(&[1; 1210], Ecn::NotCapable));
    emulator.offer(millis(0), Side::Near, &carried);
    assert_eq!(deliveries(&mut emulator, millis(100)), [(millis(30), Side::Far, carried)]);
    assert_eq!(emulator.network().link(LinkId(0)).total.bytes_accepted, 1250);
    let unknown = [9, 8, 7, 6].map(|byte| within_udp(&packet(&[], Ecn::NotCapable))[..20 + byte].to_vec());
    for bytes in &unknown {
        emulator.offer(millis(200), Side::Near, bytes);
    }
    assert_eq!(emulator.rejections().unrouted, 4);
}
