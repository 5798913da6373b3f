//! TCP Fast Open (RFC 7413): data on the SYN, and what becomes of them.

use crate::host::Host;
use crate::{plain, real};
use earlybird_tcp::Event::{Drained, Established, PeerClosed, Readable, Refused, Reset};
use earlybird_tcp::{
    Acking, Config, Connection, Dsack, FastOpenOffer, FastOpenOutcome, NewRenoFlags, Recovery, RfcState,
};
use earlybird_units::{Duration, SeedTree};
use earlybird_wire::FastOpen;
use rstest::rstest;
use std::num::NonZeroU16;

const OFFER: &str = "mss 1000,sackOK,wscale 0";

fn cookie() -> FastOpen {
    FastOpen::cookie(&[0xab, 0xcd, 0x12, 0x34]).expect("four bytes")
}

fn known(mss: u16) -> FastOpenOffer {
    FastOpenOffer::Cookie { cookie: cookie(), mss: NonZeroU16::new(mss) }
}

fn outcome(host: &Host) -> FastOpenOutcome {
    host.connection.fast_open().expect("it was asked for")
}

/// A client with the cookie, whose SYN carried 300 bytes of 300.
fn with_300_bytes() -> Host {
    let mut host = Host::connect_fast(&plain(), known(1000), 300);
    host.sends(&[&format!("S 0:300(300) win 64000 <{OFFER},FO abcd1234>")]);
    host
}

/// A server that took 300 bytes from a SYN.
fn server(config: &Config) -> Host {
    let mut host = Host::accept_fast(config, &format!("S 0:300(300) <{OFFER},FO abcd1234>"), None);
    host.is_in(RfcState::SynReceived).has_events(&[Readable]);
    host.sends(&[&format!("S. 0:0(0) ack 301 win 63700 <{OFFER}>")]);
    host
}

/// RFC 7413 §3: the first connection asks; data go behind the handshake.
#[test]
fn a_request_carries_no_data_and_brings_a_cookie_and_an_mss() {
    let ask = FastOpenOffer::Request { is_experimental: false };
    let mut host = Host::connect_fast(&plain(), ask, 300);
    host.sends(&[&format!("S 0:0(0) win 64000 <{OFFER},FO>")]);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 940,FO abcd1234>");
    host.has_events(&[Established]).sends(&[". 1:301(300) ack 1"]);
    let expected = FastOpenOutcome { cookie: Some(cookie()), mss: NonZeroU16::new(940), ..FastOpenOutcome::default() };
    assert_eq!(outcome(&host), expected);
}

#[test]
fn an_experimental_request_is_answered_under_either_kind() {
    for answer in ["FO abcd1234", "FOEXP abcd1234"] {
        let mut host = Host::connect_fast(&plain(), FastOpenOffer::Request { is_experimental: true }, 0);
        host.sends(&[&format!("S 0:0(0) win 64000 <{OFFER},FOEXP>")]);
        host.receives(&format!("S. 0:0(0) ack 1 <mss 1000,{answer}>"));
        assert_eq!(outcome(&host).cookie.map(|cookie| cookie.as_slice().to_vec()), Some(cookie().as_slice().to_vec()));
    }
}

/// RFC 7413 §4.2.1: what fits beside the options into the MSS that the server told before, and into ours.
#[test]
fn a_syn_carries_the_cached_mss_less_40_bytes_for_options() {
    for (cached, carried) in [(1000, 960), (940, 900), (9000, 960), (30, 0)] {
        let mut host = Host::connect_fast(&plain(), known(cached), 5000);
        assert_eq!(host.connection.room_on_syn(), carried);
        host.sends(&[&format!("S 0:{carried}({carried}) win 64000 <{OFFER},FO abcd1234>")]);
        assert_eq!(outcome(&host).carried, carried);
    }
}

/// RFC 7413 §4.1.3.1: 536 bytes if the MSS is not known.
#[test]
fn a_syn_without_a_cached_mss_carries_496_bytes() {
    let mut host = Host::connect_fast(&plain(), FastOpenOffer::WithoutCookie { mss: None }, 5000);
    host.sends(&[&format!("S 0:496(496) win 64000 <{OFFER}>")]);
    host.receives("S. 0:0(0) ack 497 <mss 1000,FO abcd1234>");
    assert_eq!(outcome(&host).cookie, None, "nobody asked for one");
}

#[test]
fn a_cookie_that_leaves_no_room_for_other_options_is_left_out_with_the_data() {
    let long = FastOpenOffer::Cookie {
        cookie: FastOpen::cookie(&[7; 16]).expect("sixteen bytes"),
        mss: NonZeroU16::new(1000),
    };
    let mut host = Host::connect_fast(&Config::rfc(), long, 300);
    host.sends(&["S 0:0(0) win 64000 <mss 1000,sackOK,TS 0/0,wscale 0>"]);
}

#[test]
fn data_that_the_syn_ack_acknowledges_are_done_with() {
    let mut host = with_300_bytes();
    host.at(100).receives("S. 0:0(0) ack 301 <mss 1000,sackOK>");
    host.has_events(&[Established]).sends(&[". 301:301(0) ack 1"]);
    assert_eq!((outcome(&host).accepted, host.connection.acknowledged()), (300, 300));
    assert!(!host.connection.has_data());
    host.write(100).sends(&[". 301:401(100) ack 1"]);
}

/// RFC 7413 §4.2.1: "the client SHOULD retransmit the data"; that is no loss, and the window stays.
#[test]
fn data_of_a_syn_that_were_not_taken_are_retransmitted_at_once_and_the_window_stays() {
    let mut host = with_300_bytes();
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    host.sends(&[". 1:301(300) ack 1"]).has_window(4.0, f64::INFINITY);
    assert_eq!((outcome(&host).accepted, host.connection.acknowledged()), (0, 0));
    host.receives(". 1:1(0) ack 301").has_events(&[Established, Drained]);
}

/// They are what the SYN carried, sent again; what was written behind them does not fill their segment.
#[rstest]
#[case::tahoe(Recovery::Tahoe)]
#[case::reno(Recovery::Reno { second_fast_retransmit: true })]
#[case::newreno(Recovery::NewReno(NewRenoFlags::default()))]
#[case::sack1(Recovery::Sack1)]
#[case::rfc6675(Recovery::Rfc6675)]
#[case::vegas(Recovery::Vegas)]
#[case::rack(Recovery::Rack)]
fn data_of_a_syn_that_were_not_taken_count_as_retransmitted_and_stay_apart_from_later_ones(#[case] recovery: Recovery) {
    let mut host = Host::connect_fast(&plain().with_recovery_only(recovery), known(1000), 300);
    host.write(1500).forget_sent().at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    host.sends(&[". 1:301(300) ack 1 win 64000", ". 301:1301(1000) ack 1", ". 1301:1801(500) ack 1"]);
    assert_eq!((host.connection.retransmitted(), host.connection.statistics().retransmissions), (1, 1));
    host.at(200).receives(". 1:1(0) ack 1801").has_events(&[Established, Drained]);
    assert_eq!((host.connection.retransmitted(), host.connection.is_recovering()), (0, false));
}

/// The peer's segments are so short that 900 bytes are five of them.
#[test]
fn data_of_a_syn_that_were_not_taken_exceeded_the_largest_window_in_shorter_segments() {
    let mut host = Host::connect_fast(&plain().with_max_window(3), known(1000), 900);
    host.forget_sent().at(100).receives("S. 0:0(0) ack 1 <mss 200,sackOK>");
    assert_eq!(host.take_texts().len(), 3);
    assert_eq!((host.connection.outstanding(), host.connection.notsent()), (3, 300));
    host.at(200).receives(". 1:1(0) ack 601").sends(&[". 601:801(200) ack 1", ". 801:901(100) ack 1"]);
    host.at(300).receives(". 1:1(0) ack 901");
    assert_eq!(host.connection.acknowledged(), 900);
}

/// If they get lost then, that is a loss.
#[test]
fn data_of_a_syn_whose_retransmission_is_lost_are_repaired_and_reduce_the_window() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack] {
        let config = plain().with_recovery_only(recovery).with_initial_window(10);
        let mut host = Host::connect_fast(&config, known(1000), 300);
        host.write(4000).at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
        host.at(200).receives(". 1:1(0) ack 1 <sack 301:3301>").sends(&[". 1:301(300) ack 1 win 64000"]);
        assert!(host.connection.is_recovering(), "{recovery:?}");
        host.has_window(2.0, 2.0);
    }
}

/// The data of the SYN end a record.
#[test]
fn a_record_that_left_with_the_syn_cuts_no_later_segment() {
    for ack in [1, 301] {
        let mut connection = Connection::connect(&real(), SeedTree::new(1));
        connection.open_fast(known(1000));
        assert_eq!(connection.write(300), Ok(300));
        connection.end_record();
        let mut host = Host::new(connection);
        host.write(1500).forget_sent().at(100).receives(&format!("S. 0:0(0) ack {ack} <mss 1000,sackOK>"));
        let retransmitted: &[&str] = if ack == 1 { &["P. 1:301(300) ack 1 win 64000"] } else { &[] };
        let rest: &[&str] = &[if ack == 1 { ". 301:1301(1000) ack 1" } else { ". 301:1301(1000) ack 1 win 64000" }];
        host.sends(&[retransmitted, rest, &["P. 1301:1801(500) ack 1"]].concat());
    }
}

/// RFC 9293 figure 7: the SYN-ACK repeats the SYN. Linux tells so, and RFC 2883 §4 speaks of data only.
#[test]
fn a_syn_that_came_twice_because_both_opened_at_once_is_reported_if_so_chosen() {
    for (dsack, report) in [(Dsack::Data, ""), (Dsack::DataAndSyn, " <sack 0:1>")] {
        let mut host = Host::connect_fast(&plain().with_dsack(dsack), known(1000), 300);
        host.at(50).receives("S 0:500(500) <mss 1000,sackOK>").forget_sent();
        host.at(100).receives("S. 0:0(0) ack 301 <mss 1000,sackOK>");
        host.sends(&[&format!(". 301:301(0) ack 1 win 64000{report}")]);
    }
}

#[test]
fn what_a_partial_acknowledgement_leaves_is_cut_to_the_mss_of_the_answer() {
    let mut host = Host::connect_fast(&plain(), known(1000), 960);
    host.forget_sent().at(100).receives("S. 0:0(0) ack 101 <mss 500,sackOK>");
    host.sends(&[". 101:601(500) ack 1 win 64000", ". 601:961(360) ack 1"]);
    assert_eq!(host.connection.acknowledged(), 100);
}

#[test]
fn an_answer_to_more_than_the_syn_carried_is_reset() {
    let mut host = with_300_bytes();
    host.receives("S. 0:0(0) ack 302 <mss 1000>").is_in(RfcState::SynSent).sends(&["R 302:302(0) win 0"]);
    host.receives("S. 0:0(0) ack 301 <mss 1000>").is_in(RfcState::Established);
}

/// RFC 7413 §4.2.1: a middlebox may have dropped it for its option or its data.
#[test]
fn a_retransmitted_syn_has_neither_option_nor_data_and_yet_they_may_be_acknowledged() {
    for ack in [1, 301] {
        let mut host = with_300_bytes();
        host.at(1000).sends(&[&format!("S 0:0(0) <{OFFER}>")]);
        host.at(1100).receives(&format!("S. 0:0(0) ack {ack} <mss 1000,sackOK>")).has_events(&[Established]);
        let rest: &[&str] = if ack == 1 { &[". 1:301(300) ack 1"] } else { &[". 301:301(0) ack 1"] };
        host.sends(rest);
        assert!(outcome(&host).was_retransmitted);
    }
}

#[test]
fn a_cookie_in_an_answer_to_a_repeated_syn_is_kept() {
    let ask = FastOpenOffer::Request { is_experimental: false };
    let mut host = Host::connect_fast(&plain(), ask, 0);
    host.at(1000).receives("S. 0:0(0) ack 1 <mss 1240,FO abcd1234>");
    assert_eq!((outcome(&host).cookie, outcome(&host).was_retransmitted), (Some(cookie()), true));
}

#[test]
fn a_reset_of_a_syn_with_data_refuses_the_connection() {
    for ack in [1, 301] {
        with_300_bytes().receives(&format!("R. 0:0(0) ack {ack}")).is_in(RfcState::Closed).has_events(&[Refused]);
    }
}

/// RFC 7413 §3: the server may answer the request together with its SYN-ACK.
#[test]
fn a_syn_ack_may_carry_data_and_a_fin() {
    let mut host = with_300_bytes();
    host.receives("SF. 0:400(400) ack 301 <mss 1000,sackOK>");
    host.is_in(RfcState::CloseWait)
        .has_events(&[Established, Readable, PeerClosed])
        .sends(&[". 301:301(0) ack 402 win 63600"]);
    assert_eq!(host.read(1000), 400);
}

/// Linux's quick ACKs: sixteen, as many as a window of which the SYN told allows.
#[test]
fn who_only_receives_behind_a_syn_ack_with_data_acknowledges_each_segment_at_once() {
    let mut host = Host::connect_fast(&plain().with_acking(Acking::Adaptive), known(1000), 300);
    host.forget_sent().receives("S. 0:1000(1000) ack 301 <mss 1000,sackOK>").forget_sent();
    for start in (1001..16_001).step_by(1000) {
        host.receives(&format!(". {start}:{}(1000) ack 301", start + 1000));
        assert_eq!(host.take_texts().len(), 1, "{start}");
    }
    host.receives(". 16001:17001(1000) ack 301").sends_nothing();
}

/// RFC 9293 figure 7. What the other SYN carries is not taken, what ours carried may be.
#[test]
fn both_open_at_once_with_data_on_their_syns() {
    let mut host = with_300_bytes();
    host.at(50).receives("S 0:500(500) <mss 1000,sackOK,FO 12345678>");
    host.is_in(RfcState::SynReceived).sends(&["S. 0:0(0) ack 1 <mss 1000,sackOK>"]);
    host.at(100).receives("S. 0:0(0) ack 301 <mss 1000,sackOK>").is_in(RfcState::Established);
    host.forget_sent().receives(". 1:501(500) ack 301").sends(&[". 301:301(0) ack 501 win 63500"]);
    assert_eq!(host.connection.acknowledged(), 300);
}

#[test]
fn closed_before_the_handshake_ends_the_fin_follows_the_data_of_the_syn() {
    let mut host = with_300_bytes();
    host.shutdown().receives("S. 0:0(0) ack 301 <mss 1000,sackOK>");
    host.sends(&["F. 301:301(0) ack 1"]).is_in(RfcState::FinWait1);
}

/// RFC 7413 §4.2.2: the server application reads and answers before the handshake is done.
#[test]
fn a_server_reads_and_answers_before_the_handshake_ends() {
    let mut host = server(&plain().with_initial_window(10));
    assert_eq!(host.read(1000), 300);
    host.write(20_000).sends_numbers(&(1..=10).collect::<Vec<_>>());
    host.at(100).receives(". 301:301(0) ack 1").has_events(&[Established]).is_in(RfcState::Established);
    // The answer's round trip is the first sample: 100 ms give 300 ms, and the floor is 1 s.
    assert_eq!(host.connection.timer().smoothed, Some(Duration::from_millis(100)));
    host.sends_nothing().receives(". 301:301(0) ack 2001").sends_numbers(&[11, 12, 13, 14]);
}

/// The ACK of the SYN-ACK was lost: one of data ends the handshake as well.
#[test]
fn the_first_ack_may_be_one_of_data_and_report_holes() {
    let mut host = server(&plain().with_initial_window(10));
    host.write(10_000).forget_sent();
    host.at(100).receives(". 301:301(0) ack 1 <sack 2001:5001>").is_in(RfcState::Established);
    assert!(host.connection.is_recovering());
    assert_eq!(host.take_numbers().first(), Some(&1));
}

#[test]
fn an_unanswered_syn_ack_is_retransmitted_without_data_and_the_data_follow_the_handshake() {
    let mut host = server(&plain());
    host.write(2000).sends_numbers(&[1, 2]);
    host.at(1000).sends(&[&format!("S. 0:0(0) ack 301 <{OFFER}>")]);
    host.write(1000).sends_nothing();
    host.at(1100).receives(". 301:301(0) ack 1").has_events(&[Established]).sends_numbers(&[1]);
}

#[test]
fn a_repeated_syn_gets_the_same_syn_ack_and_its_data_are_not_taken_twice() {
    let mut host = server(&plain());
    for syn in ["S 0:0(0) <mss 1000>", "S 0:300(300) <mss 1000,FO abcd1234>"] {
        host.at(host.deadline().unwrap_or(0).min(900)).receives(syn).has_events(&[]);
    }
    assert_eq!(host.connection.received(), 300);
    host.receives(". 301:301(0) ack 1").has_events(&[Established]);
}

#[test]
fn a_new_cookie_goes_with_the_first_syn_ack_only() {
    let mut host =
        Host::accept_fast(&plain(), "S 0:10(10) <mss 1000,FOEXP abcd1234>", Some(cookie().experimental(true)));
    host.at(1000);
    host.sends(&["S. 0:0(0) ack 11 win 63990 <mss 1000,FOEXP abcd1234>", "S. 0:0(0) ack 11 <mss 1000>"]);
}

/// A valid cookie on a SYN without data lets the server speak first.
#[test]
fn a_cookie_without_data_opens_the_server_too() {
    let mut host = Host::accept_fast(&plain(), "S 0:0(0) <mss 1000,FO abcd1234>", None);
    host.sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000>"]).write(100).sends(&[". 1:101(100) ack 1"]);
    host.receives(". 1:11(10) ack 1").is_in(RfcState::Established).has_events(&[Established, Readable]);
}

#[test]
fn a_reset_before_the_handshake_ends_is_reported_and_what_came_can_be_read() {
    let mut host = server(&plain());
    host.receives("R. 1:1(0) ack 1").is_in(RfcState::SynReceived);
    host.forget_sent().receives("R. 301:301(0) ack 1").is_in(RfcState::Closed).has_events(&[Reset]);
    assert_eq!((host.read(1000), host.deadline()), (300, None));
    host.receives(". 301:301(0) ack 1").sends(&["R 1:1(0) win 0"]);
}

#[test]
fn a_fin_may_come_with_the_ack_that_ends_the_handshake() {
    let mut host = server(&plain());
    host.at(100).receives("F. 301:301(0) ack 1").has_events(&[Established, PeerClosed]).is_in(RfcState::CloseWait);
    host.sends(&[". 1:1(0) ack 302"]).shutdown().sends(&["F. 1:1(0) ack 302"]);
    host.receives(". 302:302(0) ack 2").is_in(RfcState::Closed);
}

/// RFC 9293 §3.10.4: CLOSE in SYN-RECEIVED.
#[test]
fn a_server_may_close_before_the_handshake_ends() {
    let mut host = server(&plain());
    host.write(100).shutdown().sends(&[". 1:101(100) ack 301", "F. 101:101(0) ack 301"]);
    host.at(100).receives(". 301:301(0) ack 102").is_in(RfcState::FinWait2);
}

#[test]
fn a_server_that_gives_up_before_the_handshake_ends_resets_its_peer() {
    server(&plain()).abort().sends(&["R. 1:1(0) ack 301"]);
}

/// Found by the fuzzer.
#[test]
fn closed_twice_before_the_handshake_ends_there_is_one_fin() {
    let mut host = server(&plain());
    host.shutdown().sends(&["F. 1:1(0) ack 301"]).shutdown().sends_nothing();
}
