//! Needless retransmissions: found out by F-RTO (RFC 5682), Eifel (RFC 3522) and DSACK (RFC 2883, RFC 3708), and taken back
//! (RFC 4015). Early Retransmit for few outstanding segments (RFC 5827).

use crate::host::Host;
use crate::plain;
use earlybird_conformance::{Area, conforms};
use earlybird_tcp::{Config, Dupthresh, EcnMode, NewRenoFlags, RackConfig, Recovery, SpuriousDetection, Undo};

const FORWARD: SpuriousDetection = SpuriousDetection { forward_rto: true, undo: Undo::None };

fn undoing(undo: Undo) -> Config {
    plain().with_spurious(SpuriousDetection { forward_rto: false, undo })
}

/// A connection with ten of many segments outstanding whose timer has run out: the first went again at 1100 ms.
fn timed_out(config: Config) -> Host {
    let rack = RackConfig { probes_tail: false, ..RackConfig::RFC };
    let mut host = Host::connected(&config.with_initial_window(10).with_rack(rack));
    host.write(1_000_000).forget_sent();
    host.at(1100).sends_timed(&[(1100, 1)]).has_window(1.0, 5.0);
    host
}

fn undone(host: &Host) -> u64 {
    host.connection.statistics().reductions_undone
}

/// RFC 5682 §3.1 (2b), (3b): a delay, not a loss. Two new segments follow the first ACK; the second one acknowledges what was
/// sent before the timeout. RFC 4015 (9): `cwnd` = `FlightSize` + min(acknowledged, IW), `ssthresh` = max(flight, ssthresh).
#[test]
fn f_rto_takes_back_a_timeout_caused_by_a_delay() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack] {
        let mut host = timed_out(plain().with_spurious(FORWARD).with_recovery_only(recovery));
        host.at(1300).ack(2, &[]).sends_numbers(&[11, 12]).has_window(2.0, 5.0);
        // Ten are outstanding: 3 to 12.
        host.ack(3, &[]).has_window(11.0, f64::INFINITY).sends_numbers(&[13]);
        assert_eq!((undone(&host), host.connection.statistics().retransmissions), (1, 1));
        // Nothing else goes again.
        host.ack(11, &[]).forget_sent();
        assert_eq!(host.connection.statistics().retransmissions, 1);
    }
    conforms(
        Area::Recovery,
        "f-rto",
        "RFC 5682 §3.1, steps 1, 2b, 3b; RFC 4015 §3.1, step 9",
        "a delay spike over the timeout: segments sent, cwnd and ssthresh (with RFC 6675 and with RACK-TLP)",
        "one retransmission, then new data; cwnd 10 + 1, ssthresh restored",
    );
}

/// RFC 8985 §6.2, step 5: only what something sent later has overtaken is lost, however old it is.
#[test]
fn rack_does_not_mark_twice_what_a_spurious_timeout_had_marked() {
    let mut host = timed_out(plain().with_spurious(FORWARD).with_recovery_only(Recovery::Rack));
    host.at(1300).ack(2, &[]).ack(3, &[]).has_window(11.0, f64::INFINITY);
    for next in 4..=11 {
        host.at(1300 + 50 * next).ack(next, &[]);
    }
    assert_eq!((undone(&host), host.connection.statistics().retransmissions), (1, 1));
    assert_eq!(host.connection.statistics().fast_retransmits, 0);
}

/// §3.1 (3a): news from above `recover` while the hole remains: the loss is real.
#[test]
fn f_rto_goes_on_repairing_if_new_data_arrive_first() {
    // RFC 6675 goes back; to RACK-TLP, 12 is still in flight.
    for (recovery, repaired) in [(Recovery::Rfc6675, vec![2, 3]), (Recovery::Rack, vec![2])] {
        let mut host = timed_out(plain().with_spurious(FORWARD).with_recovery_only(recovery));
        host.at(1300).ack(2, &[]).sends_numbers(&[11, 12]);
        host.at(1400).ack(2, &[11..12]).sends_numbers(&repaired);
        assert_eq!(undone(&host), 0);
    }
    conforms(
        Area::Recovery,
        "f-rto",
        "RFC 5682 §3.1, step 3a",
        "a real loss of the whole window",
        "repairs go on with the second ACK",
    );
}

/// §2.1, without SACK: a duplicate in step 2 or step 3 means loss; a second step forward means none.
#[test]
fn f_rto_without_sack_reads_the_next_two_acks() {
    let opened = || {
        let mut host = Host::connect(&plain().with_spurious(FORWARD).with_initial_window(10));
        host.at(100).receives("S. 0:0(0) ack 1 <mss 1000>").write(1_000_000);
        host.at(1100).forget_sent();
        host
    };
    let mut host = opened();
    host.at(1300).ack(2, &[]).sends_numbers(&[11, 12]).ack(3, &[]).has_window(11.0, f64::INFINITY);
    let mut host = opened();
    host.at(1300).ack(2, &[]).sends_numbers(&[11, 12]).ack(2, &[]).sends_numbers(&[2, 3]);
    assert_eq!(undone(&host), 0);
    let mut host = opened();
    host.at(1300).ack(1, &[]).ack(2, &[]).sends_numbers(&[2, 3]);
}

/// §2.1 (2a): everything is acknowledged at once, or no new data are at hand: nothing is to be found out.
#[test]
fn f_rto_needs_new_data() {
    let mut host = Host::connected(&plain().with_spurious(FORWARD).with_initial_window(10));
    host.write(10_000).forget_sent();
    host.at(1300).forget_sent().ack(2, &[]).sends_numbers(&[2, 3]);
    let mut host = timed_out(plain().with_spurious(FORWARD));
    host.at(1300).ack(11, &[]).has_window(2.0, 5.0).sends_numbers(&[11, 12]);
    assert_eq!(undone(&host), 0);
}

/// §3.1 (1): a second timeout in the recovery from a first one is not examined.
#[test]
fn f_rto_examines_one_timeout_at_a_time() {
    let mut host = timed_out(plain().with_spurious(FORWARD));
    host.at(3100).sends_timed(&[(3100, 1)]);
    host.at(3200).ack(2, &[]).sends_numbers(&[2, 3]);
}

/// RFC 3522 (5): the ACK echoes the time of the first transmission. RFC 4015 (8), (9): new data go on, window and threshold
/// are restored.
#[test]
fn eifel_takes_back_a_timeout_caused_by_a_delay() {
    let mut host = Host::connect(&undoing(Undo::Eifel).with_initial_window(10).with_timestamps(true));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 7/0>").write(1_000_000).forget_sent();
    host.at(1100).sends_timed(&[(1100, 1)]).has_window(1.0, 5.0);
    // Nine are outstanding: cwnd = 9 + 1.
    host.at(1150).receives(". 1:1(0) ack 1001 <TS 8/100>").has_window(10.0, f64::INFINITY).sends_numbers(&[11]);
    assert_eq!(undone(&host), 1);
    conforms(
        Area::Recovery,
        "eifel",
        "RFC 3522 §3.2; RFC 4015 §3.1, steps 8 and 9",
        "an ACK that echoes the time before the retransmission: cwnd, ssthresh, next segment",
        "cwnd 10 of 10 before, ssthresh as before, new data next",
    );
}

/// Both retransmissions of the first segment arrive after it: what counts is the state before the first timeout.
#[test]
fn dsacks_take_two_timeouts_for_one_segment_back() {
    let mut host = timed_out(undoing(Undo::DuplicateSack));
    host.at(3100).sends_timed(&[(3100, 1)]).has_window(1.0, 5.0);
    host.at(3200).ack(11, &[]).forget_sent().ack(11, &[1..2]);
    assert_eq!(undone(&host), 0);
    host.ack(11, &[1..2]);
    assert_eq!((undone(&host), host.connection.ssthresh()), (1, f64::INFINITY));
}

/// RFC 4015 (9): a mark was echoed, so there is congestion though nothing was lost.
#[test]
fn an_echoed_mark_keeps_the_reduction_of_a_spurious_timeout() {
    let config = undoing(Undo::Eifel).with_initial_window(10).with_timestamps(true).with_ecn(EcnMode::Classic);
    let mut host = Host::connect(&config);
    host.at(100).receives("SE. 0:0(0) ack 1 <mss 1000,sackOK,TS 7/0>").write(1_000_000).forget_sent();
    host.at(1100).sends_timed(&[(1100, 1)]).has_window(1.0, 5.0);
    // The first one forward neither grows the window nor restores it, but new data go on once others have arrived.
    host.at(1150).receives("E. 1:1(0) ack 1001 <TS 8/100>").has_window(1.0, 5.0).sends_nothing();
    host.receives(". 1:1(0) ack 10001 <TS 8/100>").has_window(6.0, 5.0).sends_numbers(&[11, 12, 13, 14, 15, 16]);
    assert_eq!((undone(&host), host.connection.statistics().retransmissions), (0, 1));
}

/// The ACK of the retransmission echoes its time: the loss was real.
#[test]
fn eifel_does_not_undo_a_real_loss() {
    let mut host = Host::connect(&undoing(Undo::Eifel).with_initial_window(10).with_timestamps(true));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 7/0>").write(1_000_000);
    host.at(1100).forget_sent();
    host.at(1200).receives(". 1:1(0) ack 1001 <TS 8/1100>").has_window(2.0, 5.0).sends_numbers(&[2, 3]);
    // Only the first ACK forward tells.
    host.receives(". 1:1(0) ack 2001 <TS 8/100>").has_window(3.0, 5.0);
    assert_eq!(undone(&host), 0);
}

/// The ACK that goes forward answers a retransmission from before the reduction: its time is older, and proves nothing. So does
/// Linux, whose `retrans_stamp` stays as long as anything sent again is outstanding.
#[test]
fn eifel_is_not_misled_by_retransmissions_of_an_earlier_recovery() {
    let config = undoing(Undo::Eifel).with_initial_window(10).with_timestamps(true).with_recovery_only(Recovery::Rack);
    let mut host = Host::connect(&config);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 7/0>").write(1_000_000).forget_sent();
    host.at(200).receives(". 1:1(0) ack 1 <TS 8/100,sack 1001:10001>").sends_numbers(&[1, 11, 12, 13, 14]);
    // 11 is lost too, and goes again before the recovery ends.
    host.at(300).receives(". 1:1(0) ack 1 <TS 9/200,sack 11001:14001>").sends_numbers(&[1, 11, 15, 16, 17]);
    host.at(310).receives(". 1:1(0) ack 10001 <TS 10/200,sack 11001:14001>").sends_numbers(&[18]);
    assert!(!host.connection.is_recovering());
    // 15 begins a recovery of its own. Then comes the answer to 11.
    host.at(400).receives(". 1:1(0) ack 10001 <TS 11/310,sack 11001:14001 15001:18001>").forget_sent();
    assert!(host.connection.is_recovering());
    let window = host.connection.ssthresh();
    host.at(420).receives(". 1:1(0) ack 14001 <TS 12/300,sack 15001:18001>");
    assert_eq!((undone(&host), host.connection.ssthresh()), (0, window));
}

/// A fast retransmit because of reordering: the late segment arrives before the second one, and recovery ends.
#[test]
fn eifel_takes_back_a_fast_retransmit_caused_by_reordering() {
    let mut host = Host::connect(&undoing(Undo::Eifel).with_initial_window(10).with_timestamps(true));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,TS 7/0>").write(1_000_000);
    host.at(200).receives(". 1:1(0) ack 1 <TS 8/0,sack 1001:4001>").has_window(5.0, 5.0);
    host.at(210).receives(". 1:1(0) ack 4001 <TS 9/100>");
    assert!(!host.connection.is_recovering());
    // Six or more are outstanding, four were acknowledged: at least the ten of before.
    assert!(host.connection.cwnd() >= 10.0, "{}", host.connection.cwnd());
    assert!(host.connection.ssthresh().is_infinite());
}

/// Without blocks of SACK three duplicates tell as much, and its end is told by nothing else.
#[test]
fn a_recovery_that_counts_duplicates_ends_when_it_proves_spurious() {
    for recovery in [Recovery::Reno { second_fast_retransmit: true }, Recovery::NewReno(NewRenoFlags::default())] {
        let config = undoing(Undo::Eifel).with_initial_window(10).with_timestamps(true).with_recovery_only(recovery);
        let mut host = Host::connect(&config);
        host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,TS 7/0>").write(1_000_000).at(200).forget_sent();
        for _ in 0..3 {
            host.receives(". 1:1(0) ack 1 <TS 8/0>");
        }
        assert!(host.connection.is_recovering(), "{recovery:?}");
        host.at(210).receives(". 1:1(0) ack 4001 <TS 9/100>");
        assert_eq!((undone(&host), host.connection.is_recovering()), (1, false), "{recovery:?}");
    }
}

/// RFC 3708 §3: every retransmission of the recovery arrived twice.
#[test]
fn dsacks_for_all_retransmissions_take_a_recovery_back() {
    for recovery in [Recovery::Rfc6675, Recovery::Rack] {
        let mut host =
            Host::connected(&undoing(Undo::DuplicateSack).with_initial_window(10).with_recovery_only(recovery));
        host.write(1_000_000).forget_sent();
        host.at(200).ack(1, &[3..8]).sends_numbers(&[1, 2]).has_window(5.0, 5.0);
        // Both were only late.
        host.at(210).ack(8, &[]).forget_sent();
        host.at(300).ack(8, &[1..2]);
        assert_eq!(undone(&host), 0);
        host.ack(8, &[2..3]);
        assert_eq!((undone(&host), host.connection.ssthresh()), (1, f64::INFINITY));
    }
    conforms(
        Area::Recovery,
        "dsack",
        "RFC 3708 §3; RFC 4015 §3.1, step 9",
        "reordering mistaken for two losses: after which DSACK the reduction is taken back",
        "after the second of two, not after the first; ssthresh restored",
    );
}

/// One of two was needed: the reduction stays.
#[test]
fn a_dsack_for_one_of_two_retransmissions_takes_nothing_back() {
    let mut host = Host::connected(&undoing(Undo::DuplicateSack).with_initial_window(10));
    host.write(1_000_000).forget_sent();
    host.at(200).ack(1, &[3..8]).sends_numbers(&[1, 2]).has_window(5.0, 5.0);
    host.at(300).ack(8, &[1..2]).ack(8, &[1..2]);
    assert_eq!((undone(&host), host.connection.ssthresh()), (0, 5.0));
}

/// RFC 2883 §4: the first block tells what arrived twice, once; what is above a hole is followed by the block it is part
/// of.
#[test]
fn a_duplicate_is_reported_once_in_the_first_block() {
    let mut host = Host::accepted(&plain());
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000"]);
    // §4.1.1, §4.1.3: a whole segment, and the first half of one.
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 <sack 1:1001>"]);
    host.receives(". 501:1501(1000) ack 1").sends(&[". 1:1(0) ack 1501 win 62500 <sack 501:1001>"]);
    // §4.2.1: behind a hole, with the larger block second.
    host.receives(". 2001:3001(1000) ack 1").sends(&[". 1:1(0) ack 1501 <sack 2001:3001>"]);
    host.receives(". 3001:4001(1000) ack 1").sends(&[". 1:1(0) ack 1501 <sack 2001:4001>"]);
    host.receives(". 2001:3001(1000) ack 1").sends(&[". 1:1(0) ack 1501 <sack 2001:3001 2001:4001>"]);
    host.receives(". 5001:6001(1000) ack 1").sends(&[". 1:1(0) ack 1501 <sack 5001:6001 2001:4001>"]);
    conforms(
        Area::Recovery,
        "dsack",
        "RFC 2883 §4",
        "SACK blocks after duplicates: whole, partial, above a hole, and the ACK after",
        "7 of 7 ACKs",
    );
}

/// ns-2's receivers tell of no duplicates.
#[test]
fn in_the_ns2_profile_nothing_is_reported() {
    let mut host = Host::accepted(&Config::ns2().with_acking(plain().acks.policy));
    host.receives(". 1:1001(1000) ack 1").forget_sent();
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 63000"]);
}

/// RFC 5827 §3.2: fewer than four outstanding and nothing new to send: all but one arrived means loss.
#[test]
fn early_retransmit_repairs_two_or_three_outstanding_segments() {
    let sent = |segments: u64, written: u64| {
        let mut host =
            Host::connected(&plain().with_dupthresh(Dupthresh::FewOutstanding).with_initial_window(segments as u32));
        host.write(written * 1000).forget_sent();
        host.at(200);
        host
    };
    sent(2, 2).ack(1, &[2..3]).sends_numbers(&[1]);
    sent(3, 3).ack(1, &[2..3]).sends_nothing().ack(1, &[2..4]).sends_numbers(&[1]);
    // One ACK may tell of both.
    sent(3, 3).ack(1, &[2..4]).sends_numbers(&[1]);
    // (3.a) four are enough for three duplicates; (3.b) new data cause some.
    sent(4, 4).ack(1, &[2..3]).ack(1, &[2..4]).sends_nothing().ack(1, &[2..5]).sends_numbers(&[1]);
    sent(2, 9).ack(1, &[2..3]).sends_numbers(&[3]);
    conforms(
        Area::Recovery,
        "early-retransmit",
        "RFC 5827 §3.2",
        "which duplicate retransmits with 2, 3 and 4 segments outstanding, and with new data",
        "first, second, third; with new data none earlier",
    );
}

/// Linux's `tcp_thin_dupack`: fewer than four outstanding and nothing new to send: the first duplicate means loss.
#[test]
fn the_first_duplicate_of_a_thin_stream_repairs() {
    let sent = |segments: u64, written: u64| {
        let mut host =
            Host::connected(&plain().with_dupthresh(Dupthresh::ThinStream).with_initial_window(segments as u32));
        host.write(written * 1000).forget_sent();
        host.at(200);
        host
    };
    sent(2, 2).ack(1, &[2..3]).sends_numbers(&[1]);
    sent(3, 3).ack(1, &[2..3]).sends_numbers(&[1]);
    sent(4, 4).ack(1, &[2..3]).ack(1, &[2..4]).sends_nothing().ack(1, &[2..5]).sends_numbers(&[1]);
    sent(2, 9).ack(1, &[2..3]).sends_numbers(&[3]);
    conforms(
        Area::Recovery,
        "thin streams",
        "Linux 2.6.34, tcp-thin.txt, `tcp_thin_dupack`",
        "which duplicate retransmits with 2, 3 and 4 segments outstanding, and with new data",
        "first, first, third; with new data none earlier",
    );
}

/// Nothing outstanding but one segment: no duplicate can come.
#[test]
fn early_retransmit_does_not_repair_a_lone_segment() {
    let mut host = Host::connected(&plain().with_dupthresh(Dupthresh::FewOutstanding));
    host.write(1000).forget_sent();
    host.at(200).ack(1, &[]).sends_nothing();
}
