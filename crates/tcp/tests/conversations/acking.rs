//! What the receiver acknowledges, when, and what segments the sender cuts.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{Acking, Config};
use earlybird_units::Duration;

fn delayed() -> Config {
    Config { acking: Acking::Delayed(Duration::from_millis(200)), ..plain() }
}

#[test]
fn every_segment_is_acknowledged_at_once_if_so_chosen() {
    let mut host = Host::accepted(&plain());
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000"]);
    host.read(u64::MAX);
    host.receives(". 1001:1501(500) ack 1").sends(&[". 1:1(0) ack 1501 win 63500"]);
}

/// RFC 1122 §4.2.3.2: within 0.5 s, here 200 ms, and at least every second segment.
#[test]
fn a_delayed_ack_goes_after_200_ms_or_with_the_second_segment() {
    let mut host = Host::accepted(&delayed());
    host.at(1000).receives(". 1:1001(1000) ack 1").sends_nothing();
    assert_eq!(host.deadline(), Some(1200));
    host.at(1199).sends_nothing().at(1200).sends(&[". 1:1(0) ack 1001 win 63000"]);
    host.at(2000).receives(". 1001:2001(1000) ack 1").sends_nothing();
    host.at(2100).receives(". 2001:3001(1000) ack 1").sends(&[". 1:1(0) ack 3001 win 61000"]);
    assert_eq!(host.deadline(), None);
}

/// RFC 5681 §4.2: out-of-order segments are acknowledged at once, and so is one that fills a gap.
#[test]
fn a_gap_and_its_filling_are_acknowledged_at_once() {
    let mut host = Host::accepted(&delayed());
    host.receives(". 1001:2001(1000) ack 1").sends(&[". 1:1(0) ack 1 win 64000 <sack 1001:2001>"]);
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 2001 win 62000"]);
    host.receives(". 2001:3001(1000) ack 1").sends_nothing();
    // Something received before tells of a lost ACK.
    host.receives(". 2001:3001(1000) ack 1").sends(&[". 1:1(0) ack 3001 win 61000 <sack 2001:3001>"]);
}

#[test]
fn a_fin_is_acknowledged_at_once() {
    let mut host = Host::accepted(&delayed());
    host.receives("F. 1:101(100) ack 1").sends(&[". 1:1(0) ack 102 win 63900"]);
}

#[test]
fn data_carry_the_ack_that_waits() {
    let mut host = Host::accepted(&delayed());
    host.receives(". 1:1001(1000) ack 1").write(10).sends(&[". 1:11(10) ack 1001 win 63000"]);
    assert_eq!(host.deadline(), Some(1000), "only the retransmission timer is left");
}

/// RFC 2018 §4: the block with the newest segment first, then the others, the newest first.
#[test]
fn sack_blocks_come_newest_first_three_at_most() {
    let mut host = Host::accepted(&plain());
    host.receives(". 1001:2001(1000) ack 1").receives(". 3001:4001(1000) ack 1").receives(". 5001:6001(1000) ack 1");
    host.forget_sent();
    host.receives(". 7001:8001(1000) ack 1").sends(&[". 1:1(0) ack 1 win 64000 <sack 7001:8001 5001:6001 3001:4001>"]);
    // A segment that joins two blocks: the joined one is the newest.
    host.receives(". 4001:5001(1000) ack 1").sends(&[". 1:1(0) ack 1 <sack 3001:6001 7001:8001>"]);
    // In order: everything up to the next gap is acknowledged.
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 2001 win 62000 <sack 3001:6001 7001:8001>"]);
}

#[test]
fn the_last_segment_is_as_short_as_it_must_be() {
    let mut host = Host::connected(&plain());
    host.write(2500).sends(&[". 1:1001(1000) ack 1 win 64000", ". 1001:2001(1000) ack 1", ". 2001:2501(500) ack 1"]);
}

/// There is no Nagle algorithm: the applications are cameras and file transfers.
#[test]
fn writes_of_1_and_999_bytes_go_as_they_come_while_the_window_is_open() {
    let mut host = Host::connected(&plain());
    host.write(1).write(999).write(0).sends(&[". 1:2(1) ack 1 win 64000", ". 2:1001(999) ack 1"]);
}

#[test]
fn writes_of_300_300_and_900_bytes_behind_a_full_window_go_as_1000_and_200() {
    let mut host = Host::connected(&Config { initial_window: 1, ..plain() });
    host.write(300).write(300).write(900).sends(&[". 1:301(300) ack 1 win 64000"]);
    host.at(200).receives(". 1:1(0) ack 301").sends(&[". 301:1301(1000) ack 1", ". 1301:1501(200) ack 1"]);
}

/// The boundaries of a segment never change: what is sent again is what was sent.
#[test]
fn short_segments_are_sent_again_as_short_as_they_were() {
    let mut host = Host::connected(&plain());
    host.write(10).write(20).forget_sent();
    host.at(1100).sends(&[". 1:11(10) ack 1 win 64000"]);
    host.receives(". 1:1(0) ack 11").sends(&[". 11:31(20) ack 1"]);
}
