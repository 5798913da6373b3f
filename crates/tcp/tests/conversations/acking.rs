//! Acknowledgements of the receiver and their times, and the segments that the sender cuts.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{Acking, Config, Dsack};
use earlybird_units::Duration;

fn delayed() -> Config {
    plain().with_acking(Acking::Delayed(Duration::from_millis(200)))
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

/// RFC 9293 §3.8.6.3: what counts is data that fill more than a segment, however they are cut.
#[test]
fn short_segments_are_acknowledged_once_they_fill_more_than_a_full_one() {
    let mut host = Host::accepted(&delayed());
    host.receives(". 1:1001(1000) ack 1").at(200).forget_sent();
    for start in [1001, 1401] {
        host.receives(&format!(". {start}:{}(400) ack 1", start + 400)).sends_nothing();
    }
    host.receives(". 1801:2201(400) ack 1").sends(&[". 1:1(0) ack 2201 win 61800"]);
    host.at(500).receives(". 2201:2601(400) ack 1").at(600).receives(". 2601:3001(400) ack 1").sends_nothing();
    assert_eq!(host.deadline(), Some(700), "the first one waits no longer");
}

fn ns2_sink() -> Config {
    plain().with_acking(Acking::SecondSegment(Duration::from_millis(200)))
}

/// ns-2's sink counts segments.
#[test]
fn every_second_segment_is_acknowledged_however_short_if_so_chosen() {
    let mut host = Host::accepted(&ns2_sink());
    host.receives(". 1:1001(1000) ack 1").receives(". 1001:2001(1000) ack 1").forget_sent();
    host.receives(". 2001:2011(10) ack 1").sends_nothing();
    host.receives(". 2011:2021(10) ack 1").sends(&[". 1:1(0) ack 2021 win 61980"]);
}

/// ns-2.35, `DelAckSink::recv`: a segment waits that is `acker_->Seqno()` and not before `acker_->Maxseen()`, new or not.
#[test]
fn ns2s_sink_delays_the_ack_of_a_duplicate_of_the_last_segment_only() {
    let mut host = Host::accepted(&ns2_sink().with_dsack(Dsack::Off));
    host.receives(". 1:1001(1000) ack 1").receives(". 1001:2001(1000) ack 1").forget_sent();
    host.at(100).receives(". 1001:2001(1000) ack 1").sends_nothing().at(300).sends(&[". 1:1(0) ack 2001 win 62000"]);
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 2001"]);
    // A part of a gap is filled.
    host.receives(". 4001:5001(1000) ack 1").forget_sent();
    host.receives(". 2001:3001(1000) ack 1").sends(&[". 1:1(0) ack 3001 win 61000 <sack 4001:5001>"]);
}

/// A hole is told at once and again; what else comes while it is open waits for its time, and so does what fills it.
#[test]
fn spaced_acks_keep_their_distance_though_something_is_missing() {
    let gap = Duration::from_millis(20);
    let spaced = Acking::Spaced { least: gap, most: gap };
    let mut host = Host::accepted(&plain().with_acking(spaced).with_dsack(Dsack::Off));
    host.at(1000).receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000"]);
    host.at(1004).receives(". 1001:2001(1000) ack 1").sends_nothing();
    host.at(1008).receives(". 3001:4001(1000) ack 1").sends(&[". 1:1(0) ack 2001 win 62000 <sack 3001:4001>"]);
    host.at(1009).receives(". 4001:5001(1000) ack 1").sends(&[". 1:1(0) ack 2001 <sack 3001:5001>"]);
    host.at(1010).receives(". 5001:6001(1000) ack 1").at(1014).receives(". 6001:7001(1000) ack 1").sends_nothing();
    assert_eq!(host.deadline(), Some(1019));
    host.at(1018).receives(". 2001:3001(1000) ack 1").sends_nothing();
    assert_eq!(host.deadline(), Some(1023));
    host.at(1023).sends(&[". 1:1(0) ack 7001 win 57000"]);
    host.at(1030).receives(". 7001:8001(1000) ack 1").sends(&[". 1:1(0) ack 8001 win 56000"]);
}

fn adaptive() -> Config {
    plain().with_acking(Acking::Adaptive)
}

/// A host that has acknowledged its first 16 segments at once, the last one after 1.5 s.
fn settled() -> Host {
    let mut host = Host::accepted(&adaptive());
    for number in 0..16 {
        let start = 1 + 1000 * number;
        host.at(100 * number).receives(&format!(". {start}:{}(1000) ack 1", start + 1000));
        let acks = host.take_texts();
        assert_eq!(acks.len(), 1, "at once: {acks:?}");
        host.read(u64::MAX);
    }
    host
}

/// Linux's quick ACKs (`tcp_incr_quickack`): a sender in slow start needs each.
#[test]
fn an_adaptive_receiver_acknowledges_16_segments_at_once_then_more_than_one() {
    let mut host = settled();
    host.at(1600).receives(". 16001:17001(1000) ack 1").sends_nothing();
    assert_eq!(host.deadline(), Some(1640));
    host.at(1610).receives(". 17001:18001(1000) ack 1").sends(&[". 1:1(0) ack 18001 win 62000"]);
}

#[test]
fn an_adaptive_receiver_waits_40_ms_for_an_answer_that_carries_the_ack() {
    let mut host = settled();
    host.at(1600).receives("P. 16001:16101(100) ack 1").sends_nothing();
    let sent = host.at(1610).write(50).take_texts();
    assert!(sent.len() == 1 && sent[0].ends_with("1:51(50) ack 16101 win 63900"), "{sent:?}");
    // It is a conversation now: reading all is no reason for an ACK.
    host.at(1700).receives("P. 16101:16201(100) ack 51").sends_nothing();
    assert_eq!(host.read(u64::MAX), 200);
    host.sends_nothing().at(1800).sends(&[". 51:51(0) ack 16201 win 63800"]);
}

/// Linux's `tcp_cleanup_rbuf`: the sender of a short segment may have no more to send before the ACK.
#[test]
fn a_reader_of_a_short_segment_acknowledges_it_where_it_sends_no_answers() {
    let mut host = settled();
    host.at(1600).receives("P. 16001:16101(100) ack 1").sends_nothing();
    assert_eq!(host.read(u64::MAX), 100);
    host.sends(&[". 1:1(0) ack 16101 win 64000"]);
}

/// Linux's `tcp_enter_quickack_mode`: whoever sends again lacks ACKs.
#[test]
fn after_something_came_twice_segments_are_acknowledged_at_once() {
    let mut host = settled();
    host.at(1600).receives(". 15001:16001(1000) ack 1").forget_sent();
    host.receives(". 16001:17001(1000) ack 1").sends(&[". 1:1(0) ack 17001"]);
}

#[test]
fn the_application_may_ask_for_the_ack_that_waits_or_for_acks_with_its_answers() {
    let mut host = Host::accepted(&adaptive());
    host.quick_ack(false).receives(". 1:1001(1000) ack 1").sends_nothing();
    host.quick_ack(false).sends_nothing();
    host.quick_ack(true).sends(&[". 1:1(0) ack 1001 win 63000"]);
    host.quick_ack(true).sends_nothing();
    host.receives(". 1001:2001(1000) ack 1").sends(&[". 1:1(0) ack 2001 win 62000"]);
}

#[test]
fn the_ack_delay_is_reported_where_it_adapts() {
    let delay_of = |host: &Host| host.connection.ack_delay();
    assert_eq!(delay_of(&settled()), Some(Duration::from_millis(40)));
    assert_eq!([adaptive(), delayed()].map(|config| delay_of(&Host::accepted(&config))), [None, None]);
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
    let mut host = Host::connected(&plain().with_initial_window(1));
    host.write(300).write(300).write(900).sends(&[". 1:301(300) ack 1 win 64000"]);
    host.at(200).receives(". 1:1(0) ack 301").sends(&[". 301:1301(1000) ack 1", ". 1301:1501(200) ack 1"]);
}

/// The boundaries of a segment never change: what is sent again is what was sent.
#[test]
fn short_segments_are_retransmitted_as_short_as_they_were() {
    let mut host = Host::connected(&plain());
    host.write(10).write(20).forget_sent();
    host.at(1100).sends(&[". 1:11(10) ack 1 win 64000"]);
    host.receives(". 1:1(0) ack 11").sends(&[". 11:31(20) ack 1"]);
}
