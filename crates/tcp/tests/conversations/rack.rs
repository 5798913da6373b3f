//! RACK-TLP step by step (RFC 8985). Round trips last 100 ms, so the reordering window is 25 ms at first and a probe goes
//! out after 200 ms, or 400 ms for a lone segment.

use crate::host::Host;
use crate::plain;
use earlybird_conformance::{Area, conforms};
use earlybird_tcp::{Config, RackConfig, Recovery, RtoRestart, WindowReduction};

fn config() -> Config {
    plain().with_recovery_only(Recovery::Rack)
}

/// A connection that has sent so many segments, all it has, at 100 ms.
fn sent(segments: u64) -> Host {
    sent_of(segments, segments)
}

/// A connection with so many segments outstanding of all it has, at 100 ms.
fn sent_of(window: u64, segments: u64) -> Host {
    let mut host = Host::connected(&config().with_initial_window(window as u32));
    host.write(segments * 1000).forget_sent();
    host
}

/// §3.4, "An Example of RACK-TLP in Action: Fast Recovery": four segments, the last three lost, and the first
/// retransmission too. The numbers are one higher, and the timer of step 3 starts with the ACK of step 2.
#[test]
fn the_rfcs_example_a_lost_tail_and_a_lost_retransmission() {
    let mut host = sent(4);
    host.at(200).ack(2, &[]);
    // 3a, 3b: two round trips after the ACK the last segment goes again.
    host.at(400).sends_timed(&[(400, 4)]);
    // 5a to 5c: it was sent after 2 and 3, so these are lost.
    host.at(500).ack(2, &[4..5]).sends_timed(&[(500, 2), (500, 3)]).has_window(2.0, 2.0);
    assert!(host.connection.is_recovering());
    // 7a, 7b: the second retransmission arrived, the first was sent before it.
    host.at(600).ack(2, &[3..5]).sends_timed(&[(600, 2)]);
    host.at(700).ack(5, &[]).sends_nothing();
    assert!(!host.connection.is_recovering());
    assert_eq!(host.connection.statistics().timeouts, 0);
    let result = "8 of 8 events, no timeout, one reduction";
    conforms(
        Area::Recovery,
        "rack-tlp",
        "RFC 8985 §3.4, figure 1",
        "lost tail and lost retransmission, event by event",
        result,
    );
}

/// §6.2, step 4: before any reordering was seen three `SACKed` segments need no further patience.
#[test]
fn the_third_sacked_segment_reveals_a_loss_at_once() {
    let mut host = sent_of(10, 100);
    host.at(200).ack(1, &[2..3]).sends_numbers(&[11]).ack(1, &[2..4]).sends_numbers(&[12]);
    assert!(!host.connection.is_recovering());
    host.ack(1, &[2..5]).sends_numbers(&[1]).has_window(5.0, 5.0);
    assert_eq!(host.connection.statistics().fast_retransmits, 1);
}

/// The order of sending is known where the clock stands still: what left after a new segment is not lost when that arrives.
#[test]
fn a_new_segment_sent_at_the_same_time_does_not_overtake_a_retransmission_after_it() {
    let mut host = sent_of(10, 100);
    // Limited transmit sends 11 and 12 first, then 1 goes again.
    host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).sends_numbers(&[11, 12, 1]);
    host.at(300).ack(1, &[2..5, 11..12]).ack(1, &[2..5, 11..13]);
    assert!(!host.take_numbers().contains(&1));
}

/// §6.2, steps 4 and 5: with fewer the segment is lost a quarter of a round trip after one sent later arrived. A second loss
/// needs no third segment above it.
#[test]
fn with_fewer_the_reordering_window_decides() {
    let mut host = sent(4);
    host.at(200).ack(1, &[2..3]).sends_nothing();
    host.at(224).sends_nothing();
    host.at(225).sends_timed(&[(225, 1)]).has_window(2.0, 2.0);
    // In recovery there is no window: 3 is lost as soon as 4 arrives.
    host.at(230).ack(1, &[4..5, 2..3]).sends_numbers(&[3]);
    host.at(330).ack(5, &[]);
    conforms(
        Area::Recovery,
        "rack-tlp",
        "RFC 8985 §6.2, steps 4 and 5",
        "when a hole below one SACKed segment counts as lost (min RTT 100 ms)",
        "after 25 ms, not after 24; at once in recovery",
    );
}

/// §4: reordering within the window costs nothing. From then on three `SACKed` segments are no proof, and
/// recovery keeps the window.
#[test]
fn a_segment_late_by_less_than_the_window_is_not_retransmitted() {
    let mut host = sent(6);
    host.at(200).ack(1, &[2..3]);
    host.at(220).ack(3, &[]);
    assert_eq!(host.connection.statistics().retransmissions, 0);
    // 3 is late as well, and three above it arrive. Now only time counts.
    host.at(221).ack(3, &[4..7]);
    host.at(240).ack(7, &[]);
    assert_eq!(host.connection.statistics().retransmissions, 0);
    conforms(
        Area::Recovery,
        "rack-tlp",
        "RFC 8985 §6.2, step 3",
        "reordering by 20 ms of 25 ms, then three SACKed segments above a hole",
        "no retransmission in either case",
    );
}

/// §6.2, step 4: reordering by more than the window brings a needless retransmission, whose DSACK widens the window, once
/// per round trip: 2·100/4 ms. The smoothed round trip bounds it.
#[test]
fn a_dsack_widens_the_window() {
    let mut host = sent_of(4, 4);
    host.at(200).ack(1, &[2..3]);
    host.at(225).sends_timed(&[(225, 1)]);
    // 1 was only late; the retransmission arrives as well.
    host.at(240).ack(5, &[]);
    host.at(325).ack(5, &[1..2]);
    host.write(4000).sends_numbers(&[5, 6]);
    host.at(425).ack(5, &[6..7]).forget_sent();
    host.at(474).sends_nothing();
    host.at(475).sends_timed(&[(475, 5)]);
    conforms(
        Area::Recovery,
        "rack-tlp",
        "RFC 8985 §6.2, step 4 (reo_wnd_mult)",
        "reordering window after one DSACK (min RTT 100 ms)",
        "50 ms, not 49",
    );
}

/// §6.2, step 2, takes the round trip of the retransmission, the last one sent of all that arrived; Linux that of 4, the last one
/// acknowledged by number, and so leaves 10 alone for 220 ms and the reordering window.
#[test]
fn a_segment_behind_a_repaired_hole_is_lost_at_once_or_given_the_longer_round_trip_if_so_chosen() {
    for (rtt_from_highest_delivered, missing) in [(false, [5, 5]), (true, [4, 5])] {
        let rack = RackConfig { rtt_from_highest_delivered, ..RackConfig::RFC };
        let mut host = Host::connected(
            &config().with_initial_window(10).with_rack(rack).with_window_reduction(WindowReduction::Proportional),
        );
        host.write(10_000).forget_sent();
        host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[9..10, 2..4]).sends_numbers(&[1]);
        let known = |host: &Host| host.connection.lost() + host.connection.retransmitted();
        host.at(320).ack(5, &[9..10]);
        assert_eq!(known(&host), missing[0], "1 and 4 have arrived, 5 to 8 are lost");
        host.at(345);
        assert_eq!(known(&host), missing[1]);
    }
}

/// §6.2, step 2: an ACK sooner than any round trip belongs to the first transmission; what it acknowledges says nothing
/// about others.
#[test]
fn a_retransmission_acknowledged_too_soon_is_ignored() {
    let mut host = sent_of(10, 100);
    host.at(200).ack(1, &[2..5]).sends_numbers(&[1]);
    // The first 1 was late. 5 to 10 were sent before its retransmission, yet are not lost.
    host.at(210).ack(5, &[]);
    assert_eq!(host.connection.statistics().retransmissions, 1);
}

/// §6.3: a timeout marks the first segment, and those that are old enough, but not what was sent a moment ago.
#[test]
fn a_timeout_spares_what_was_just_sent() {
    let mut host = Host::connected(&config().with_initial_window(2));
    host.write(2000).sends_numbers(&[1, 2]);
    host.at(200).ack(2, &[]).sends_nothing();
    // The probe of 2 is lost as well.
    host.at(600).sends_timed(&[(600, 2)]);
    host.at(1550).write(1000).sends_numbers(&[3]);
    host.at(1600).sends_timed(&[(1600, 2)]).has_window(1.0, 2.0);
    // 3 is not lost: its ACK comes in time.
    host.at(1700).ack(4, &[]).sends_nothing();
    assert_eq!(host.connection.statistics().retransmissions, 2);
    assert_eq!(host.connection.statistics().timeouts, 1);
}

/// §6.3: everything that was silent for long goes again, as the window opens.
#[test]
fn after_a_timeout_the_window_opens_as_in_slow_start() {
    let config = config().with_rack(earlybird_tcp::RackConfig { probes_tail: false, ..config().recovery.rack });
    let mut host = Host::connected(&config.with_initial_window(10));
    host.write(10_000).forget_sent();
    host.at(1100).sends_timed(&[(1100, 1)]).has_window(1.0, 5.0);
    host.at(1200).ack(2, &[]).sends_numbers(&[2, 3]).has_window(2.0, 5.0);
    host.at(1300).ack(3, &[]).ack(4, &[]).sends_numbers(&[4, 5, 6, 7]);
}

/// §7.2: two round trips; a lone segment waits for a delayed ACK in addition. §7.3: new data before old.
#[test]
fn a_probe_takes_new_data_if_there_are_any() {
    let mut host = sent(4);
    host.at(200).ack(4, &[]).sends_nothing();
    host.at(599).sends_nothing();
    host.at(600).sends_timed(&[(600, 4)]);
    // With data held back by the window, these go, whatever the window says.
    let mut host = sent_of(4, 100);
    host.at(200).ack(2, &[]).forget_sent();
    host.at(400).sends_timed(&[(400, 7)]);
    conforms(
        Area::Recovery,
        "rack-tlp",
        "RFC 8985 §7.2, §7.3",
        "time and segment of a tail loss probe: one outstanding, several, new data or none",
        "2·SRTT + 200 ms, 2·SRTT; new segment, last segment",
    );
}

/// §7.2: before the retransmission timer ends. §7.3: then that timer starts anew, and there is one probe at a time.
#[test]
fn the_probe_comes_no_later_than_the_timeout_and_puts_it_off() {
    let mut host = Host::connected(&config().with_rto(config().timers.rto.fine_grained()));
    host.write(4000).forget_sent();
    // SRTT + 4·RTTVAR = 300 ms after the first sample, less later; the probe at 200 ms.
    host.at(300).sends_timed(&[(300, 4)]);
    host.at(599).sends_nothing();
    host.at(600).sends_timed(&[(600, 1)]);
    assert_eq!(host.connection.statistics().timeouts, 1);
}

/// A connection whose timeout, 101 ms, is hardly longer than its round trips: 20 segments went one by one, each was acknowledged
/// after 100 ms, the last one at 2100 ms.
fn hasty(restart: RtoRestart) -> Host {
    let mut host = Host::connected(&config().with_rto(config().timers.rto.fine_grained()).with_rto_restart(restart));
    for number in 1..=20 {
        host.write(1000).at(100 + 100 * number).ack(number + 1, &[]);
    }
    assert_eq!(host.timeout(), 101);
    host.forget_sent();
    host
}

/// §8: "mutually exclusive". The reordering window, a quarter of a round trip, ends after the timeout, which waits for it.
#[test]
fn while_the_reordering_timer_runs_the_retransmission_timer_does_not() {
    let mut host = hasty(RtoRestart::Progress);
    host.write(3000).forget_sent();
    host.at(2200).ack(21, &[22..23]);
    assert_eq!(host.deadline(), Some(2225));
    host.at(2225).sends_timed(&[(2225, 21)]);
    assert!(host.connection.is_recovering());
    // It begins again with the repair.
    host.at(2325).sends_nothing();
    host.at(2326).sends_timed(&[(2326, 21)]);
    assert_eq!(host.connection.statistics().timeouts, 1);
}

/// Linux's `tcp_clean_rtx_queue` restarts the timer while what left before a retransmission still arrives, so that RACK gets to
/// see that the retransmission was lost too; its `tcp_xmit_retransmit_queue` restarts it with the second one.
#[test]
fn a_lost_retransmission_is_found_before_the_timeout_where_repairs_are_timed() {
    for (restart, second, timeouts) in [(RtoRestart::Progress, 2341, 1), (RtoRestart::Repairs, 2400, 0)] {
        let mut host = hasty(restart);
        host.write(1000).at(2110).write(1000).at(2140).write(1000).at(2170).write(1000).at(2200);
        host.ack(22, &[]).write(1000).forget_sent();
        host.at(2240).ack(22, &[23..25]).sends_timed(&[(2240, 22)]);
        // 25 left before it, 26 leaves after it.
        host.write(1000).at(2300).ack(22, &[23..26]).sends_timed(&[(2300, 26)]);
        host.at(2400).ack(22, &[23..27]).sends_timed(&[(second, 22)]);
        assert_eq!(host.connection.statistics().timeouts, timeouts);
        assert!(timeouts == 1 || host.deadline() == Some(2501));
    }
}

/// §6.2, step 2, has the ACK's echo say which transmission arrived; above a hole it cannot (RFC 7323 §4.3), and Linux does not
/// ask. The retransmission of 2 arrived, that of 1 left before it.
#[test]
fn a_retransmission_above_a_hole_reveals_the_loss_of_one_before_it_if_blocks_are_believed() {
    for (trusts_sacked_retransmissions, retransmitted) in [(false, &[][..]), (true, &[1])] {
        let rack = RackConfig { trusts_sacked_retransmissions, ..RackConfig::RFC };
        let mut host = Host::connect(&config().with_timestamps(true).with_initial_window(10).with_rack(rack));
        host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 1/0>").write(10_000).forget_sent();
        host.at(200).receives(". 1:1(0) ack 1 <TS 101/100,sack 2001:10001>").sends_numbers(&[1, 2]);
        host.at(300).receives(". 1:1(0) ack 1 <TS 201/100,sack 1001:10001>").sends_numbers(retransmitted);
    }
}

/// §7.4.2: if the probe alone arrived, a loss was repaired, and the window shrinks once more is acknowledged than it covers.
#[test]
fn a_repaired_loss_shrinks_the_window() {
    let mut host = sent(10);
    host.at(200).ack(10, &[]);
    host.at(600).sends_timed(&[(600, 10)]);
    host.at(700).ack(11, &[]).has_window(20.0, f64::INFINITY);
    host.write(10_000).forget_sent();
    host.at(800).ack(12, &[]).has_window(5.0, 5.0);
    assert!(!host.connection.is_recovering());
    conforms(
        Area::Recovery,
        "rack-tlp",
        "RFC 8985 §7.4.2",
        "window after a probe that repaired the loss of the last segment",
        "halved on the first ACK beyond TLP.end_seq",
    );
}

/// §7.4.2: a DSACK says that both arrived: nothing was lost.
#[test]
fn a_spurious_probe_leaves_the_window() {
    let mut host = sent(10);
    host.at(200).ack(10, &[]);
    host.at(600).sends_timed(&[(600, 10)]);
    host.at(610).ack(11, &[]);
    host.at(700).ack(11, &[10..11]);
    host.write(10_000).forget_sent();
    host.at(800).ack(12, &[]).has_window(20.0, f64::INFINITY);
}

/// §7.3: no second probe before a round trip was measured: the timer ends instead.
#[test]
fn a_second_probe_waits_for_a_round_trip() {
    let mut host = sent(2);
    host.at(300).sends_timed(&[(300, 2)]);
    host.at(2000).sends_timed(&[(1300, 1)]);
    assert_eq!(host.connection.statistics().timeouts, 1);
}

/// A peer that knows no SACK gets another recovery: no probe, three duplicates or the timer.
#[test]
fn without_sack_there_is_no_probe() {
    let mut host = Host::connect(&config());
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000>").forget_sent();
    host.write(2000).forget_sent();
    host.at(1099).sends_nothing();
    host.at(1100).sends_timed(&[(1100, 1)]);
}

/// §2 of RFC 3042 is limited transmit; without it `SACKed` segments make room in recovery only.
#[test]
fn without_limited_transmit_nothing_new_goes_before_recovery() {
    let mut host = Host::connected(&config().with_initial_window(10).with_limited_transmit(false));
    host.write(100_000).forget_sent();
    host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).sends_nothing().ack(1, &[2..5]).sends_numbers(&[1]);
}
