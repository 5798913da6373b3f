//! RFC 6675 step by step. Numbers are of full segments; `SetPipe` and `NextSeg` are worked out in the comments as the RFC's
//! text has them.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::WindowReduction;

/// A connection with the first ten of so many segments outstanding, at 100 ms.
fn ten_of(segments: u64) -> Host {
    let mut host = Host::connected(&plain().with_initial_window(10));
    host.write(segments * 1000).sends_numbers(&(1..=10).collect::<Vec<_>>());
    host.at(200);
    host
}

/// §5 (1): `DupAcks` ≥ `DupThresh`. §5 (4.3): the first segment goes whatever `pipe` is. Then one segment per duplicate once
/// `pipe` has fallen below the window.
#[test]
fn one_loss_enters_on_the_third_duplicate_and_sends_new_data_from_pipe_4_on() {
    let mut host = ten_of(100);
    host.ack(1, &[2..3]).sends_numbers(&[11]).ack(1, &[2..4]).sends_numbers(&[12]);
    assert!(!host.connection.is_recovering());
    // Twelve out, 2 to 4 SACKed, 1 lost: pipe = |5..12| + the retransmission = 9, cwnd = 5.
    host.ack(1, &[2..5]).sends_numbers(&[1]).has_window(5.0, 5.0);
    assert!(host.connection.is_recovering());
    // pipe 8, 7, 6, 5: nothing.
    for sacked in 6..=9 {
        host.ack(1, &[2..sacked]).sends_nothing();
    }
    // pipe 4, and 4 again after each segment sent.
    for (sacked, new) in [(10, 13), (11, 14), (12, 15), (13, 16)] {
        host.ack(1, &[2..sacked]).sends_numbers(&[new]);
    }
    // §5 (A): everything up to RecoveryPoint = 12 is acknowledged; 13 to 16 are out, so one of five is free.
    host.at(300).ack(13, &[]).sends_numbers(&[17]).has_window(5.0, 5.0);
    assert!(!host.connection.is_recovering());
    assert_eq!(host.connection.statistics().fast_retransmits, 1);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5 (2): `IsLost (HighACK + 1)`, more than (3 − 1)·SMSS `SACKed` above it.
#[test]
fn three_segments_in_one_duplicate_enter_at_once() {
    let mut host = ten_of(100);
    host.ack(1, &[2..5]).sends_numbers(&[1]).has_window(5.0, 5.0);
    assert!(host.connection.is_recovering());
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5: an ACK with new SACK information is a duplicate "regardless of its status as a cumulative acknowledgment"; step (2)
/// applies to it.
#[test]
fn an_ack_that_advances_and_reports_three_segments_enters_at_once() {
    let mut host = ten_of(100);
    // Ten were outstanding when it arrived: cwnd = 5; pipe = |7..10| + the retransmission = 5.
    host.ack(3, &[4..7]).sends_numbers(&[3]).has_window(5.0, 5.0);
    assert!(host.connection.is_recovering());
    // Two of ten have left without a report: everything up to RecoveryPoint = 10 ends it.
    host.at(300).ack(11, &[]).has_window(5.0, 5.0);
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5: a cumulative ACK resets `DupAcks` first, and is the first duplicate if it reports something new; one that repeats known
/// blocks is none.
#[test]
fn an_ack_that_advances_and_reports_one_segment_is_the_first_duplicate() {
    let mut host = ten_of(100);
    host.ack(1, &[3..4]).ack(1, &[3..4, 5..6]).ack(2, &[3..4, 5..6]);
    assert!(
        !host.connection.is_recovering(),
        "known blocks are no duplicate, and the two before it do not count any more"
    );
    let mut host = ten_of(100);
    host.ack(3, &[4..5]).ack(3, &[4..6]);
    assert!(!host.connection.is_recovering(), "two segments above the hole");
    host.ack(3, &[4..7]);
    assert!(host.connection.is_recovering(), "the third duplicate");
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// RFC 9937 §6.2: the ACK that reveals the loss is no `SafeACK`, although it advances.
#[test]
fn an_advancing_ack_that_reveals_a_loss_is_not_safe_for_proportional_rate_reduction() {
    let mut host =
        Host::connected(&plain().with_initial_window(10).with_window_reduction(WindowReduction::Proportional));
    host.write(100_000).forget_sent();
    // inflight = |9, 10| = 2 below ssthresh = 5: prr_delivered = 7 would allow 3 more; the fast retransmit is one of them.
    host.at(200).ack(2, &[3..9]).has_window(5.0, 5.0);
    host.forget_sent();
    assert!(host.connection.is_recovering());
}

/// §4 `IsLost`: two segments above are not enough, wherever they lie.
#[test]
fn two_segments_in_one_duplicate_do_not_enter() {
    let mut host = ten_of(100);
    // pipe = 8, so limited transmit may send two (§5, 3.3).
    host.ack(1, &[2..3, 5..6]).sends_numbers(&[11, 12]);
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §2: "a segment that arrives carrying a SACK block that identifies previously unacknowledged and un-SACKed octets" is a
/// duplicate; others are not counted.
#[test]
fn acks_without_news_are_not_duplicates() {
    let mut host = ten_of(100);
    host.ack(1, &[2..3]).sends_numbers(&[11]);
    for _ in 0..5 {
        host.ack(1, &[2..3]).ack(1, &[]).sends_nothing();
    }
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §4 `NextSeg` (1): a hole that is lost comes before new data; (2): new data come before a hole that may not be lost.
#[test]
fn a_second_loss_waits_for_three_segments_above_it_then_goes_before_new_data() {
    let mut host = ten_of(100);
    host.ack(1, &[2..3]).ack(1, &[4..5, 2..3]).sends_numbers(&[11, 12]);
    // 1 and 3 are missing; only 4 and 5 lie above 3. pipe = |3, 6..12| + 1 = 9.
    host.ack(1, &[4..6, 2..3]).sends_numbers(&[1]);
    // 6 makes 3 lost: pipe = |7..12| + 1 = 7. Then 6, 5.
    host.ack(1, &[4..7, 2..3]).ack(1, &[4..8, 2..3]).ack(1, &[4..9, 2..3]).sends_nothing();
    // pipe = 4: rule 1 takes 3, which counts again.
    host.ack(1, &[4..10, 2..3]).sends_numbers(&[3]);
    // pipe = |11, 12| + 1 + 3 = 4: no lost hole is left, rule 2.
    host.ack(1, &[4..11, 2..3]).sends_numbers(&[13]);
    // The first retransmission arrived: una = 3, pipe = |11..13| + 3 = 4.
    host.at(300).ack(3, &[4..11]).sends_numbers(&[14]).has_window(5.0, 5.0);
    assert!(host.connection.is_recovering());
    host.ack(11, &[]).sends_numbers(&[15]);
    host.ack(13, &[]).has_window(5.0, 5.0);
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §4 `NextSeg` (2) before (3).
#[test]
fn a_hole_with_two_segments_above_it_waits_while_there_are_new_data() {
    let mut host = ten_of(13);
    host.ack(1, &[2..3]).ack(1, &[2..4]).sends_numbers(&[11, 12]).ack(1, &[2..5]).sends_numbers(&[1]);
    // pipe = |8..12| + 1 = 6 > 4.
    host.ack(1, &[2..8]).sends_nothing();
    // 8 is missing, 9 and 10 arrived: pipe = |8, 11, 12| + 1 = 4 leaves room for one: the last new one.
    host.ack(1, &[9..11, 2..8]).sends_numbers(&[13]);
    // A third segment above 8: it is lost, pipe = |12, 13| + 1 = 3, rule 1.
    host.ack(1, &[9..12, 2..8]).sends_numbers(&[8]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §4 `NextSeg` (3): without new data, a hole with only one `SACKed` segment above it.
#[test]
fn without_new_data_a_hole_that_may_not_be_lost_goes() {
    let mut host = ten_of(10);
    host.ack(1, &[2..3]).ack(1, &[2..4]).sends_nothing().ack(1, &[2..5]).sends_numbers(&[1]);
    // pipe = |9, 10| + 1 = 3 < 5, but no rule applies.
    host.ack(1, &[2..9]).sends_nothing();
    // 10 arrived, so 9 is a hole: rule 3.
    host.ack(1, &[10..11, 2..9]).sends_numbers(&[9]);
    host.ack(9, &[10..11]).sends_nothing();
    host.ack(11, &[]);
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §4 `NextSeg` (4), §5 (4.3): the last segments are lost too. The rescue waits until `HighACK` has passed the first
/// retransmission ("to prevent … a premature rescue retransmission"), takes the highest segment, and comes once.
#[test]
fn a_lost_tail_is_rescued_once_after_the_first_partial_ack() {
    let mut host = ten_of(10);
    host.ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).sends_numbers(&[1]);
    host.ack(1, &[2..9]).sends_nothing();
    // The retransmission arrived; 9 and 10 are missing, with nothing above them.
    host.at(300).ack(9, &[]).sends_numbers(&[10]);
    // The rescue tells of 9: rule 3.
    host.at(400).ack(9, &[10..11]).sends_numbers(&[9]);
    host.at(500).ack(11, &[]);
    assert!(!host.connection.is_recovering());
    assert_eq!(host.connection.statistics().timeouts, 0);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §4 `NextSeg` (4): `HighACK` > `RescueRxt`. An ACK of nothing but the first retransmission is not enough.
#[test]
fn the_rescue_waits_for_an_ack_beyond_the_first_retransmission() {
    let mut host = ten_of(10);
    // 1 and 2 are lost, and 9 and 10: pipe = |9, 10| + 1 leaves room for 2.
    host.ack(1, &[3..9]).sends_numbers(&[1, 2]);
    host.at(300).ack(2, &[3..9]).sends_nothing();
    host.at(301).ack(9, &[]).sends_numbers(&[10]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5 (4.2), RFC 5681 §2: `FlightSize` is everything sent and not acknowledged; only limited transmit does not count.
#[test]
fn segments_sent_for_sacked_ones_after_a_recovery_count_as_flight() {
    let mut host = ten_of(100);
    host.ack(1, &[2..5]).has_window(5.0, 5.0).ack(1, &[2..11]).sends_numbers(&[1, 11, 12, 13, 14]);
    // Recovery ends, and 11 is lost: 12 to 14 have left the network, so four of five are free.
    host.at(300).ack(11, &[12..15]).sends_numbers(&[15, 16, 17, 18]);
    assert!(!host.connection.is_recovering());
    // The next duplicate finds eight outstanding: max(8/2, 2).
    host.at(400).ack(11, &[12..16]).has_window(4.0, 4.0).sends_numbers(&[11]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §4 `SetPipe` (b) and `NextSeg` (1): each hole goes once per recovery; a lost retransmission is left to the timer.
#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    let mut host = ten_of(100);
    host.ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).forget_sent();
    for sacked in 6..=13 {
        host.ack(1, &[2..sacked]);
    }
    host.sends_numbers(&[13, 14, 15, 16]);
    host.at(1200).sends_timed(&[(1200, 1)]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5: "`RecoveryPoint`": one reduction for all losses of a window.
#[test]
fn losses_below_the_recovery_point_do_not_reduce_the_window_twice() {
    let mut host = ten_of(100);
    host.ack(1, &[2..5]).has_window(5.0, 5.0).forget_sent();
    // 7 is lost as well: pipe = 0, then one more with each of five segments.
    host.at(300).ack(7, &[8..11]).sends_numbers(&[7, 11, 12, 13, 14]).has_window(5.0, 5.0);
    host.at(400).ack(11, &[]).has_window(5.0, 5.0);
    assert_eq!(host.connection.statistics().fast_retransmits, 1);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5.1: after a timeout `RecoveryPoint` = `HighData`, and no recovery begins below it.
#[test]
fn after_a_timeout_no_recovery_begins_before_everything_sent_is_acknowledged() {
    let mut host = ten_of(100);
    host.at(1100).sends_numbers(&[1]).has_window(1.0, 5.0);
    host.at(1200).ack(2, &[]).sends_numbers(&[2, 3]).has_window(2.0, 5.0);
    // 2 is lost again: duplicates may send, but not enter.
    host.at(1300).ack(2, &[3..4]).ack(2, &[3..5]).ack(2, &[3..6]).has_window(2.0, 5.0);
    assert!(!host.connection.is_recovering());
    assert_eq!(host.connection.statistics().fast_retransmits, 0);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// §5.1: what the receiver holds is not sent again, whether it was `SACKed` before or after the timeout.
#[test]
fn after_a_timeout_sacked_segments_are_skipped() {
    let mut host = ten_of(10);
    host.ack(1, &[2..4]).sends_nothing();
    host.at(1100).sends_timed(&[(1100, 1)]);
    host.at(1200).ack(4, &[6..8]).sends_numbers(&[4, 5]);
    host.at(1300).ack(8, &[]).sends_numbers(&[8, 9, 10]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// RFC 2018 §8: a receiver may drop what it `SACKed`. If the first segment is `SACKed` when the timer ends, it did.
#[test]
fn a_receiver_that_reneges_gets_everything_retransmitted() {
    let mut host = ten_of(10);
    host.ack(1, &[2..4]).sends_nothing();
    host.at(1100).sends_timed(&[(1100, 1)]);
    // 1 arrived, but 2 and 3 are gone.
    host.at(1200).ack(2, &[]).sends_numbers(&[4, 5]);
    host.at(5000).sends_timed(&[(3200, 2)]);
    host.ack(3, &[]).sends_numbers(&[3, 4]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// Boundaries of segments do not change, so a block that covers half a segment says nothing of it.
#[test]
fn a_sack_block_over_half_a_segment_does_not_mark_it() {
    let mut host = ten_of(10);
    host.receives(". 1:1(0) ack 1 <sack 1501:4501>").receives(". 1:1(0) ack 1 <sack 1501:4601>").sends_nothing();
    host.at(1100).sends_timed(&[(1100, 1)]);
    // 3 and 4 are whole inside the block; 2 and 5 are not.
    host.at(1200).ack(2, &[]).sends_numbers(&[2, 5]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}

/// Blocks of bytes never sent, or acknowledged already, or upside down, are ignored.
#[test]
fn nonsense_in_sack_blocks_is_ignored() {
    let mut host = ten_of(10);
    for block in ["9001:99001", "0:1001", "4001:2001", "2001:2001", "1:1001"] {
        host.receives(&format!(". 1:1(0) ack 1 <sack {block}>")).sends_nothing();
    }
    host.ack(1, &[2..5]).sends_numbers(&[1]);
    follows(Area::Recovery, "rfc6675", "RFC 6675");
}
