//! Resets, and what else blind attackers try: RFC 9293 §3.5.2, RFC 5961.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::{Established, Reset};
use earlybird_tcp::{RfcState, WriteError};

/// RFC 5961 §3.2, 1.
#[test]
fn a_reset_at_exactly_the_expected_number_ends_the_connection() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).write(1000).forget_sent();
    host.receives("R 1:1(0)").is_in(RfcState::Closed).has_events(&[Reset]).sends_nothing();
    assert_eq!(host.deadline(), None);
}

/// RFC 5961 §3.2, 2: a challenge ACK; a peer that has really reset answers it with a reset at the right number.
#[test]
fn a_reset_elsewhere_in_the_window_is_challenged() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]);
    host.receives("R 2:2(0)").is_in(RfcState::Established).has_events(&[]).sends(&[". 1:1(0) ack 1 win 64000"]);
    host.receives("R 1:1(0)").is_in(RfcState::Closed);
}

/// RFC 5961 §3.2, 3.
#[test]
fn a_reset_outside_the_window_is_dropped_silently() {
    let mut host = Host::connected(&plain());
    host.receives("R 64002:64002(0)").receives("R 0:0(0)").is_in(RfcState::Established).sends_nothing();
}

/// RFC 5961 §4.2.
#[test]
fn a_syn_in_an_open_connection_is_challenged() {
    let mut host = Host::connected(&plain());
    host.receives("S 500:500(0)").at(600).receives("S 70000:70000(0)");
    host.is_in(RfcState::Established).sends(&[". 1:1(0) ack 1 win 64000", ". 1:1(0) ack 1"]);
}

/// RFC 9293 §3.10.7.4, fifth: "If the ACK acks something not yet sent, then send an ACK, drop the segment, and return."
#[test]
fn a_segment_that_acknowledges_what_was_never_sent_is_dropped_with_its_data() {
    let mut host = Host::connected(&plain());
    host.write(1000).forget_sent();
    host.receives(". 1:101(100) ack 1002").sends(&[". 1001:1001(0) ack 1 win 64000"]);
    assert_eq!((host.connection.received(), host.connection.outstanding()), (0, 1));
}

#[test]
fn a_segment_without_ack_is_dropped() {
    let mut host = Host::connected(&plain());
    let without_flags = " 1:101(100)";
    host.receives(without_flags).sends_nothing();
    assert_eq!(host.connection.received(), 0);
}

#[test]
fn an_abort_sends_one_reset_and_nothing_after_it() {
    let mut host = Host::connected(&plain());
    host.write(1000).forget_sent().abort();
    host.is_in(RfcState::Closed).sends(&["R. 1001:1001(0) ack 1 win 64000"]);
    assert_eq!(host.deadline(), None);
    host.is_refused(1000, WriteError::Closed).shutdown().sends_nothing();
}

/// RFC 9293 §3.10.7.1: with an ACK `<SEQ=SEG.ACK><CTL=RST>`, without one `<SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>`.
#[test]
fn a_closed_connection_answers_with_a_reset_that_will_be_believed() {
    let mut host = Host::connected(&plain());
    host.write(2000).forget_sent().abort().forget_sent();
    // Only the first segment arrived, so the reset at 2001 was challenged; now comes the right number.
    host.receives(". 1:1(0) ack 1001").sends(&["R 1001:1001(0) win 0"]);
    host.receives("R 1:1(0)").receives("R. 1:1(0) ack 1001").sends_nothing();
}

#[test]
fn an_abort_with_a_delayed_ack_due_leaves_no_timer() {
    let acking = earlybird_tcp::Acking::Delayed(earlybird_units::Duration::from_millis(200));
    let mut host = Host::accepted(&plain().with_acking(acking));
    host.receives(". 1:1001(1000) ack 1").abort().sends(&["R. 1:1(0) ack 1001 win 63000"]);
    assert_eq!(host.deadline(), None);
}

/// RFC 9293 §3.10.7.1: "All data in the incoming segment is discarded"; the reset covers them.
#[test]
fn a_closed_connection_answers_a_syn_with_data_with_a_reset_that_acknowledges_all() {
    let mut host = Host::listen(&plain());
    host.shutdown().receives("S 0:100(100) <mss 1000>").sends(&["R. 0:0(0) ack 101 win 0"]);
    host.receives("F 500:510(10)").sends(&["R. 0:0(0) ack 511"]);
}
