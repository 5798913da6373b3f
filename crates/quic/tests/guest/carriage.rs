//! Delivery of units in each mapping to streams and datagrams.

use crate::harness::{BYTES, DELAY, FIRST, link, near, run, units, units_without};
use earlybird_quic::{Carriage, Control, LARGEST_PAYLOAD};
use earlybird_sim::QueueLimit;
use earlybird_traffic::{Bulk, Media, SenderApp, Timetable};
use earlybird_units::Rate;
use rstest::rstest;

#[rstest]
fn data_follow_the_first_round_trip_and_then_take_one_propagation_delay(
    #[values(Carriage::Stream, Carriage::Streams, Carriage::Datagrams)] carriage: Carriage,
) {
    let seen = units(carriage, 20, &[]);
    let delays = seen.delays();
    // A round trip for the handshake, and half of one for the data.
    near(delays[0], 3.0 * DELAY, 1.5);
    delays[FIRST..].iter().for_each(|delay| near(*delay, DELAY, 0.5));
    assert_eq!((seen.delivered.len(), seen.end.bytes_delivered, seen.timeouts.len()), (500, 500 * BYTES, 0));
    // UDP's payload is at least 1200 bytes in the packets that open a connection (RFC 9000 §14.1), and then grows to quinn's limit.
    let sizes: Vec<u32> = seen.packets.iter().map(|packet| packet.1).collect();
    assert_eq!(sizes[0], 1200 + 28);
    assert_eq!(sizes.iter().max(), Some(&(u32::from(LARGEST_PAYLOAD) + 28)));
    assert_eq!(seen.back[0].1, 1200 + 28, "the server's first is filled up too");
}

#[test]
fn a_stream_keeps_all_back_that_stands_behind_a_hole_and_streams_do_not() {
    let [stream, streams] =
        [Carriage::Stream, Carriage::Streams].map(|carriage| units_without(carriage, 2, 300, 1).late());
    // Those that were written before the repair arrived.
    assert_eq!((stream.len(), streams.len()), (53, 1));
    let falling = stream.windows(2).all(|pair| (pair[0].1 - pair[1].1 - 2.0).abs() < 0.5);
    assert!(falling, "all are released together: {stream:?}");
}

#[test]
fn datagrams_are_never_repaired() {
    let seen = units_without(Carriage::Datagrams, 2, 300, 1);
    let late = seen.late();
    assert_eq!((late.len(), late[0].1), (1, f64::INFINITY));
    assert_eq!((seen.delivered.len(), seen.end.statistics.retransmissions), (499, 0));
}

#[rstest]
#[case(Carriage::Stream, Control::Cubic)]
#[case(Carriage::Stream, Control::NewReno)]
#[case(Carriage::Datagrams, Control::Cubic)]
fn a_transfer_fills_the_link(#[case] carriage: Carriage, #[case] control: Control) {
    // A queue of a bandwidth-delay product: 125 kB.
    let forward = link(10_000_000, QueueLimit::Packets(84), Vec::new());
    let seen = run(carriage, control, forward, 60, |path| Box::new(Bulk::new(path, None)));
    let share = seen.end.bytes_delivered as f64 * 8.0 / (60.0 * 10e6);
    assert!((0.88..0.98).contains(&share), "{share}");
    assert!(seen.windows.last().is_some_and(|cwnd| *cwnd > 84.0) && seen.srtt.is_some());
}

#[test]
fn a_seed_gives_the_same_packets_at_the_same_times() {
    let drops: Vec<u64> = (50..450).step_by(7).collect();
    for carriage in [Carriage::Stream, Carriage::Streams, Carriage::Datagrams] {
        assert_eq!(units(carriage, 5, &drops), units(carriage, 5, &drops));
    }
}

#[test]
fn a_unit_larger_than_a_datagram_is_there_when_all_its_parts_are() {
    let timetable =
        Timetable::constant(Rate::from_bits_per_second(400_000).expect("a rate"), 5000).ending_after(Some(50));
    let forward = link(100_000_000, QueueLimit::Unlimited, Vec::new());
    let media = |path| -> Box<dyn SenderApp> { Box::new(Media::new(path, timetable.clone())) };
    let seen = run(Carriage::Datagrams, Control::Cubic, forward, 20, media);
    assert_eq!((seen.delivered.len(), seen.end.bytes_delivered), (50, 50 * 5000));
}
