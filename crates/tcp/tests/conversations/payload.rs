//! Which bytes a driver has to send, keep and may forget.

use crate::plain;
use earlybird_tcp::{AcceptedRange, Config, Connection, Cx, Identity, Transmit};
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Flags, Segment, SeqNum};

/// Returns all that a connection wants to send.
fn sent(connection: &mut Connection, now: u64) -> Vec<Transmit> {
    let cx = &mut Cx { now: Instant::from_nanos(now), trace: &mut () };
    std::iter::from_fn(|| connection.poll_transmit(cx)).collect()
}

fn hand(connection: &mut Connection, now: u64, segment: &Segment) -> AcceptedRange {
    connection.on_segment(&mut Cx { now: Instant::from_nanos(now), trace: &mut () }, segment)
}

/// Carries all that one end wants to send to the other.
fn carry(from: &mut Connection, to: &mut Connection, now: u64) {
    for transmit in sent(from, now) {
        hand(to, now, &transmit.segment);
    }
}

/// Returns a client and a server whose handshake is done.
fn pair(config: &Config, identities: [Identity; 2]) -> (Connection, Connection) {
    let seeds = SeedTree::new(1);
    let mut client = Connection::connect_as(config, identities[0], seeds);
    let mut server = Connection::listen_as(config, identities[1], seeds);
    for now in 0..3 {
        carry(&mut client, &mut server, now);
        carry(&mut server, &mut client, now);
    }
    (client, server)
}

fn identities() -> [Identity; 2] {
    [100, 200].map(|origin| Identity { origin: SeqNum(origin), timestamp_offset: origin * 1_000_000 })
}

#[test]
fn each_segment_names_its_part_of_the_stream_and_the_receiver_the_part_that_it_took() {
    let (mut client, mut server) = pair(&plain(), identities());
    client.write(2500).unwrap();
    let segments = sent(&mut client, 10);
    assert_eq!(
        segments.iter().map(|transmit| transmit.data.clone()).collect::<Vec<_>>(),
        [0..1000, 1000..2000, 2000..2500]
    );
    let taken: Vec<_> = [0, 2, 1].map(|index: usize| hand(&mut server, 20, &segments[index].segment).stream).into();
    assert_eq!(taken, [0..1000, 2000..2500, 1000..2000]);
    assert_eq!(hand(&mut server, 30, &segments[1].segment), AcceptedRange::default(), "it came before");
    carry(&mut server, &mut client, 40);
    assert_eq!((client.acknowledged(), server.received()), (2500, 2500));
}

#[test]
fn what_overlaps_the_front_is_skipped() {
    let (mut client, mut server) = pair(&plain(), identities());
    client.write(600).unwrap();
    let first = sent(&mut client, 10).remove(0).segment;
    hand(&mut server, 20, &Segment { len: 200, ..first });
    assert_eq!(hand(&mut server, 30, &first), AcceptedRange { stream: 200..600, skip: 200 });
}

#[test]
fn a_fin_is_no_byte_of_the_stream() {
    let (mut client, mut server) = pair(&plain(), identities());
    client.write(10).unwrap();
    client.shutdown();
    let mut taken = Vec::new();
    for transmit in sent(&mut client, 10) {
        taken.push(hand(&mut server, 20, &transmit.segment).stream);
    }
    assert_eq!(taken.iter().map(|range| range.end - range.start).sum::<u64>(), 10);
    carry(&mut server, &mut client, 40);
    assert_eq!(client.acknowledged(), 10);
}

/// Found by the fuzzer: the number that a second FIN takes up was delivered as a byte.
#[test]
fn a_second_fin_elsewhere_is_no_byte_of_the_stream() {
    let (mut client, mut server) = pair(&plain(), identities());
    client.write(10).unwrap();
    let data = sent(&mut client, 10).remove(0).segment;
    let fin = |position| Segment { flags: Flags::ACK | Flags::FIN, len: 0, seq: data.seq.at(position), ..data };
    assert_eq!(hand(&mut server, 20, &fin(20)).stream, 20..20);
    assert_eq!(hand(&mut server, 30, &fin(5)).stream, 0..0);
    assert_eq!(hand(&mut server, 40, &data).stream, 0..10);
    assert_eq!(hand(&mut server, 50, &fin(10)).stream, 0..0);
    assert_eq!(server.received(), 10);
}

/// RFC 7323 §5.4: each connection's clock has an offset of its own, which no measurement sees.
#[test]
fn timestamps_leave_with_the_offset_and_measure_without_it() {
    let (mut client, mut server) = pair(&Config::rfc(), identities());
    client.write(10).unwrap();
    let segment = sent(&mut client, 5_000_000).remove(0).segment;
    assert_eq!(segment.seq, SeqNum(101));
    assert_eq!(segment.options.timestamps.unwrap().value, 100_000_005);
    hand(&mut server, 10_000_000, &segment);
    carry(&mut server, &mut client, 15_000_000);
    let smoothed = client.timer().smoothed.unwrap();
    assert!(smoothed.as_nanos() <= 15_000_000, "{smoothed:?}");
    assert!(segment.flags.contains(Flags::ACK));
}

#[test]
fn data_drained_without_events_cause_no_event() {
    let (mut client, mut server) = pair(&plain(), identities());
    while server.poll_event().is_some() {}
    client.write(2500).unwrap();
    carry(&mut client, &mut server, 10);
    assert_eq!(server.readable(), 2500);
    server.drain_readable();
    assert_eq!((server.readable(), server.received(), server.poll_event()), (0, 2500, None));
}
