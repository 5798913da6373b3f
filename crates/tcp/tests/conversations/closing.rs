//! Closing: RFC 9293 §3.6.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::{Closed, Drained, Established, PeerClosed, Readable};
use earlybird_tcp::{RfcState, WriteError};

#[test]
fn we_close_first_and_wait_60_s_in_time_wait() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).shutdown().is_in(RfcState::FinWait1).sends(&["F. 1:1(0) ack 1 win 64000"]);
    host.at(200).receives(". 1:1(0) ack 2").is_in(RfcState::FinWait2).sends_nothing();
    host.at(300).receives("F. 1:1(0) ack 2").is_in(RfcState::TimeWait).sends(&[". 2:2(0) ack 2"]);
    host.has_events(&[PeerClosed, Closed]);
    assert_eq!(host.deadline(), Some(60_300));
    host.at(60_300).is_in(RfcState::Closed).sends_nothing();
    assert_eq!(host.deadline(), None);
}

#[test]
fn the_peer_closes_first() {
    let mut host = Host::accepted(&plain());
    host.has_events(&[Established]).receives("F. 1:1(0) ack 1").is_in(RfcState::CloseWait).has_events(&[PeerClosed]);
    host.sends(&[". 1:1(0) ack 2 win 64000"]);
    host.shutdown().is_in(RfcState::LastAck).sends(&["F. 1:1(0) ack 2"]);
    host.receives(". 2:2(0) ack 2").is_in(RfcState::Closed).has_events(&[Closed]).sends_nothing();
    assert_eq!(host.deadline(), None);
}

#[test]
fn both_close_at_once() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).shutdown().forget_sent();
    host.at(150).receives("F. 1:1(0) ack 1").is_in(RfcState::Closing).sends(&[". 2:2(0) ack 2 win 64000"]);
    host.at(200).receives(". 2:2(0) ack 2").is_in(RfcState::TimeWait).has_events(&[PeerClosed, Closed]).sends_nothing();
}

#[test]
fn the_peers_fin_acknowledges_ours() {
    let mut host = Host::connected(&plain());
    host.shutdown().forget_sent();
    host.at(200).receives("F. 1:1(0) ack 2").is_in(RfcState::TimeWait).sends(&[". 2:2(0) ack 2 win 64000"]);
}

#[test]
fn a_fin_waits_behind_what_was_written() {
    let mut host = Host::connected(&plain().with_initial_window(2));
    host.write(2500).shutdown().is_in(RfcState::FinWait1);
    host.sends(&[". 1:1001(1000) ack 1 win 64000", ". 1001:2001(1000) ack 1"]);
    host.at(200).receives(". 1:1(0) ack 2001").sends(&[". 2001:2501(500) ack 1", "F. 2501:2501(0) ack 1"]);
    host.at(300).receives(". 1:1(0) ack 2501").is_in(RfcState::FinWait1);
    host.at(310).receives(". 1:1(0) ack 2502").is_in(RfcState::FinWait2);
}

#[test]
fn bytes_written_after_the_close_are_refused_and_not_dropped_without_a_word() {
    let mut host = Host::connected(&plain());
    host.shutdown().forget_sent().is_refused(1000, WriteError::Closed).sends_nothing();
}

#[test]
fn a_close_before_the_handshake_ends_is_sent_after_it() {
    let mut host = Host::connect(&plain());
    host.forget_sent()
        .write(500)
        .shutdown()
        .is_refused(500, WriteError::Closed)
        .is_in(RfcState::SynSent)
        .sends_nothing();
    host.receives("S. 0:0(0) ack 1 <mss 1000>");
    host.is_in(RfcState::FinWait1).sends(&[". 1:501(500) ack 1 win 64000", "F. 501:501(0) ack 1"]);
}

#[test]
fn a_listener_that_closes_is_closed() {
    Host::listen(&plain()).shutdown().is_in(RfcState::Closed).sends_nothing();
}

#[test]
fn a_lost_fin_is_retransmitted() {
    let mut host = Host::connected(&plain());
    host.shutdown().sends(&["F. 1:1(0) ack 1 win 64000"]);
    host.at(1100).sends(&["F. 1:1(0) ack 1"]);
    host.at(3100).sends(&["F. 1:1(0) ack 1"]);
}

#[test]
fn a_fin_behind_a_gap_counts_when_the_gap_is_filled() {
    let mut host = Host::accepted(&plain());
    host.has_events(&[Established]).receives("F. 1001:1501(500) ack 1").is_in(RfcState::Established);
    host.has_events(&[]).sends(&[". 1:1(0) ack 1 win 64000 <sack 1001:1502>"]);
    host.receives(". 1:1001(1000) ack 1").is_in(RfcState::CloseWait).has_events(&[Readable, PeerClosed]);
    host.sends(&[". 1:1(0) ack 1502 win 62500"]);
    assert_eq!(host.connection.received(), 1500);
}

#[test]
fn a_half_closed_connection_goes_on_in_the_other_direction() {
    let mut host = Host::accepted(&plain());
    host.receives("F. 1:1(0) ack 1").forget_sent();
    host.write(500).is_in(RfcState::CloseWait).sends(&[". 1:501(500) ack 2 win 64000"]);
    let mut host = Host::connected(&plain());
    host.shutdown().forget_sent().receives(". 1:1(0) ack 2").is_in(RfcState::FinWait2);
    host.receives(". 1:1001(1000) ack 2").sends(&[". 2:2(0) ack 1001 win 63000"]);
}

/// RFC 9293 §3.10.7.4, seventh: "This should not occur since a FIN has been received from the remote side. Ignore the
/// segment text."
#[test]
fn payload_behind_the_peers_fin_is_ignored() {
    let mut host = Host::accepted(&plain());
    host.receives("F. 1:101(100) ack 1").receives(". 102:202(100) ack 1");
    assert_eq!(host.connection.received(), 100);
    host.is_in(RfcState::CloseWait);
}

/// RFC 9293 §3.10.7.4, eighth, TIME-WAIT: "Restart the 2 MSL time-wait timeout".
#[test]
fn time_wait_acknowledges_a_repeated_fin_and_starts_anew() {
    let mut host = Host::connected(&plain());
    host.shutdown().at(200).receives("F. 1:1(0) ack 2").forget_sent();
    host.at(10_000).receives("F. 1:1(0) ack 2").is_in(RfcState::TimeWait).sends(&[". 2:2(0) ack 2 win 64000"]);
    host.at(69_999).is_in(RfcState::TimeWait).at(70_000).is_in(RfcState::Closed);
}

#[test]
fn two_ends_in_time_wait_do_not_acknowledge_each_others_acks_for_ever() {
    let mut host = Host::connected(&plain());
    host.shutdown().at(200).receives("F. 1:1(0) ack 2").forget_sent();
    host.at(300).receives(". 2:2(0) ack 2").sends_nothing();
}

/// Applications start the next transfer when they hear it.
#[test]
fn drained_is_reported_once_and_not_for_the_fin() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).write(1000).at(200).ack(2, &[]).has_events(&[Drained]);
    host.shutdown().at(300).receives(". 1:1(0) ack 1002").is_in(RfcState::FinWait2).has_events(&[]);
}

#[test]
fn drained_is_reported_if_data_and_fin_are_acknowledged_together() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).write(1000).shutdown().at(200).receives(". 1:1(0) ack 1002").has_events(&[Drained]);
}

#[test]
fn drained_is_reported_before_the_fin_is_acknowledged() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).write(1000).shutdown().at(200).receives(". 1:1(0) ack 1001").has_events(&[Drained]);
}
