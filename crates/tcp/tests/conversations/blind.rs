//! Segments from off-path attackers and confused peers: RFC 5961, RFC 7323 §3.2 and §5,
//! RFC 9293 §3.10.7.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::{Established, Reset};
use earlybird_tcp::{Config, Connection, Identity, RfcState};
use earlybird_units::{Duration, SeedTree};
use earlybird_wire::SeqNum;

/// Accepted with timestamps, at 700 of the peer's clock.
fn stamped() -> Host {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").receives(". 1:1(0) ack 1 <TS 700/0>").forget_sent();
    host
}

/// RFC 7323 §5.3: R3 is for a segment that is acceptable; RFC 5961 §5.2: one with a bad ACK is not.
#[test]
fn a_bogus_ack_with_a_timestamp_far_ahead_makes_nothing_old() {
    let mut host = stamped();
    host.receives(". 1:1(0) ack 900000 <TS 2000000000/0>").receives(". 1:1(0) ack 3000000000 <TS 2000000000/0>");
    host.receives(". 900000:900001(1) ack 1 <TS 2000000000/0>").forget_sent();
    host.receives(". 1:1001(1000) ack 1 <TS 710/0>").sends(&[". 1:1(0) ack 1001 win 63000 <TS 0/710>"]);
    assert_eq!(host.connection.received(), 1000);
}

/// RFC 7323 §3.2: "If a non-<RST> segment is received without a `TSopt`, a TCP SHOULD silently drop the segment."
#[test]
fn a_segment_without_the_agreed_timestamp_is_dropped_silently() {
    let mut host = stamped();
    host.receives(". 1:1001(1000) ack 1").receives("F. 1:1(0) ack 1").sends_nothing();
    assert_eq!((host.connection.received(), host.connection.drop_counters().unstamped), (0, 2));
    host.receives("R 1:1(0)").is_in(RfcState::Closed);
}

#[test]
fn a_segment_without_the_agreed_timestamp_is_taken_where_that_is_asked_for() {
    let mut host = Host::listen(&Config::rfc().with_required_timestamps(false));
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").receives(". 1:1(0) ack 1 <TS 700/0>").forget_sent();
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000 <TS 0/700>"]);
}

/// RFC 7323 §5.5: after 24 days the clock may have gone round.
#[test]
fn after_24_idle_days_no_timestamp_is_too_old() {
    let days = 24 * 24 * 3600 * 1000;
    let mut host = stamped();
    host.at(days - 1).receives(". 1:1001(1000) ack 1 <TS 699/0>").forget_sent();
    assert_eq!((host.connection.received(), host.connection.drop_counters().too_old), (0, 1));
    host.at(days).receives(". 1:1001(1000) ack 1 <TS 699/0>");
    assert_eq!(host.connection.received(), 1000);
    host.receives(". 1001:2001(1000) ack 1 <TS 698/0>");
    assert_eq!(host.connection.received(), 1000);
}

/// RFC 7323 §5.4: the offset is on what leaves and off what returns.
#[test]
fn timestamps_leave_with_the_connections_offset_and_echoes_are_read_without_it() {
    let identity = Identity { origin: SeqNum(1), timestamp_offset: u32::MAX - 99 };
    let mut host = Host::new(Connection::connect_as(&Config::rfc(), identity, SeedTree::new(1)));
    host.sends(&["S 0:0(0) win 64000 <mss 1000,sackOK,TS 4294967196/0,wscale 0>"]);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 700/4294967196>").write(988).forget_sent();
    host.at(1100).sends(&["P. 1:989(988) ack 1 <TS 1000/700>"]);
    // 400 ms after the second transmission, which the echo tells from the first: ⅞·100 + ⅛·400 ms.
    host.at(1500).receives(". 1:1(0) ack 989 <TS 1800/1000>");
    assert_eq!(host.connection.timer().smoothed, Some(Duration::from_micros(137_500)));
}

/// RFC 5961 §7 and Linux' `tcp_invalid_ratelimit`: one answer in half a second.
#[test]
fn a_storm_of_resets_syns_and_acks_gets_two_answers_a_second() {
    let mut host = Host::connected(&plain());
    for millis in 200..10_200 {
        host.at(millis).receives("R 77:77(0)").receives("S 500:500(0)").receives(". 1:1(0) ack 5000");
        host.receives(". 70000:70000(0) ack 1").receives(". 1:1(0) ack 3000000000");
    }
    assert_eq!(host.take_texts().len(), 20);
    let drop_counters = host.connection.drop_counters();
    assert_eq!(
        (drop_counters.resets, drop_counters.unexpected_syns, drop_counters.out_of_window),
        (10_000, 10_000, 10_000)
    );
    assert_eq!((drop_counters.acks_ahead, drop_counters.acks_behind), (10_000, 10_000));
    assert_eq!((drop_counters.challenges, drop_counters.challenges_withheld), (20, 49_980));
    host.is_in(RfcState::Established);
}

/// RFC 2883 and the peer's timer want an answer to each: data are no part of a loop of ACKs.
#[test]
fn duplicate_data_are_acknowledged_each_time() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1001(1000) ack 1").forget_sent();
    host.receives(". 1:1001(1000) ack 1").receives(". 1:1001(1000) ack 1");
    host.sends(&[". 1:1(0) ack 1001 win 63000 <sack 1:1001>", ". 1:1(0) ack 1001 <sack 1:1001>"]);
}

/// RFC 5961 §5.2: `SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT`.
#[test]
fn an_ack_older_than_the_largest_window_is_challenged_and_its_data_are_dropped() {
    let mut host = Host::connect(&plain().with_initial_window(10));
    host.receives("S. 0:0(0) ack 1 win 3000 <mss 1000,sackOK>").write(6000);
    host.at(100).receives(". 1:1(0) ack 3001 win 3000").at(200).receives(". 1:1(0) ack 6001 win 3000").forget_sent();
    host.receives(". 1:101(100) ack 3000 win 3000").sends(&[". 6001:6001(0) ack 1 win 64000"]);
    assert_eq!((host.connection.received(), host.connection.drop_counters().acks_behind), (0, 1));
    host.receives(". 1:101(100) ack 3001 win 3000");
    assert_eq!(host.connection.received(), 100);
}

/// RFC 9293 §3.10.7.4, first: what is outside the window is answered with an ACK and dropped, in SYN-RECEIVED too.
#[test]
fn an_ack_a_gigabyte_outside_the_window_does_not_open_the_connection() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent();
    host.receives(". 1000000000:1000000000(0) ack 1").is_in(RfcState::SynReceived).has_events(&[]);
    host.sends(&[". 1:1(0) ack 1 win 64000"]);
    host.receives(". 1:1(0) ack 1").is_in(RfcState::Established).has_events(&[Established]);
}

/// RFC 9293 §3.10.7.4 tests timestamps before the ACK (RFC 7323 §5.3), in SYN-RECEIVED too.
#[test]
fn an_old_or_unstamped_ack_does_not_open_the_connection() {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0>").forget_sent();
    host.receives(". 1:1(0) ack 1 <TS 699/0>").receives(". 1:1(0) ack 1").is_in(RfcState::SynReceived);
    host.receives(". 1:1(0) ack 1 <TS 700/0>").is_in(RfcState::Established);
}

#[test]
fn another_syn_and_a_reset_elsewhere_leave_a_half_open_connection_as_it_is() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent();
    host.receives("S 5000:5000(0) <mss 1000>").is_in(RfcState::SynReceived).sends(&[". 1:1(0) ack 1 win 64000"]);
    host.at(600).receives("RS. 0:0(0) ack 1").receives("R 70000:70000(0)").is_in(RfcState::SynReceived).sends_nothing();
    host.receives("R 1:1(0)").is_in(RfcState::Closed).has_events(&[Reset]);
}

/// A SYN-ACK is larger than a SYN from a forged address, and Linux holds it back likewise.
#[test]
fn a_syn_repeated_at_once_gets_no_second_answer() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000>").receives("S 0:0(0) <mss 1000>").receives("S 0:0(0) <mss 1000>");
    assert_eq!(host.take_texts().len(), 2);
    host.at(500).receives("S 0:0(0) <mss 1000>");
    assert_eq!(host.take_texts().len(), 1);
}

/// RFC 9293 §3.10.7.4, second: a reset may carry text; it says why, and is not delivered (§3.5.3).
#[test]
fn a_reset_with_data_resets_and_delivers_nothing() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).receives("R 1:101(100)").is_in(RfcState::Closed).has_events(&[Reset]);
    assert_eq!(host.connection.received(), 0);
}
