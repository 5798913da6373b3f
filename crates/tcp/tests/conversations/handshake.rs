//! Opening: RFC 9293 §3.5, and the options on the way (RFC 2018, RFC 7323).

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::{Established, Refused, Reset};
use earlybird_tcp::{Config, Lifetimes, RfcState};
use earlybird_units::Duration;

#[test]
fn the_opener_sends_syn_then_ack_and_offers_mss_sack_timestamps_and_scale() {
    let mut host = Host::connect(&Config::rfc());
    host.is_in(RfcState::SynSent).sends(&["S 0:0(0) win 64000 <mss 1000,sackOK,TS 0/0,wscale 0>"]);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1460,sackOK,TS 700/0,wscale 2>");
    host.is_in(RfcState::Established).has_events(&[Established]).sends(&[". 1:1(0) ack 1 <TS 100/700>"]);
}

#[test]
fn the_listener_answers_with_what_was_offered() {
    let mut host = Host::listen(&Config::rfc());
    host.is_in(RfcState::Listen).sends_nothing();
    host.receives("S 0:0(0) <mss 1000,sackOK,TS 700/0,wscale 3>");
    host.is_in(RfcState::SynReceived).sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK,TS 0/700,wscale 0>"]);
    host.at(100).receives(". 1:1(0) ack 1 <TS 800/0>");
    host.is_in(RfcState::Established).has_events(&[Established]).sends_nothing();
}

#[test]
fn the_listener_answers_with_only_mss_if_nothing_was_offered() {
    let mut host = Host::listen(&Config::rfc());
    host.receives("S 0:0(0)").sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000>"]);
}

/// RFC 7323 §2.2 and §3.2, RFC 2018 §2: options hold if both sides sent them. RFC 9293 §3.7.1: 536 bytes by default.
#[test]
fn refused_options_are_not_used_and_a_peer_without_mss_option_gets_536_bytes() {
    let mut host = Host::connect(&Config::rfc());
    host.forget_sent().at(100).receives("S. 0:0(0) ack 1");
    host.sends(&[". 1:1(0) ack 1 win 64000"]);
    host.receives(". 1001:2001(1000) ack 1").sends(&[". 1:1(0) ack 1"]);
    host.write(600).sends(&[". 1:537(536) ack 1", "P. 537:601(64) ack 1"]);
}

#[test]
fn the_smaller_mss_holds() {
    let mut host = Host::connect(&plain());
    host.forget_sent().receives("S. 0:0(0) ack 1 <mss 500>").forget_sent();
    host.write(600).sends(&[". 1:501(500) ack 1 win 64000", ". 501:601(100) ack 1"]);
}

/// RFC 7323 §2.3: the smallest shift with which 128,000 bytes fit into 16 bits is 1; §2.2: not in the SYN itself.
#[test]
fn a_buffer_of_128000_bytes_is_advertised_with_shift_1_but_65535_in_the_syn() {
    let mut host = Host::connect(&plain().with_max_window(128));
    host.sends(&["S 0:0(0) win 65535 <mss 1000,sackOK,wscale 1>"]);
    host.receives("S. 0:0(0) ack 1 <mss 1000,wscale 0>").sends(&[". 1:1(0) ack 1 win 64000"]);
}

#[test]
fn a_peer_that_does_not_scale_sees_65535_of_128000_bytes() {
    let mut host = Host::connect(&plain().with_max_window(128));
    host.forget_sent().receives("S. 0:0(0) ack 1 <mss 1000>").sends(&[". 1:1(0) ack 1 win 65535"]);
}

/// RFC 7323 §2.2: the window in a SYN-ACK counts bytes; 2000 of them let two segments go. §2.3: later ones are shifted.
#[test]
fn the_window_of_a_syn_ack_is_not_shifted_the_next_one_is() {
    let mut host = Host::connect(&plain().with_initial_window(10));
    host.receives("S. 0:0(0) ack 1 win 2000 <mss 1000,sackOK,wscale 7>").forget_sent();
    host.write(100_000).sends_numbers(&[1, 2]);
    // 39·2^7 = 4992 bytes from position 1 on: four segments.
    host.receives(". 1:1(0) ack 1 win 39").sends_numbers(&[3, 4]);
}

/// RFC 7323 §2.3: "If a Window Scale option is received with a shift.cnt value larger than 14, the TCP SHOULD log the
/// error but MUST use 14".
#[test]
fn a_shift_of_255_counts_as_14() {
    let mut host = Host::connect(&plain().with_initial_window(64));
    host.receives("S. 0:0(0) ack 1 win 0 <mss 1000,sackOK,wscale 255>").forget_sent();
    // 1·2^14 = 16,384 bytes.
    host.write(100_000).receives(". 1:1(0) ack 1 win 1");
    host.sends_numbers(&(1..=16).collect::<Vec<_>>());
}

/// RFC 6298 (2.1): 1 s before the first sample; (5.5): doubled each time, here up to the ceiling of 60 s.
#[test]
fn a_lost_syn_is_retransmitted_after_1_2_4_8_16_32_60_60_s() {
    let mut host = Host::connect(&plain().with_lifetimes(Lifetimes::UNLIMITED));
    host.at(200_000);
    let times = [0, 1, 3, 7, 15, 31, 63, 123, 183];
    host.sends_timed(&times.map(|second| (second * 1000, 0)));
}

/// RFC 5681 §3.1: one segment if the SYN or SYN-ACK was lost. RFC 6298 (5.7): the timeout starts again at 3 s.
#[test]
fn after_a_lost_syn_one_segment_goes_and_its_timeout_is_3_s() {
    let mut host = Host::connect(&plain());
    host.at(1000).forget_sent().at(1100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").forget_sent();
    assert_eq!(host.timeout(), 3000);
    host.write(10_000).sends_numbers(&[1]);
    assert_eq!(host.deadline(), Some(4100));
    // A sample ends it (§2.3): 100 ms give 300 ms, and the floor 1 s (2.4).
    host.at(1200).ack(2, &[]);
    assert_eq!(host.timeout(), 1000);
}

#[test]
fn after_a_lost_syn_ack_the_listener_repeats_it_and_starts_with_one_segment() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").at(1000);
    host.sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>", "S. 0:0(0) ack 1 <mss 1000,sackOK>"]);
    host.at(1100).receives(". 1:1(0) ack 1").write(10_000);
    host.sends_numbers(&[1]);
}

#[test]
fn a_repeated_syn_gets_the_same_syn_ack() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent();
    host.at(900).receives("S 0:0(0) <mss 1000,sackOK>").sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>"]);
}

/// RFC 9293 §3.5: every segment from then on carries an ACK, so the first with data will do.
/// RFC 6298 §3, Karn's rule: nobody can know which of two answers the peer acknowledges.
#[test]
fn an_answer_that_went_twice_measures_no_round_trip() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000>").at(600).receives("S 0:0(0) <mss 1000>").at(700).receives(". 1:1(0) ack 1");
    assert_eq!(host.connection.timer().smoothed, None);
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000>").at(700).receives(". 1:1(0) ack 1");
    assert_eq!(host.connection.timer().smoothed, Some(Duration::from_millis(700)));
}

#[test]
fn if_the_handshakes_last_ack_is_lost_the_first_data_segment_establishes() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent();
    host.receives(". 1:1001(1000) ack 1").is_in(RfcState::Established).sends(&[". 1:1(0) ack 1001 win 63000"]);
    assert_eq!(host.connection.received(), 1000);
}

/// RFC 5961 §4.2: a SYN in a synchronised state is answered by an ACK, whatever its number.
#[test]
fn a_repeated_syn_ack_gets_an_ack() {
    let mut host = Host::connected(&plain());
    host.receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").sends(&[". 1:1(0) ack 1 win 64000"]);
    host.is_in(RfcState::Established);
}

/// RFC 9293 figure 7: SYN crosses SYN, SYN-ACK crosses SYN-ACK.
#[test]
fn both_open_at_once() {
    let mut host = Host::connect(&plain());
    host.forget_sent().at(50).receives("S 0:0(0) <mss 1000,sackOK>");
    host.is_in(RfcState::SynReceived).sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>"]);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
    host.is_in(RfcState::Established).has_events(&[Established]).sends(&[". 1:1(0) ack 1"]);
    host.write(1000).sends(&[". 1:1001(1000) ack 1"]);
}

/// RFC 9293 §3.10.7.4, fifth, SYN-RECEIVED: "If the segment acknowledgment is not acceptable, form a reset segment".
#[test]
fn an_ack_of_something_never_sent_does_not_establish_and_is_reset() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000>").forget_sent();
    host.receives(". 1:1(0) ack 777").is_in(RfcState::SynReceived).has_events(&[]).sends(&["R 777:777(0) win 0"]);
    host.receives(". 1:1(0) ack 1").is_in(RfcState::Established);
}

/// RFC 9293 §3.10.7.3, first: the half-open connection of figure 9 is cleared this way.
#[test]
fn a_wrong_ack_of_the_syn_is_reset_and_the_syn_goes_on() {
    let mut host = Host::connect(&plain());
    host.forget_sent().receives(". 400:400(0) ack 300").is_in(RfcState::SynSent).sends(&["R 300:300(0) win 0"]);
    host.receives("S. 0:0(0) ack 1 <mss 1000>").is_in(RfcState::Established);
}

/// RFC 9293 §3.10.7.2: "Any acknowledgment is bad if it arrives on a connection still in the LISTEN state".
#[test]
fn a_listener_resets_an_ack_and_ignores_a_reset() {
    let mut host = Host::listen(&plain());
    host.receives(". 5:5(0) ack 9").sends(&["R 9:9(0) win 0"]);
    host.receives("R 5:5(0)").is_in(RfcState::Listen).sends_nothing();
}

#[test]
fn a_reset_that_acknowledges_the_syn_refuses_the_connection() {
    let mut host = Host::connect(&plain());
    host.forget_sent().receives("R 0:0(0)").receives("R. 0:0(0) ack 9").is_in(RfcState::SynSent);
    host.receives("R. 0:0(0) ack 1").is_in(RfcState::Closed).has_events(&[Refused]).sends_nothing();
    assert_eq!(host.deadline(), None);
}

/// RFC 5961 §3.2: exactly the next number resets; another one in the window is challenged.
#[test]
fn a_reset_of_a_half_open_connection_counts_at_the_next_number_only() {
    let mut host = Host::listen(&plain());
    host.receives("S 0:0(0) <mss 1000>").forget_sent();
    host.receives("R 2:2(0)").is_in(RfcState::SynReceived);
    host.receives("R 1:1(0)").is_in(RfcState::Closed).has_events(&[Reset]);
    assert_eq!(host.deadline(), None);
}

#[test]
fn an_aborted_opener_is_silent() {
    let mut host = Host::connect(&plain());
    host.forget_sent().abort().is_in(RfcState::Closed).sends_nothing();
    assert_eq!(host.deadline(), None);
}

/// RFC 9293 §3.10.7.2 lets data on a SYN wait for the handshake, and so they do where they came from: they are not
/// acknowledged, and come again. The FIN behind them too.
#[test]
fn data_and_a_fin_on_a_syn_are_taken_when_they_are_retransmitted() {
    let mut host = Host::listen(&plain());
    host.receives("SF 0:100(100) <mss 1000,sackOK>").is_in(RfcState::SynReceived).has_events(&[]);
    host.sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>"]);
    host.receives(". 1:1(0) ack 1").is_in(RfcState::Established);
    assert_eq!(host.connection.received(), 0);
    host.receives("F. 1:101(100) ack 1").is_in(RfcState::CloseWait).sends(&[". 1:1(0) ack 102 win 63900"]);
    assert_eq!(host.connection.received(), 100);
}

/// RFC 9293 §3.10.7.3, fourth: the SYN-ACK may carry data.
#[test]
fn data_on_a_syn_ack_are_taken() {
    let mut host = Host::connect(&plain());
    host.forget_sent().receives("S. 0:100(100) ack 1 <mss 1000>").is_in(RfcState::Established);
    host.sends(&[". 1:1(0) ack 101 win 63900"]);
    assert_eq!(host.connection.received(), 100);
}

/// RFC 9293 §3.10.7.3: data on a SYN that crosses ours come again behind the handshake.
#[test]
fn both_open_at_once_with_data_on_one_syn() {
    let mut host = Host::connect(&plain());
    host.forget_sent().receives("S 0:100(100) <mss 1000,sackOK>").is_in(RfcState::SynReceived);
    host.sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>"]);
    host.receives(". 1:101(100) ack 1").is_in(RfcState::Established).sends(&[". 1:1(0) ack 101 win 63900"]);
    assert_eq!(host.connection.received(), 100);
}

/// RFC 9293 figure 7 with losses: one side's SYN-ACK is lost, and its retransmission establishes the other.
#[test]
fn both_open_at_once_and_a_syn_ack_is_lost() {
    let mut host = Host::connect(&plain());
    host.receives("S 0:0(0) <mss 1000,sackOK>").forget_sent();
    host.at(1000).sends(&["S. 0:0(0) ack 1 win 64000 <mss 1000,sackOK>"]).is_in(RfcState::SynReceived);
    host.at(1100).receives(". 1:1(0) ack 1").is_in(RfcState::Established).sends_nothing();
}

/// RFC 9293 §3.10.7.3, fifth: "if neither of the SYN or RST bits is set, then drop the segment and return"; and before, an
/// acceptable ACK alone opens nothing.
#[test]
fn an_opener_drops_what_is_neither_syn_nor_reset() {
    let mut host = Host::connect(&plain());
    host.forget_sent().receives(". 1:101(100) ack 1").receives("F. 1:1(0) ack 1").receives("F 1:1(0)");
    host.receives(" 1:1(0)").is_in(RfcState::SynSent).has_events(&[]).sends_nothing();
}

/// RFC 9293 §3.5.1: resets for an earlier connection, but not for each segment of a storm.
#[test]
fn a_storm_of_wrong_acks_of_the_syn_gets_two_resets_a_second() {
    let mut hosts = [Host::connect(&plain()), Host::listen(&plain())];
    hosts[1].receives("S 0:0(0) <mss 1000>");
    for host in &mut hosts {
        for millis in 0..10_000 {
            host.at(millis).receives(". 1:1(0) ack 777");
        }
        let resets = host.take_texts().iter().filter(|text| text.starts_with('R')).count();
        assert_eq!((resets, host.connection.drop_counters().acks_ahead), (20, 10_000));
    }
}

/// RFC 6093 §5 and RFC 9293 §3.8.5: urgent data stay in line, and the flag changes nothing.
#[test]
fn urgent_data_are_read_in_line() {
    let mut host = Host::accepted(&plain());
    host.receives("U. 1:101(100) ack 1").receives("UP. 101:102(1) ack 1").forget_sent();
    assert_eq!((host.read(1000), host.connection.received()), (101, 101));
    host.receives("SU 500:500(0)").is_in(RfcState::Established);
}
