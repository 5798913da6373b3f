//! Peers as they are met on real networks: confused, old, in a hurry, or lying.

use crate::host::Host;
use crate::{connected, plain, real};
use earlybird_tcp::Event::{Closed, Established, PeerClosed, Readable};
use earlybird_tcp::{Config, RfcState};
use earlybird_units::Duration;
use rstest::rstest;

/// RFC 2018 §2: "The SACK option … may be sent … only if … permitted".
#[test]
fn blocks_of_sack_that_were_not_agreed_on_mean_nothing() {
    let mut host = Host::connect(&plain().with_initial_window(10));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000>").write(10_000).forget_sent();
    for block in ["1001:2001", "1001:3001", "1001:9001"] {
        host.at(200).receives(&format!(". 1:1(0) ack 1 <sack {block}>"));
    }
    assert_eq!(host.connection.sacked(), 0);
    host.sends_numbers(&[1]);
}

/// RFC 3168 §6.1.1: without negotiation the flags mean nothing.
#[test]
fn an_echo_of_congestion_that_was_not_agreed_on_shrinks_no_window() {
    let mut host = connected(&plain().with_initial_window(10));
    host.write(10_000).forget_sent().at(200).receives("E. 1:1(0) ack 1001").receives("EW. 1:1(0) ack 2001");
    assert!(host.connection.cwnd() >= 10.0, "{}", host.connection.cwnd());
}

/// RFC 7323 §3.2: timestamps that were not agreed on are no reason to drop anything.
#[test]
fn timestamps_that_were_not_agreed_on_mean_nothing() {
    let mut host = Host::connect(&Config::rfc());
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
    host.receives(". 1:101(100) ack 1 <TS 900/0>").receives(". 101:201(100) ack 1 <TS 5/4000000>");
    assert_eq!((host.connection.received(), host.connection.drop_counters().too_old), (200, 0));
    assert!(host.take_texts().iter().all(|text| !text.contains("TS")));
}

/// RFC 7323 §2.2: a scale that only one side names is none.
#[test]
fn a_window_is_not_scaled_where_one_side_did_not_offer_to() {
    let mut host = Host::listen(&plain().with_max_window(128));
    host.receives("S 0:0(0) win 100 <mss 1000,sackOK>").receives(". 1:1(0) ack 1 win 1500").forget_sent();
    host.write(3000).sends(&[". 1:1001(1000) ack 1 win 65535"]);
}

/// RFC 9293 §3.10.7.4: the third segment of a handshake may be the last of the stream.
#[test]
fn the_handshakes_last_segment_may_carry_data_and_a_fin() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent().receives("F. 1:101(100) ack 1");
    host.is_in(RfcState::CloseWait).has_events(&[Established, Readable, PeerClosed]);
    host.sends(&[". 1:1(0) ack 102 win 63900"]);
}

/// RFC 9293 §3.10.7.4: data that come before the ACK of the handshake does are admitted by their own ACK.
#[test]
fn where_the_handshakes_last_ack_is_overtaken_data_open_the_connection() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent();
    host.receives(". 1001:2001(1000) ack 1").is_in(RfcState::Established);
    host.sends(&[". 1:1(0) ack 1 win 64000 <sack 1001:2001>"]);
    host.receives(". 1:1001(1000) ack 1").receives(". 1:1(0) ack 1").has_events(&[Established, Readable]);
    assert_eq!(host.connection.received(), 2000);
}

/// RFC 9293 §3.10.7.4, first: the ACK of a segment outside the window is not heard, but the probe of a closed one is
/// (§3.8.6.1), and what it acknowledges counts.
#[test]
fn the_probe_of_our_closed_window_is_answered_and_its_ack_counts() {
    let mut host = Host::connected(&plain());
    for first in (1..64_001).step_by(1000) {
        host.receives(&format!(". {first}:{}(1000) ack 1", first + 1000));
    }
    host.write(1000).forget_sent();
    host.at(1000).receives(". 64001:64002(1) ack 1001").sends(&[". 1001:1001(0) ack 64001 win 0"]);
    assert_eq!((host.connection.outstanding(), host.connection.received()), (0, 64_000));
    // An empty one, below the window, as Linux asks.
    host.at(2000).receives(". 64000:64000(0) ack 1001").sends(&[". 1001:1001(0) ack 64001"]);
    host.read(64_000);
    host.sends(&[". 1001:1001(0) ack 64001 win 64000"]);
}

/// RFC 9293 §3.8.5: urgent data are a part of the stream, and the pointer is nobody's length.
#[rstest]
#[case::alone("U. 1:2(1) ack 1")]
#[case::with_push("UP. 1:2(1) ack 1")]
fn an_urgent_byte_is_read_in_its_place(#[case] segment: &str) {
    let mut host = Host::connected(&plain());
    host.receives(segment).receives(". 2:102(100) ack 1");
    assert_eq!(host.connection.received(), 101);
}

/// RFC 9293 §3.5.1 with RFC 5961 §4.2: a peer that has crashed opens anew; our answer shows it that it has, and its reset
/// makes room.
#[test]
fn a_peer_that_crashed_and_opens_anew_gets_through_with_its_reset() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:501(500) ack 1").forget_sent();
    host.at(5000).receives("S 900000:900000(0) <mss 1000>").sends(&[". 1:1(0) ack 501 win 63500"]);
    // It answers as to a stranger: with the number that it was told.
    host.receives("R 501:501(0)").is_in(RfcState::Closed);
}

/// RFC 9293 §3.6: both directions close on their own, and what the other still sends is taken until then.
#[test]
fn a_half_closed_connection_takes_megabytes_and_then_the_fin() {
    let mut host = Host::connected(&plain());
    host.shutdown().at(200).receives(". 1:1(0) ack 2").is_in(RfcState::FinWait2);
    for index in 0..1000_u64 {
        let first = 1 + index * 1000;
        host.at(201 + index).receives(&format!(". {first}:{}(1000) ack 2", first + 1000));
        assert_eq!(host.read(1000), 1000);
    }
    host.receives("F. 1000001:1000001(0) ack 2").is_in(RfcState::TimeWait);
    assert_eq!(host.connection.received(), 1_000_000);
}

/// RFC 9293 §3.10.7.4, eighth: the FIN is where it was first said to be; a segment that reaches across it is cut there.
#[test]
fn a_segment_across_the_fin_is_cut_where_the_stream_ends() {
    let mut host = Host::connected(&plain());
    host.receives("F. 101:101(0) ack 1").receives(". 1:301(300) ack 1").is_in(RfcState::CloseWait);
    assert_eq!((host.connection.received(), host.read(1000)), (100, 100));
}

/// RFC 9293 §3.8.1: an ACK for what is only half there, from a peer whose window is less than a segment.
#[test]
fn a_peer_with_a_window_of_half_a_segment_gets_everything_in_halves() {
    let mut host = Host::connect(&real());
    host.at(100).receives("S. 0:0(0) ack 1 win 500 <mss 1000,sackOK>").write(1000).sends(&[
        "S 0:0(0) win 64000 <mss 1000,sackOK,wscale 0>",
        ". 1:1(0) ack 1",
        ". 1:501(500) ack 1",
    ]);
    host.at(200).receives(". 1:1(0) ack 501 win 500").sends(&["P. 501:1001(500) ack 1"]);
}

/// RFC 9293 §3.8.4: some old keep-alives carry a byte that was received before.
#[test]
fn a_keep_alive_with_a_byte_of_rubbish_is_answered_and_the_byte_is_not_taken() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:101(100) ack 1").forget_sent().at(1000).receives(". 100:101(1) ack 1");
    let answers = host.take_texts();
    assert!(answers.len() == 1 && answers[0].starts_with(". 1:1(0) ack 101 "), "{answers:?}");
    assert_eq!(host.connection.received(), 100);
}

/// RFC 5961 §5: a lie that goes round half of the number space is no ACK, whatever window it tells.
#[rstest]
fn an_ack_from_far_away_opens_no_window(#[values(2_147_483_000, 3_000_000_000, 4_294_967_295)] ack: u32) {
    let mut host = Host::connect(&plain());
    host.at(100).receives("S. 0:0(0) ack 1 win 1000 <mss 1000,sackOK>").write(5000).at(200).forget_sent();
    host.receives(&format!(". 1:1(0) ack {ack} win 60000"));
    assert_eq!(host.take_numbers(), [0_u64; 0]);
    assert_eq!(host.connection.outstanding(), 1);
}

/// RFC 7323 §5.5 and §5.3: days of silence, and then the clock has gone on as far as it can be read: half its circle less one.
#[test]
fn a_timestamp_half_a_circle_ahead_is_newer_and_one_more_is_older() {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").receives(". 1:1(0) ack 1 <TS 700/0>").forget_sent();
    host.receives(". 1:101(100) ack 1 <TS 2147484348/0>");
    assert_eq!(host.connection.received(), 0, "half a circle ahead is half a circle behind");
    host.receives(". 1:101(100) ack 1 <TS 2147484347/0>");
    assert_eq!(host.connection.received(), 100);
}

/// RFC 9293 §3.10.7.4: an end that waits for nothing else hears the last ACK even with data that nobody wants.
#[test]
fn both_fins_cross_with_data_on_each() {
    let mut host = Host::connected(&real());
    host.write(500).shutdown().sends(&["P. 1:501(500) ack 1 win 64000", "F. 501:501(0) ack 1"]);
    host.at(150).receives("F. 1:301(300) ack 1").is_in(RfcState::Closing);
    host.at(200).receives(". 302:302(0) ack 502").is_in(RfcState::TimeWait);
    host.has_events(&[Established, Readable, earlybird_tcp::Event::Drained, PeerClosed, Closed]);
    assert_eq!(host.read(1000), 300);
}

/// RFC 9293 §3.7.1 (MUST-15, MUST-16); a length that no segment can have is none.
#[rstest]
#[case::none("", 536)]
#[case::zero("mss 0,", 536)]
#[case::one("mss 1,", 48)]
#[case::largest("mss 65535,", 1000)]
fn whatever_mss_a_peer_announces_segments_have_a_size_that_works(#[case] options: &str, #[case] size: u64) {
    let mut host = Host::connect(&real());
    host.at(100).receives(&format!("S. 0:0(0) ack 1 <{options}sackOK>"));
    assert_eq!(host.connection.effective_mss(), size);
}

/// RFC 6298 §5: what comes of an ACK that arrives after days is a timeout that is still one.
#[test]
fn an_ack_after_a_long_idle_period_leaves_a_timeout_that_works() {
    let mut host = connected(&plain().with_lifetimes(earlybird_tcp::Lifetimes::UNLIMITED));
    host.write(1000).at(3 * 24 * 3600 * 1000).receives(". 1:1(0) ack 1001");
    assert!(host.connection.timer().timeout <= Duration::from_secs(60), "{:?}", host.connection.timer());
    host.write(1000).forget_sent();
    host.at(3 * 24 * 3600 * 1000 + 61_000);
    assert!(!host.take_numbers().is_empty());
}
