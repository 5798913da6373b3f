//! Segments that a peer, or a host that spoofs one, may send in every state: RFC 9293 §3.10.7, RFC 5961.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::{Aborted, Refused, Reset};
use earlybird_tcp::{Ending, RfcState};
use rstest::rstest;
use std::iter;

/// The synchronized states before TIME-WAIT, in which some FIN or its ACK is still missing.
const OPEN: [RfcState; 6] = [
    RfcState::Established,
    RfcState::FinWait1,
    RfcState::FinWait2,
    RfcState::CloseWait,
    RfcState::Closing,
    RfcState::LastAck,
];

/// The states in which a reset is obeyed and a SYN is not.
fn with_a_peer() -> impl Iterator<Item = RfcState> {
    iter::once(RfcState::SynReceived).chain(OPEN)
}

const BEHIND_THE_PEERS_FIN: [RfcState; 4] =
    [RfcState::CloseWait, RfcState::Closing, RfcState::LastAck, RfcState::TimeWait];

/// A connection in a state, at 200 ms; nothing of what led there is left to look at.
#[expect(clippy::print_stdout, reason = "a test of several states that fails shows in which")]
fn host_in(state: RfcState) -> Host {
    println!("in {state:?}");
    let mut host = match state {
        RfcState::SynSent => Host::connect(&plain()),
        RfcState::SynReceived => Host::listen(&plain()),
        _ => Host::connected(&plain()),
    };
    host.at(200);
    match state {
        RfcState::SynReceived => drop(host.receives("S 0:0(0) <mss 1000,sackOK>")),
        RfcState::FinWait1 => drop(host.shutdown()),
        RfcState::FinWait2 => drop(host.shutdown().receives(". 1:1(0) ack 2")),
        RfcState::CloseWait => drop(host.receives("F. 1:1(0) ack 1")),
        RfcState::Closing => drop(host.shutdown().receives("F. 1:1(0) ack 1")),
        RfcState::LastAck => drop(host.receives("F. 1:1(0) ack 1").shutdown()),
        RfcState::TimeWait => drop(host.shutdown().receives("F. 1:1(0) ack 2")),
        _ => {}
    }
    while host.connection.poll_event().is_some() {}
    host.is_in(state).forget_sent();
    host
}

/// Returns the number that is expected next of the peer, and the last one of ours that it may acknowledge.
fn numbers(state: RfcState) -> (u32, u32) {
    use RfcState::{CloseWait, Closing, FinWait1, FinWait2, LastAck, TimeWait};
    let has_peers_fin = matches!(state, CloseWait | Closing | LastAck | TimeWait);
    let has_our_fin = matches!(state, FinWait1 | FinWait2 | Closing | LastAck | TimeWait);
    (1 + u32::from(has_peers_fin), 1 + u32::from(has_our_fin))
}

/// The bare ACK that says what is expected.
fn challenge(state: RfcState) -> String {
    let (peer, own) = numbers(state);
    format!(". {own}:{own}(0) ack {peer} win 64000")
}

/// RFC 9293 §3.10.7.4, second; RFC 5961 §3.2, 1. In TIME-WAIT it is not obeyed (RFC 1337).
#[test]
fn a_reset_at_the_number_expected_ends_the_connection_in_every_state() {
    for state in with_a_peer() {
        let mut host = host_in(state);
        let (next, _) = numbers(state);
        host.receives(&format!("R {next}:{next}(0)")).is_in(RfcState::Closed).has_events(&[Reset]).sends_nothing();
        assert_eq!((host.deadline(), host.connection.ending()), (None, Some(Ending::Reset)));
    }
}

/// RFC 9293 §3.10.7.3: it must acknowledge the SYN, and then it says that nobody listens.
#[test]
fn a_reset_refuses_an_opener_only_if_it_acknowledges_the_syn() {
    let mut host = host_in(RfcState::SynSent);
    host.receives("R 0:0(0)").receives("R. 0:0(0) ack 0").receives("R. 0:0(0) ack 2").is_in(RfcState::SynSent);
    host.sends_nothing().receives("R. 0:0(0) ack 1").is_in(RfcState::Closed).has_events(&[Refused]).sends_nothing();
}

/// RFC 5961 §3.2, 2 and 3, §4.2.
#[rstest]
fn resets_elsewhere_and_syns_end_no_connection_in_any_state(
    #[values(("R", 7, true), ("R", 100_000, false), ("R", 4_294_000_000, false), ("S", 7, true), ("S", 100_000, true))]
    (flag, number, is_answered): (&str, u32, bool),
) {
    for state in with_a_peer() {
        let mut host = host_in(state);
        host.receives(&format!("{flag} {number}:{number}(0)")).is_in(state).has_events(&[]);
        let answer = challenge(state);
        assert_eq!(host.take_texts(), if is_answered { vec![answer] } else { Vec::new() });
    }
}

/// RFC 9293 §3.10.7.4, fifth: "If the ACK acks something not yet sent, then send an ACK, drop the segment, and return."
#[test]
fn an_ack_of_what_was_never_sent_changes_nothing_in_any_open_state() {
    for state in OPEN {
        let mut host = host_in(state);
        let (next, own) = numbers(state);
        host.receives(&format!(". {next}:{next}(0) ack {}", own + 1))
            .is_in(state)
            .has_events(&[])
            .sends(&[&challenge(state)]);
    }
}

/// RFC 9293 §3.10.7.3, first, and §3.10.7.4, fifth: before the connection is open it is reset, with the number that it spoke of.
#[rstest]
fn an_ack_of_what_was_never_sent_is_reset_while_the_connection_opens(
    #[values(RfcState::SynSent, RfcState::SynReceived)] state: RfcState,
) {
    let mut host = host_in(state);
    host.receives(". 1:1(0) ack 2").is_in(state).has_events(&[]).sends(&["R 2:2(0) win 0"]);
}

/// RFC 9293 §3.10.7.4, first: what lies outside the window is answered, so that a peer that lost its way finds back.
#[rstest]
fn what_lies_outside_the_window_is_answered_and_not_taken_in_any_open_state(
    #[values((". 0:0(0)", 0), (". 100000:100100(100)", 0), ("F. 100000:100000(0)", 0))] (segment, taken): (&str, u64),
) {
    for state in OPEN {
        let mut host = host_in(state);
        let (_, own) = numbers(state);
        host.receives(&format!("{segment} ack {}", own - u32::from(own > 1))).is_in(state).has_events(&[]);
        assert_eq!((host.take_texts().len(), host.connection.received()), (1, taken));
    }
}

/// RFC 9293 §3.10.7.4, eighth: its sender has not got the ACK.
#[test]
fn a_repeated_fin_is_acknowledged_each_time() {
    for state in BEHIND_THE_PEERS_FIN {
        let mut host = host_in(state);
        let (_, own) = numbers(state);
        let acked = if state == RfcState::TimeWait { own } else { 1 };
        host.receives(&format!("F. 1:1(0) ack {acked}")).is_in(state).has_events(&[]);
        let answers = host.take_texts();
        assert!(answers.len() == 1 && answers[0].contains(" ack 2 "), "{answers:?}");
    }
}

/// RFC 9293 §3.10.7.4, seventh: a peer that has said FIN has said everything; what it sends behind that is no part of the stream.
#[test]
fn data_behind_the_peers_fin_are_no_part_of_the_stream() {
    for state in BEHIND_THE_PEERS_FIN {
        let mut host = host_in(state);
        host.receives(". 2:102(100) ack 1").is_in(state).has_events(&[]);
        assert_eq!(host.connection.received(), 0);
    }
}

/// RFC 9293 §3.10.7.4, seventh: ESTABLISHED, FIN-WAIT-1 and FIN-WAIT-2 take data.
#[rstest]
fn data_are_taken_until_the_peers_fin(
    #[values(RfcState::Established, RfcState::FinWait1, RfcState::FinWait2)] state: RfcState,
) {
    let mut host = host_in(state);
    let (_, own) = numbers(state);
    host.receives(&format!(". 1:101(100) ack {own}"));
    assert_eq!(host.connection.received(), 100);
}

/// RFC 9293 §3.10.4 and §3.10.5: what is there after an abort is nothing, and only where there was a peer does it hear of it.
#[rstest]
#[case::nobody_was_told(RfcState::SynSent, &[])]
#[case::half_open(RfcState::SynReceived, &["R. 1:1(0) ack 1 win 64000"])]
#[case::open(RfcState::Established, &["R. 1:1(0) ack 1 win 64000"])]
#[case::closing(RfcState::FinWait1, &["R. 2:2(0) ack 1 win 64000"])]
#[case::half_closed(RfcState::FinWait2, &["R. 2:2(0) ack 1 win 64000"])]
#[case::closed_by_the_peer(RfcState::CloseWait, &["R. 1:1(0) ack 2 win 64000"])]
#[case::done(RfcState::TimeWait, &[])]
fn an_abort_resets_the_peer_in_every_state_in_which_there_is_one(#[case] state: RfcState, #[case] sent: &[&str]) {
    let mut host = host_in(state);
    host.abort().is_in(RfcState::Closed).sends(sent);
    assert_eq!(host.deadline(), None);
}

/// RFC 9293 §3.6.1: data that come for an application that has gone are lost, and their sender hears so.
#[rstest]
#[case::our_fin_is_on_its_way(RfcState::FinWait1, 1)]
#[case::our_fin_has_arrived(RfcState::FinWait2, 2)]
fn data_for_an_application_that_has_gone_reset_the_peer(#[case] state: RfcState, #[case] expected: u64) {
    let mut host = host_in(state);
    host.close().receives(&format!(". 1:101(100) ack {expected}")).is_in(RfcState::Closed).has_events(&[Aborted]);
    host.sends(&[&format!("R {expected}:{expected}(0) win 0")]);
}
