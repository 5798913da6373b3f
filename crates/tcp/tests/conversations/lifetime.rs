//! The end of a connection whose peer does not answer: RFC 9293 §3.8.3 and §3.8.4, RFC 1122 §4.2.3.5 and §4.2.3.6, RFC 5482.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::Event::{
    Aborted, Closed, Drained, Established, PeerClosed, Readable, Refused, Reset, TimedOut, Unanswered,
};
use earlybird_tcp::{Config, Ending, KeepAlive, Lifetimes, RfcState};
use earlybird_units::Duration;

const MINUTE: u64 = 60_000;

fn living(lifetimes: Lifetimes) -> Config {
    plain().with_lifetimes(lifetimes)
}

#[track_caller]
fn is_over(host: &mut Host, ending: Ending) {
    host.is_in(RfcState::Closed).forget_sent().at(100 * 60 * MINUTE).sends_nothing();
    assert_eq!((host.connection.ending(), host.deadline()), (Some(ending), None));
}

/// RFC 9293 §3.8.3: R2 of a SYN is at least three minutes; Linux' six retries are 127 s.
#[test]
fn a_syn_without_answer_is_given_up_after_three_minutes() {
    for (lifetimes, seconds) in [(Lifetimes::RFC, 180), (Lifetimes::LINUX, 127)] {
        let mut host = Host::connect(&living(lifetimes));
        host.at(seconds * 1000 - 1).is_in(RfcState::SynSent);
        assert_eq!(host.take_numbers().len(), 8);
        host.at(seconds * 1000).has_events(&[TimedOut, Unanswered]).sends_nothing();
        is_over(&mut host, Ending::TimedOut);
    }
}

#[test]
fn a_syn_ack_without_answer_is_given_up() {
    for (lifetimes, seconds) in [(Lifetimes::RFC, 180), (Lifetimes::LINUX, 63)] {
        let mut host = Host::listen(&living(lifetimes));
        host.at(5000).receives("S 0:0(0) <mss 1000>").at(5000 + seconds * 1000 - 1).is_in(RfcState::SynReceived);
        host.at(5000 + seconds * 1000);
        is_over(&mut host, Ending::TimedOut);
    }
}

/// RFC 9293 §3.8.3: R2 counts from the last progress, and the application hears of trouble before, at R1.
#[test]
fn data_without_acknowledgement_end_the_connection_five_minutes_after_the_last_progress() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).at(10_000).write(2000);
    host.at(60_000).has_events(&[Unanswered]).ack(2, &[]).has_events(&[]);
    host.at(60_000 + 5 * MINUTE - 1).is_in(RfcState::Established).has_events(&[Unanswered]);
    host.at(60_000 + 5 * MINUTE).has_events(&[TimedOut]);
    is_over(&mut host, Ending::TimedOut);
}

/// R1 is at three retransmissions: 1, 3 and 7 s after the first; the fourth is due 15 s after it.
#[test]
fn the_application_is_notified_of_three_unanswered_retransmissions() {
    let mut host = Host::connected(&plain());
    host.has_events(&[Established]).write(1000).at(15_099).has_events(&[]).at(15_100).has_events(&[Unanswered]);
    host.at(16_000).ack(2, &[]).has_events(&[Drained]).is_in(RfcState::Established);
}

#[test]
fn a_fin_without_answer_is_given_up() {
    let mut host = Host::connected(&plain());
    host.shutdown().at(100 + 5 * MINUTE);
    is_over(&mut host, Ending::TimedOut);
}

/// ns-2's agents never end by themselves.
#[test]
fn without_limits_a_connection_tries_for_ever() {
    let mut host = Host::connected(&living(Lifetimes::UNLIMITED));
    host.write(1000).at(48 * 60 * MINUTE).is_in(RfcState::Established);
    assert!(host.take_numbers().len() > 48 * 60 - 10);
}

/// RFC 5482: exactly when the application asked for it, and not only when the next retransmission is due.
#[test]
fn a_user_timeout_ends_the_connection_so_long_after_the_last_progress() {
    let mut host = Host::connected(&plain());
    host.user_timeout(Some(Duration::from_millis(1700))).at(10_000).has_events(&[Established]).write(2000);
    host.at(11_000).ack(2, &[]).at(12_699).is_in(RfcState::Established).at(12_700).has_events(&[TimedOut]);
    is_over(&mut host, Ending::TimedOut);
}

#[test]
fn a_user_timeout_does_not_end_an_idle_connection() {
    let mut host = Host::connected(&plain());
    host.user_timeout(Some(Duration::from_secs(1))).write(1000).at(200).ack(2, &[]).at(60 * MINUTE);
    host.is_in(RfcState::Established).write(1000).at(60 * MINUTE + 100).ack(3, &[]).is_in(RfcState::Established);
}

/// RFC 9293 §3.8.6.1: "As long as the receiving TCP peer continues to send acknowledgments in response to the probe segments,
/// the sending TCP peer MUST allow the connection to stay open."
#[test]
fn a_peer_that_never_reads_but_answers_keeps_the_connection_open() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 0").write(1000).forget_sent();
    for minute in 0..600 {
        host.at(1000 + minute * MINUTE).receives(". 1:1(0) ack 1 win 0").is_in(RfcState::Established);
    }
}

#[test]
fn a_peer_that_closed_its_window_and_went_away_is_given_up() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 0").at(60 * MINUTE).has_events(&[Established]).write(1000).forget_sent();
    // The first probe, to which nothing comes, is a timeout after the write.
    host.at(65 * MINUTE + 999).is_in(RfcState::Established).at(65 * MINUTE + 1000).has_events(&[TimedOut]);
    is_over(&mut host, Ending::TimedOut);
}

/// RFC 9293 §3.8.6: a sender "SHOULD NOT time out the connection if data beyond the right window edge is not acknowledged".
#[test]
fn a_peer_that_took_its_window_back_but_answers_keeps_the_connection_open() {
    let mut host = Host::connected(&plain());
    host.write(1000).receives(". 1:1(0) ack 1 win 0").sends_numbers(&[1]);
    for minute in 0..600 {
        host.at(1000 + minute * MINUTE).receives(". 1:1(0) ack 1 win 0").is_in(RfcState::Established);
    }
    host.forget_sent().at(600 * MINUTE).receives(". 1:1(0) ack 1 win 1000").at(601 * MINUTE);
    assert!(host.take_numbers().contains(&1));
    host.ack(2, &[]).write(1000).sends_numbers(&[2]);
}

/// Something was acknowledged before; what the window still holds is a segment as any other.
#[test]
fn only_a_segment_beyond_the_window_waits_for_that_and_not_for_an_ack() {
    for (window, is_open) in [(999, true), (1000, false)] {
        let mut host = Host::connected(&plain());
        host.write(2000).ack(2, &[]).receives(&format!(". 1:1(0) ack 1001 win {window}"));
        for minute in 0..60 {
            host.at(1000 + minute * MINUTE).receives(&format!(". 1:1(0) ack 1001 win {window}"));
        }
        assert_eq!(host.connection.state() == RfcState::Established, is_open, "{window}");
    }
}

#[test]
fn a_peer_that_took_its_window_back_and_went_away_is_given_up() {
    let mut host = Host::connected(&plain());
    host.write(1000).receives(". 1:1(0) ack 1 win 0").at(1100 + 5 * MINUTE - 1).is_in(RfcState::Established);
    host.at(1100 + 5 * MINUTE);
    is_over(&mut host, Ending::TimedOut);
}

/// RFC 6429 §4: an application may end it. From the first probe on, one second after the write.
#[test]
fn a_user_timeout_ends_a_connection_to_a_peer_that_never_reads() {
    let mut host = Host::connected(&plain());
    host.user_timeout(Some(Duration::from_secs(30))).receives(". 1:1(0) ack 1 win 0").write(1000);
    for second in 1..31 {
        host.at(100 + second * 1000).receives(". 1:1(0) ack 1 win 0").is_in(RfcState::Established);
    }
    host.at(31_100).has_events(&[Established, TimedOut]);
}

const KEEP_ALIVE: KeepAlive =
    KeepAlive { idle: Duration::from_secs(100), interval: Duration::from_secs(10), probes: 3 };

/// RFC 9293 §3.8.4: off by default; without data, one below SND.NXT.
#[test]
fn a_silent_peer_is_asked_only_where_that_is_wanted() {
    let mut host = Host::connected(&plain());
    host.at(48 * 60 * MINUTE).sends_nothing().is_in(RfcState::Established);
    let mut host = Host::connected(&living(Lifetimes { keep_alive: Some(KEEP_ALIVE), ..Lifetimes::RFC }));
    host.at(100_099).sends_nothing().at(100_100).sends(&[". 0:0(0) ack 1 win 64000"]);
    // An answer begins the wait anew, and so do data.
    host.at(100_200).receives(". 1:1(0) ack 1").at(200_199).sends_nothing().at(200_200).sends(&[". 0:0(0) ack 1"]);
    host.at(200_300).receives(". 1:101(100) ack 1").forget_sent().at(300_299).sends_nothing();
    host.at(300_300).sends(&[". 0:0(0) ack 101 win 63900"]);
}

#[test]
fn a_peer_that_answers_to_no_probe_is_gone_and_reset() {
    let mut host = Host::connected(&plain());
    host.keep_alive(Some(KEEP_ALIVE)).has_events(&[Established]);
    host.at(129_999).has_events(&[]);
    assert_eq!(host.take_texts().len(), 3);
    host.at(130_100).sends(&["R. 1:1(0) ack 1"]).has_events(&[TimedOut]);
    is_over(&mut host, Ending::TimedOut);
}

/// RFC 1122 §4.2.3.6 asks only an idle peer; the retransmissions ask the other.
#[test]
fn with_data_outstanding_no_keep_alive_probe_leaves() {
    let mut host = Host::connected(&living(Lifetimes { keep_alive: Some(KEEP_ALIVE), ..Lifetimes::RFC }));
    host.write(1000).forget_sent().at(250_000);
    assert!(host.take_texts().iter().all(|text| text.starts_with(". 1:1001(1000)")));
    host.ack(2, &[]).at(349_999).sends_nothing().at(360_000);
    assert_eq!(host.take_texts().len(), 2);
}

/// A blind segment is no sign of life.
#[test]
fn what_is_not_believed_does_not_answer_a_keep_alive_probe() {
    let mut host = Host::connected(&plain());
    host.keep_alive(Some(KEEP_ALIVE));
    for second in 1..131 {
        host.at(100 + 1000 * second).receives(". 900000:900000(0) ack 1").receives("S 0:0(0)");
    }
    is_over(&mut host, Ending::TimedOut);
}

/// Linux' `tcp_fin_timeout`. Who only shut down its half may wait for the other as long as it likes (RFC 9293 §3.6).
#[test]
fn after_the_application_closed_the_peers_fin_is_awaited_for_a_minute() {
    let mut host = Host::connected(&plain());
    host.shutdown().at(200).receives(". 1:1(0) ack 2").at(100 * MINUTE).is_in(RfcState::FinWait2);
    host.close().at(101 * MINUTE - 1).is_in(RfcState::FinWait2).at(101 * MINUTE);
    is_over(&mut host, Ending::TimedOut);
    let mut host = Host::connected(&plain());
    host.close().at(200).receives(". 1:1(0) ack 2").at(59_999).receives("F. 1:1(0) ack 2").is_in(RfcState::TimeWait);
}

/// RFC 2525 §2.17, RFC 9293 §3.6.1: "its TCP SHOULD send a RST to show that data was lost".
#[test]
fn data_that_nobody_will_read_are_answered_with_a_reset() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:101(100) ack 1")
        .forget_sent()
        .close()
        .sends(&["R. 1:1(0) ack 101 win 63900"])
        .is_in(RfcState::Closed);
    assert_eq!(host.connection.ending(), Some(Ending::Aborted));
    let mut host = Host::connected(&plain());
    host.close().forget_sent().at(200).receives(". 1:1(0) ack 2").has_events(&[Established]);
    host.receives(". 1:101(100) ack 2").sends(&["R 2:2(0) win 0"]).has_events(&[Aborted]);
    is_over(&mut host, Ending::Aborted);
}

/// RFC 5961 §3.2: only a reset at exactly the number that the peer expects next counts.
#[test]
fn a_peer_that_our_fin_did_not_reach_believes_the_reset_of_data_that_nobody_will_read() {
    let mut host = Host::connected(&plain());
    host.close().sends(&["F. 1:1(0) ack 1 win 64000"]);
    host.receives(". 1:101(100) ack 1").sends(&["R 1:1(0) win 0"]).has_events(&[Established, Aborted]);
    is_over(&mut host, Ending::Aborted);
}

/// A peer that never reads holds no memory of one that has closed: 102 s in Linux.
#[test]
fn what_a_closed_application_left_to_send_is_given_up_sooner() {
    let mut host = Host::connected(&living(Lifetimes::LINUX));
    host.receives(". 1:1(0) ack 1 win 0").write(1000).close();
    for second in 1..105 {
        host.at(second * 1000).receives(". 1:1(0) ack 1 win 0");
    }
    is_over(&mut host, Ending::TimedOut);
}

/// Linux counts an orphan's probes from the close on; before, the application had all the time in the world.
#[test]
fn a_close_long_after_the_window_did_leaves_what_waits_its_full_time() {
    let mut host = Host::connected(&living(Lifetimes::LINUX));
    host.receives(". 1:1(0) ack 1 win 0").write(1000);
    for second in 1..500 {
        host.at(second * 1000).receives(". 1:1(0) ack 1 win 0");
    }
    host.close();
    for second in 500..601 {
        host.at(second * 1000).receives(". 1:1(0) ack 1 win 0").is_in(RfcState::FinWait1);
    }
    host.at(602_000);
    is_over(&mut host, Ending::TimedOut);
}

#[test]
fn the_end_of_a_connection_has_its_cause() {
    let mut host = Host::connect(&plain());
    host.receives("R. 0:0(0) ack 1").has_events(&[Refused]);
    is_over(&mut host, Ending::Refused);

    let mut host = Host::connect(&plain());
    host.receives("S 0:0(0) <mss 1000>").is_in(RfcState::SynReceived).receives("R 1:1(0)").has_events(&[Refused]);
    is_over(&mut host, Ending::Refused);

    let mut host = Host::connected(&plain());
    host.receives("R 1:1(0)").has_events(&[Established, Reset]);
    is_over(&mut host, Ending::Reset);

    let mut host = Host::accepted(&plain());
    host.abort();
    is_over(&mut host, Ending::Aborted);

    let mut host = Host::accepted(&plain());
    host.receives(". 1:101(100) ack 1").receives("F. 101:101(0) ack 1").shutdown().receives(". 102:102(0) ack 2");
    host.has_events(&[Established, Readable, PeerClosed, Closed]);
    is_over(&mut host, Ending::InOrder);

    assert_eq!(Host::connected(&plain()).connection.ending(), None);
}
