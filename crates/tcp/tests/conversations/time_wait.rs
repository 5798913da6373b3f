//! TIME-WAIT: RFC 9293 §3.10.7.4, RFC 6191, RFC 1337.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::TimeWaitReused;
use earlybird_tcp::{Config, Ending, Lifetimes, RfcState};
use earlybird_units::Duration;

/// A connection without timestamps in TIME-WAIT from 200 ms on; the peer's FIN was number 1.
fn waiting(config: &Config) -> Host {
    let mut host = Host::connected(config);
    host.shutdown().at(200).receives("F. 1:1(0) ack 2").is_in(RfcState::TimeWait).forget_sent();
    while host.connection.poll_event().is_some() {}
    host
}

/// The same with timestamps, the last of which was 700.
fn stamped() -> Host {
    let mut host = Host::connect(&Config::rfc());
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 600/0>").shutdown();
    host.at(200).receives("F. 1:1(0) ack 2 <TS 700/100>").is_in(RfcState::TimeWait).forget_sent();
    while host.connection.poll_event().is_some() {}
    host
}

#[track_caller]
fn is_reused(mut host: Host, syn: &str) {
    host.receives(syn).is_in(RfcState::Closed).has_events(&[TimeWaitReused]).sends_nothing();
    assert_eq!((host.deadline(), host.connection.ending()), (None, Some(Ending::InOrder)));
}

#[track_caller]
fn stays(mut host: Host, syn: &str) {
    host.receives(syn).is_in(RfcState::TimeWait).has_events(&[]).sends_nothing();
    assert_eq!((host.deadline(), host.connection.drop_counters().unexpected_syns), (Some(60_200), 1));
}

/// RFC 6191 §2, where the connection used timestamps.
#[test]
fn a_syn_with_a_newer_timestamp_takes_over_and_an_older_one_is_dropped() {
    is_reused(stamped(), "S 0:0(0) <mss 1000,TS 701/0>");
    is_reused(stamped(), "S 2000000000:2000000000(0) <mss 1000,TS 701/0>");
    is_reused(stamped(), "S 2:2(0) <mss 1000,TS 700/0>");
    is_reused(stamped(), "S 2:2(0) <mss 1000>");
    stays(stamped(), "S 1:1(0) <mss 1000,TS 700/0>");
    stays(stamped(), "S 5000:5000(0) <mss 1000,TS 699/0>");
    stays(stamped(), "S 1:1(0) <mss 1000>");
}

/// RFC 6191 §2, where it did not.
#[test]
fn without_timestamps_a_syn_takes_over_with_a_higher_number_or_a_timestamp() {
    is_reused(waiting(&plain()), "S 2:2(0) <mss 1000>");
    is_reused(waiting(&plain()), "S 2000000:2000000(0) <mss 1000,TS 1/0>");
    stays(waiting(&plain()), "S 1:1(0) <mss 1000,TS 1/0>");
    stays(waiting(&plain()), "S 0:0(0) <mss 1000>");
    stays(waiting(&plain()), "S 4294000000:4294000000(0) <mss 1000>");
    // A peer of ours that would take timestamps now, and did not then.
    let mut host = Host::connect(&Config::rfc());
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000>").shutdown().at(200).receives("F. 1:1(0) ack 2").forget_sent();
    while host.connection.poll_event().is_some() {}
    is_reused(host, "S 0:0(0) <mss 1000,TS 1/0>");
}

/// RFC 1337 §3, (F1): "Ignore RST segments in TIME-WAIT state."
#[test]
fn no_reset_ends_time_wait() {
    let mut host = waiting(&plain());
    host.receives("R 2:2(0)").receives("R. 2:2(0) ack 2").receives("R 2:102(100)").receives("RS 500:500(0)");
    host.is_in(RfcState::TimeWait).has_events(&[]).sends_nothing();
    assert_eq!((host.deadline(), host.connection.drop_counters().resets), (Some(60_200), 4));
}

/// Only the peer's own FIN makes it longer.
#[test]
fn a_fin_elsewhere_does_not_begin_time_wait_anew() {
    let mut host = waiting(&plain());
    host.at(10_000).receives("F. 5000:5000(0) ack 2").receives(". 1:101(100) ack 2").receives("F. 2:2(0) ack 2");
    host.sends(&[". 2:2(0) ack 2 win 64000"]);
    assert_eq!(host.deadline(), Some(60_200));
    host.receives("F. 1:1(0) ack 2").sends(&[". 2:2(0) ack 2"]);
    assert_eq!(host.deadline(), Some(70_000));
}

#[test]
fn time_wait_lasts_as_long_as_is_asked_for() {
    let lifetimes = Lifetimes { time_wait: Duration::from_secs(240), ..Lifetimes::RFC };
    let mut host = waiting(&plain().with_lifetimes(lifetimes));
    host.at(240_199).is_in(RfcState::TimeWait).at(240_200).is_in(RfcState::Closed);
    assert_eq!(host.connection.ending(), Some(Ending::InOrder));
}
