//! Explicit congestion notification: RFC 3168 §6.1.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Config, EcnMode};

const SOURCE: &str = "RFC 3168 §6.1";

fn classic() -> Config {
    plain().with_ecn(EcnMode::Classic).with_initial_window(10)
}

/// A connection opened with ECN, ten segments outstanding and more to send.
fn ten_out() -> Host {
    let mut host = Host::connect(&classic());
    host.at(100).receives("SE. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
    host.write(100_000).sends_numbers(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    host
}

/// A connection accepted with ECN.
fn accepted() -> Host {
    let mut host = Host::listen(&classic());
    host.receives("SEW 0:0(0) <mss 1000,sackOK>").receives(". 1:1(0) ack 1").forget_sent();
    host
}

/// §6.1.1: an ECN-setup SYN has both flags, an ECN-setup SYN-ACK has ECE alone.
#[test]
fn the_opener_offers_with_ece_and_cwr_and_marks_data_as_markable_once_ece_comes_back() {
    let mut host = Host::connect(&classic());
    host.sends(&["SEW 0:0(0) win 64000 <mss 1000,sackOK,wscale 0>"]);
    host.receives("SE. 0:0(0) ack 1 <mss 1000,sackOK>").sends(&[". 1:1(0) ack 1"]);
    host.write(1000).sends(&["[ect0] . 1:1001(1000) ack 1"]);
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.1: without ECE, or with both flags (an old host that reflects them), the peer does not take part.
#[test]
fn without_ece_or_with_both_flags_in_the_answer_nothing_may_be_marked() {
    for answer in ["S. 0:0(0) ack 1 <mss 1000>", "SEW. 0:0(0) ack 1 <mss 1000>", "SW. 0:0(0) ack 1 <mss 1000>"] {
        let mut host = Host::connect(&classic());
        host.receives(answer).forget_sent();
        host.write(1000).sends(&[". 1:1001(1000) ack 1 win 64000"]);
    }
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.1: only an ECN-setup SYN is answered with ECE.
#[test]
fn the_listener_accepts_an_offer_and_nothing_less() {
    for (config, offer, flags) in [
        (classic(), "SEW", "SE."),
        (classic(), "S", "S."),
        (classic(), "SE", "S."),
        (classic(), "SW", "S."),
        (plain(), "SEW", "S."),
    ] {
        let mut host = Host::listen(&config);
        host.receives(&format!("{offer} 0:0(0)"));
        host.sends(&[&format!("{flags} 0:0(0) ack 1 win 64000 <mss 1000>")]);
    }
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.3: ECE on every ACK until a segment with CWR comes; a mark on that one begins again.
#[test]
fn the_receiver_echoes_a_mark_until_cwr_arrives() {
    let mut host = accepted();
    host.receives("[ect0] . 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000"]);
    host.receives("[ce] . 1001:2001(1000) ack 1").sends(&["E. 1:1(0) ack 2001 win 62000"]);
    host.receives("[ect0] . 2001:3001(1000) ack 1").sends(&["E. 1:1(0) ack 3001 win 61000"]);
    host.receives("[ect0] W. 3001:4001(1000) ack 1").sends(&[". 1:1(0) ack 4001 win 60000"]);
    host.receives("[ce] W. 4001:5001(1000) ack 1").sends(&["E. 1:1(0) ack 5001 win 59000"]);
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.4 and §6.1.5: marks on pure ACKs and outside the window say nothing.
#[test]
fn marks_on_pure_acks_and_on_segments_outside_the_window_are_not_echoed() {
    let mut host = accepted();
    host.receives("[ect0] . 1:1001(1000) ack 1").forget_sent();
    host.receives("[ce] . 1001:1001(0) ack 1").sends_nothing();
    // It came before, which the answer says by DSACK.
    host.receives("[ce] . 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000 <sack 1:1001>"]);
    follows(Area::Control, "ecn", SOURCE);
}

#[test]
fn without_negotiation_marks_are_not_echoed() {
    let mut host = Host::accepted(&classic());
    host.receives("[ce] . 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000"]);
}

/// §6.1.2: halves as after a loss, without growing on the echo itself, and not again before a segment sent afterwards is
/// acknowledged.
#[test]
fn the_window_is_halved_once_per_window_and_the_next_new_segment_carries_cwr() {
    let mut host = ten_out();
    host.at(200).receives("E. 1:1(0) ack 1001").has_window(5.0, 5.0).sends_nothing();
    host.receives("E. 1:1(0) ack 2001").has_window(5.0, 5.0).sends_nothing();
    host.receives("E. 1:1(0) ack 6001").has_window(5.0, 5.0).sends(&["[ect0] W. 10001:11001(1000) ack 1 win 64000"]);
    host.receives("E. 1:1(0) ack 7001").sends(&["[ect0] . 11001:12001(1000) ack 1"]);
    host.receives("E. 1:1(0) ack 10001").has_window(5.0, 5.0).forget_sent();
    // Segment 11 told of the reduction: whatever is echoed now is news.
    host.at(300).receives("E. 1:1(0) ack 11001").has_window(2.0, 2.0);
    assert_eq!(host.connection.statistics().mark_responses, 2);
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.2: "the congestion window should be reduced only once in response to a series of dropped and/or CE packets from a
/// single window of data".
#[test]
fn a_loss_in_the_window_of_a_mark_is_repaired_without_another_reduction() {
    let mut host = ten_out();
    host.at(200).receives("E. 1:1(0) ack 1001").has_window(5.0, 5.0);
    host.ack(2, &[3..4]).ack(2, &[3..5]).sends_nothing();
    host.ack(2, &[3..6]).has_window(5.0, 5.0).sends_numbers(&[2]);
    follows(Area::Control, "ecn", SOURCE);
}

/// The same the other way round; the first new segment tells of that reduction too.
#[test]
fn a_mark_during_recovery_does_nothing_more() {
    let mut host = ten_out();
    host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).forget_sent();
    host.ack(1, &[2..5]).has_window(5.0, 5.0).sends(&[". 1:1001(1000) ack 1 win 64000"]);
    host.at(300).receives("E. 1:1(0) ack 1 <sack 1001:10001>").has_window(5.0, 5.0);
    let sent = host.take_texts();
    assert!(
        sent[0].starts_with("[ect0] W. ") && sent[1..].iter().all(|text| text.starts_with("[ect0] . ")),
        "{sent:?}"
    );
    assert_eq!(host.connection.statistics().mark_responses, 0);
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.5: retransmissions may not be marked. §6.1.2: a timeout is a reduction, too.
#[test]
fn after_a_timeout_retransmissions_are_not_ect_echoes_change_nothing_and_new_data_carry_cwr() {
    let mut host = Host::connect(&classic());
    host.at(100).receives("SE. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
    host.write(2000).forget_sent();
    host.at(1100).has_window(1.0, 2.0).sends(&[". 1:1001(1000) ack 1 win 64000"]);
    host.at(1200).receives("E. 1:1(0) ack 1001").has_window(1.0, 2.0).sends(&[". 1001:2001(1000) ack 1"]);
    host.receives(". 1:1(0) ack 2001").forget_sent();
    host.write(2000).sends(&["[ect0] W. 2001:3001(1000) ack 1", "[ect0] . 3001:4001(1000) ack 1"]);
    follows(Area::Control, "ecn", SOURCE);
}

/// §6.1.6: a marked probe that is dropped would look like a mark, and be none.
#[test]
fn a_probe_of_a_closed_window_is_not_markable() {
    let mut host = Host::connect(&classic());
    host.at(100).receives("SE. 0:0(0) ack 1 win 0 <mss 1000,sackOK>").forget_sent();
    host.write(1000).at(1100).sends(&[". 1:2(1) ack 1 win 64000"]);
    follows(Area::Control, "ecn", SOURCE);
}
