//! A peer that lies about times and about what it has got: RFC 7323 §4.1, RFC 2018 §8, RFC 2883.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{Config, Recovery, SpuriousDetection, Undo};
use earlybird_units::Duration;

const HOUR: u64 = 3_600_000;

/// After an hour of silence a segment goes twice: at one hour, and a second later. The handshake took 100 ms.
fn repeating(config: &Config) -> Host {
    let mut host = Host::connect(config);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 700/0>").at(HOUR).write(1000).forget_sent();
    host.at(HOUR + 1000).sends_timed(&[(HOUR + 1000, 1)]);
    host
}

/// Returns the smoothed round trip after the segment of [`repeating`] was acknowledged, another 400 ms later, with this echo.
fn smoothed_by(echo: u64) -> (Duration, u64) {
    let mut host = repeating(&Config::rfc());
    host.at(HOUR + 1400).receives(&format!(". 1:1(0) ack 1001 <TS 800/{echo}>"));
    assert_eq!(host.connection.outstanding(), 0);
    (host.connection.timer().smoothed.expect("a sample"), host.connection.drop_counters().echoes)
}

/// Only what lies between the first transmission and now can be an echo; the smoothed value was 100 ms.
#[test]
fn an_echo_of_a_time_at_which_nothing_it_answers_was_sent_measures_nothing() {
    let untouched = Duration::from_millis(100);
    for impossible in [0, 1, 100, HOUR - 1, HOUR + 1401, HOUR + 90_000, u64::from(u32::MAX)] {
        assert_eq!(smoothed_by(impossible), (untouched, 1), "{impossible}");
    }
    // ⅞·100 + ⅛·1400 and ⅞·100 + ⅛·400 and ⅞·100 ms.
    assert_eq!(smoothed_by(HOUR), (Duration::from_micros(262_500), 0));
    assert_eq!(smoothed_by(HOUR + 1000), (Duration::from_micros(137_500), 0));
    assert_eq!(smoothed_by(HOUR + 1400), (Duration::from_micros(87_500), 0));
}

/// RFC 3522 §3.2 reads an older time than the retransmission's as the first transmission's; zero was never one.
#[test]
fn an_impossible_echo_does_not_undo_a_reduction() {
    let spurious = SpuriousDetection { forward_rto: false, undo: Undo::Eifel };
    for (echo, undone) in [(0, 0), (HOUR - 1, 0), (HOUR, 1)] {
        let mut host = repeating(&Config::rfc().with_spurious(spurious));
        host.at(HOUR + 1050).receives(&format!(". 1:1(0) ack 1001 <TS 800/{echo}>"));
        assert_eq!(host.connection.statistics().reductions_undone, undone, "{echo}");
    }
}

/// A side that only receives looks at nothing of an ACK but what could be a lie.
#[test]
fn an_impossible_echo_was_not_counted_where_nothing_is_outstanding() {
    let spurious = SpuriousDetection { forward_rto: true, undo: Undo::Eifel };
    for (recovery, spurious) in [(Recovery::Rack, SpuriousDetection::default()), (Recovery::Rfc6675, spurious)] {
        let mut host = Host::connect(&Config::rfc().with_recovery_only(recovery).with_spurious(spurious));
        host.at(100)
            .receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 700/0>")
            .at(HOUR)
            .receives(". 1:1001(1000) ack 1 <TS 800/99>");
        assert_eq!(host.connection.drop_counters().echoes, 0, "{recovery:?}");
        host.receives(&format!(". 1001:2001(1000) ack 1 <TS 800/{}>", HOUR + 1));
        assert_eq!(host.connection.drop_counters().echoes, 1, "{recovery:?}");
    }
}

fn ten_outstanding(recovery: Recovery) -> Host {
    let mut host = Host::connected(&plain().with_initial_window(10).with_recovery_only(recovery));
    host.write(10_000);
    assert_eq!(host.take_numbers().len(), 10);
    host
}

/// RFC 2018 §4 describes what a block may be; neither of these can.
#[test]
fn blocks_of_sack_beyond_what_was_sent_or_turned_round_mark_nothing() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack, Recovery::Sack1] {
        let mut host = ten_outstanding(recovery);
        for lie in ["10001:10002", "2001:11001", "3001:2001", "5001:5001", "4000000000:4000001000", "2001:4000000000"] {
            host.at(200).receives(&format!(". 1:1(0) ack 1 <sack {lie}>"));
        }
        assert_eq!((host.connection.drop_counters().sack_blocks, host.connection.in_flight()), (6, 10), "{recovery:?}");
    }
}

#[test]
fn a_block_of_sack_over_the_first_missing_segment_acknowledges_nothing() {
    let mut host = ten_outstanding(Recovery::Rfc6675);
    host.receives(". 1:1(0) ack 1 <sack 1:2001>").receives(". 1:1(0) ack 1 <sack 0:2001>");
    assert_eq!((host.connection.outstanding(), host.connection.in_flight()), (10, 10));
}

#[test]
fn blocks_of_sack_that_overlap_count_each_segment_once() {
    let mut host = ten_outstanding(Recovery::Rfc6675);
    host.receives(". 1:1(0) ack 1 <sack 2001:5001 3001:4001 2001:6001 4001:5001>");
    // Segments 3 to 6 arrived; 1 and 2 are lost, for three came behind them, and the first is under way again.
    assert_eq!(host.connection.in_flight(), 5);
}

/// RFC 2018 §8: "the data sender MUST NOT discard data […] until the data are acknowledged by the Acknowledgment Number", and
/// after a timeout it "SHOULD turn off all of the `SACKed` bits".
#[test]
fn what_a_peer_reneged_on_is_retransmitted_after_the_timeout() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack] {
        let mut host = ten_outstanding(recovery);
        // It tells that it has got all but the first, forgets it, and takes what comes from then on in order.
        host.at(200).ack(1, &[2..11]);
        let mut next = 1;
        for round in 0..1000 {
            let arrived = host.at(300 + 100 * round).take_numbers();
            next = arrived.into_iter().fold(next, |next, number| next + u64::from(number == next));
            host.ack(next, &[]);
        }
        assert_eq!((next, host.connection.outstanding()), (11, 0), "{recovery:?}");
    }
}

/// RFC 5681 §2 and RFC 2018 §5: a peer that tells of the same again and again brings no news.
#[test]
fn a_storm_of_duplicate_acks_sends_no_more_than_what_is_missing() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack] {
        let mut host = ten_outstanding(recovery);
        for _ in 0..10_000 {
            host.ack(1, &[2..5]);
        }
        let sent = host.take_numbers();
        assert!(sent.len() <= 10, "{recovery:?} sent {sent:?}");
    }
}
