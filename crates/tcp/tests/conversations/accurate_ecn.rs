//! More accurate feedback of marks (RFC 9768), and Prague, which answers it.
//!
//! The counter of three flags reads, from 5 on: `EA`, `WA`, `EWA`, none, `E`, `W`, `EW`, `A`.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Acking, Config, Control, EcnMode, PragueParameters};
use earlybird_units::Duration;

const SOURCE: &str = "RFC 9768 §3";

fn prague() -> Config {
    let control = Control::Prague(PragueParameters::DEFAULT);
    plain().with_ecn(EcnMode::Accurate).with_control_only(control).with_initial_window(10)
}

/// A connection opened with the counter, ten segments outstanding and more to send.
fn ten_out() -> Host {
    let mut host = Host::connect(&prague());
    host.at(100).receives("SW. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
    host.write(100_000).at(199).sends_numbers(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    host
}

/// A connection accepted with the counter.
fn accepted(config: &Config) -> Host {
    let mut host = Host::listen(config);
    host.receives("SEWA 0:0(0) <mss 1000,sackOK>").receives("W. 1:1(0) ack 1").forget_sent();
    host
}

/// Table 2: what the answer's flags say, and how data leave then.
#[test]
fn the_opener_offers_with_three_flags_and_finds_in_the_answer_what_the_peer_can() {
    for (answer, data) in [
        ("SW.", "[ect1] EA."),
        ("SEW.", "[ect1] EA."),
        ("SA.", "[ect1] EA."),
        ("SWA.", "[ect1] EA."),
        ("SE.", "[ect0] ."),
        ("SEA.", "[ect0] ."),
        ("S.", "."),
        ("SEWA.", "."),
    ] {
        let mut host = Host::connect(&prague());
        host.sends(&["SEWA 0:0(0) win 64000 <mss 1000,sackOK,wscale 0>"]);
        host.receives(&format!("{answer} 0:0(0) ack 1 <mss 1000,sackOK>")).forget_sent();
        host.write(1000).sends(&[&format!("{data} 1:1001(1000) ack 1")]);
    }
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// §3.2.2.1 and table 3: a pure ACK of the answer tells how that came, even if there are data.
#[test]
fn the_opener_reports_in_a_pure_ack_how_the_answer_was_marked() {
    for (field, flags, data) in
        [("", "W.", "EA."), ("[ect1] ", "EW.", "EA."), ("[ect0] ", "A.", "EA."), ("[ce] ", "WA.", "WA.")]
    {
        let mut host = Host::connect(&prague());
        host.write(1000).at(100).forget_sent();
        host.receives(&format!("{field}SW. 0:0(0) ack 1 <mss 1000,sackOK>"));
        host.sends(&[&format!("{flags} 1:1(0) ack 1 win 64000"), &format!("[ect1] {data} 1:1001(1000) ack 1")]);
    }
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// Table 2, and §3.1 for flags that nobody sends yet; a host with RFC 3168 alone does not know the third one.
#[test]
fn the_listener_answers_with_how_the_offer_came_or_as_the_opener_can() {
    for (config, offer, flags) in [
        (prague(), "SEWA", "SW."),
        (prague(), "[ect1] SEWA", "SEW."),
        (prague(), "[ect0] SEWA", "SA."),
        (prague(), "[ce] SEWA", "SWA."),
        (prague(), "SA", "SW."),
        (prague(), "SEW", "SE."),
        (prague(), "S", "S."),
        (prague().with_ecn(EcnMode::Classic), "SEWA", "SE."),
        (plain(), "SEWA", "S."),
    ] {
        let mut host = Host::listen(&config);
        host.receives(&format!("{offer} 0:0(0)"));
        host.sends(&[&format!("{flags} 0:0(0) ack 1 win 64000 <mss 1000>")]);
    }
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// §3.2.2.2: every packet counts, also without data, and the counter goes round.
#[test]
fn the_receiver_counts_marked_packets_modulo_eight_from_five_on() {
    let mut host = accepted(&prague());
    host.receives("[ect1] EA. 1:1001(1000) ack 1").sends(&["EA. 1:1(0) ack 1001 win 63000"]);
    host.receives("[ce] EA. 1001:2001(1000) ack 1").sends(&["WA. 1:1(0) ack 2001 win 62000"]);
    host.receives("[ce] EA. 2001:3001(1000) ack 1").sends(&["EWA. 1:1(0) ack 3001 win 61000"]);
    host.receives("[ce] EA. 3001:4001(1000) ack 1").sends(&[". 1:1(0) ack 4001 win 60000"]);
    host.receives("[ce] EA. 4001:4001(0) ack 1").sends_nothing();
    host.receives("[ect1] EA. 4001:5001(1000) ack 1").sends(&["E. 1:1(0) ack 5001 win 59000"]);
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// §3.2.2.5.1: a change to marked packets is told of at once, the others as usual.
#[test]
fn the_first_mark_after_none_is_acknowledged_without_delay() {
    let acking = Acking::Delayed(Duration::from_millis(200));
    let mut host = accepted(&prague().with_acking(acking));
    host.receives("[ect1] EA. 1:1001(1000) ack 1").sends_nothing();
    host.receives("[ect1] EA. 1001:2001(1000) ack 1").sends(&["EA. 1:1(0) ack 2001 win 62000"]);
    host.receives("[ce] EA. 2001:3001(1000) ack 1").sends(&["WA. 1:1(0) ack 3001 win 61000"]);
    host.receives("[ce] EA. 3001:4001(1000) ack 1").sends_nothing();
    host.receives("[ce] EA. 4001:5001(1000) ack 1").sends(&[". 1:1(0) ack 5001 win 59000"]);
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// The share begins at 1: the first mark halves. Segment 10 was the last one of that round.
#[test]
fn the_sender_shrinks_at_the_first_mark_and_once_per_round() {
    let mut host = ten_out();
    host.at(200).receives("WA. 1:1(0) ack 1001").has_window(5.0, 5.0);
    host.receives("EWA. 1:1(0) ack 2001").has_window(5.0, 5.0);
    assert_eq!(host.connection.statistics().mark_responses, 1);
    // The counter stands: six segments more without marks, with at least a window in flight at first.
    host.receives("EWA. 1:1(0) ack 3001").has_window(5.2, 5.0);
    // An old ACK tells nothing new.
    host.receives("WA. 1:1(0) ack 2001").has_window(5.2, 5.0);
    follows(Area::Control, "prague", "draft-briscoe-iccrg-prague-congestion-control-04 §2.4");
}

/// A loss halves what is in flight, also in a round with marks. Retransmissions may not be marked.
#[test]
fn a_loss_halves_the_window() {
    let mut host = ten_out();
    host.at(200).receives("EA. 1:1(0) ack 1 <sack 1001:2001>");
    host.receives("EA. 1:1(0) ack 1 <sack 1001:3001>").forget_sent();
    host.receives("EA. 1:1(0) ack 1 <sack 1001:4001>");
    host.has_window(5.0, 5.0).at(230);
    assert!(host.take_texts().iter().any(|text| text.starts_with("EA. 1:1001(1000)")));
    follows(Area::Control, "prague", "RFC 9331 §4.3");
}

/// §3.2.2.4: the counter never begins at zero.
#[test]
fn a_counter_that_was_zeroed_by_the_network_ends_marking() {
    let mut host = ten_out();
    host.at(200).receives(". 1:1(0) ack 1001").has_window(11.0, f64::INFINITY).forget_sent();
    host.receives("E. 1:1(0) ack 11001").at(210);
    assert!(host.take_texts().iter().all(|text| text.starts_with("EA. ")));
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// §3.2.2.1: a mark on the answer is told in the handshake, and is no news afterwards.
#[test]
fn a_mark_of_the_handshake_is_not_counted_twice() {
    let mut host = Host::listen(&prague());
    host.receives("SEWA 0:0(0) <mss 1000,sackOK>").at(100).receives("WA. 1:1(0) ack 1");
    host.write(1000).at(200).receives("WA. 1:1(0) ack 1001");
    assert_eq!(host.connection.statistics().mark_responses, 0);
    host.write(1000).at(300).receives("EWA. 1:1(0) ack 2001");
    assert_eq!(host.connection.statistics().mark_responses, 1);
    follows(Area::Control, "accurate ecn", SOURCE);
}

/// With a peer of RFC 3168 it is as Reno with marks.
#[test]
fn an_echo_without_counter_halves_once_per_window() {
    let mut host = Host::connect(&prague());
    host.at(100).receives("SE. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
    host.write(100_000).at(199).forget_sent();
    host.at(200).receives("E. 1:1(0) ack 1001").has_window(5.0, 5.0);
    host.receives("E. 1:1(0) ack 2001").has_window(5.0, 5.0);
    follows(Area::Control, "prague", "RFC 9331 §4.2");
}
