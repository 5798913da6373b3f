//! Recovery without SACK step by step: Tahoe, Reno (RFC 5681 §3.2), `NewReno` (RFC 6582), in both profiles.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Config, Control, NewRenoFlags, Recovery};

const RENO: Recovery = Recovery::Reno { second_fast_retransmit: false };
const ORIGINAL: Recovery = Recovery::Reno { second_fast_retransmit: true };
const NEWRENO: Recovery = Recovery::NewReno(NewRenoFlags { is_impatient: true, deflates: true });

/// A connection without SACK, with ten segments outstanding and more to send, at 200 ms.
fn ten_out(profile: Config, recovery: Recovery) -> Host {
    let control = if recovery == Recovery::Tahoe { Control::Tahoe } else { Control::Reno };
    let mut host = Host::connected(
        &profile.with_initial_window(10).with_sack_blocks(0).with_recovery_only(recovery).with_control_only(control),
    );
    host.write(100_000).sends_numbers(&(1..=10).collect::<Vec<_>>());
    host.at(200);
    host
}

/// So many ACKs of what is acknowledged already.
fn duplicates(host: &mut Host, una: u64, count: u32) -> &mut Host {
    (0..count).for_each(|_| {
        host.ack(una, &[]);
    });
    host
}

/// RFC 5681 §3.2: (1) limited transmit, (2) ssthresh is half the flight without it, (3) the window is ssthresh and three,
/// (4) each further duplicate inflates it by one, (5) new data go when it allows, (6) the next new ACK deflates it.
#[test]
fn reno_inflates_with_each_duplicate_and_deflates_with_the_next_new_ack() {
    let mut host = ten_out(plain(), RENO);
    host.ack(1, &[]).sends_numbers(&[11]).ack(1, &[]).sends_numbers(&[12]);
    host.ack(1, &[]).sends_numbers(&[1]).has_window(5.0, 5.0);
    // Twelve are out; 5 + 3 + 4 = 12 leave no room, the eighth duplicate does.
    duplicates(&mut host, 1, 4).sends_nothing().ack(1, &[]).sends_numbers(&[13]);
    host.at(300).ack(13, &[]).has_window(5.0, 5.0).sends_numbers(&[14, 15, 16, 17]);
    assert!(!host.connection.is_recovering());
    host.at(400).ack(14, &[]).has_window(5.2, 5.0);
    follows(Area::Recovery, "reno", "RFC 5681 §3.2");
}

/// ns-2's `opencwnd` on the ACK that ends recovery.
#[test]
fn in_ns2_the_ack_that_ends_recovery_also_grows_the_window() {
    let mut host = ten_out(Config::ns2(), RENO);
    duplicates(&mut host, 1, 3).sends_numbers(&[11, 12, 1]).has_window(5.0, 5.0);
    host.at(300).ack(13, &[]).has_window(5.2, 5.0);
    follows(Area::Recovery, "reno", "ns-2.35 tcp-reno.cc");
}

/// ns-2's `bugFix_`: without it, each run of three duplicates halves again.
#[test]
fn a_second_loss_of_the_same_window_is_left_to_the_timer_unless_the_original_reno_is_asked_for() {
    for (recovery, sent, window) in [(RENO, vec![], (5.2, 5.0)), (ORIGINAL, vec![5], (2.6, 2.0))] {
        let mut host = ten_out(Config::ns2(), recovery);
        duplicates(&mut host, 1, 3).forget_sent();
        host.at(300).ack(5, &[]).sends_nothing();
        duplicates(&mut host, 5, 3).sends_numbers(&sent).has_window(window.0, window.1);
    }
    follows(Area::Recovery, "reno", "ns-2.35 tcp-reno.cc");
}

/// RFC 6582 §3.2 step 3: a partial ACK retransmits the next segment, takes what it acknowledges from the inflated window
/// but for one segment, and new data go if that allows. A full one leaves min(ssthresh, flight + 1).
#[test]
fn newreno_repairs_one_loss_per_partial_ack() {
    let mut host = ten_out(plain(), NEWRENO);
    // 1 and 4 are lost: eight duplicates.
    duplicates(&mut host, 1, 3).sends_numbers(&[11, 12, 1]).has_window(5.0, 5.0);
    duplicates(&mut host, 1, 5).sends_numbers(&[13]);
    // 5 + 8 - 3 + 1 = 11 from 4 on, ten are out.
    host.at(300).ack(4, &[]).sends_numbers(&[4, 14]);
    assert!(host.connection.is_recovering());
    // The duplicates of 11 and 12.
    duplicates(&mut host, 4, 2).sends_numbers(&[15, 16]).has_window(5.0, 5.0);
    // 14 to 16 are out.
    host.at(400).ack(14, &[]).has_window(4.0, 5.0).sends_numbers(&[17]);
    assert!(!host.connection.is_recovering());
    assert_eq!(host.connection.statistics().fast_retransmits, 1);
    follows(Area::Recovery, "newreno", "RFC 6582 §3.2");
}

/// RFC 6582 §4: "impatient" restarts the timer on the first partial ACK only, "slow but steady" on each.
#[test]
fn only_the_first_partial_ack_restarts_an_impatient_timer() {
    for (is_impatient, deadline) in [(true, 1300), (false, 1400)] {
        let mut host = ten_out(plain(), Recovery::NewReno(NewRenoFlags { is_impatient, deflates: true }));
        duplicates(&mut host, 1, 3);
        host.at(300).ack(3, &[]).at(400).ack(5, &[]);
        assert_eq!(host.deadline(), Some(deadline));
    }
    follows(Area::Recovery, "newreno", "RFC 6582 §4");
}

/// RFC 6582 §3.2 step 2: the ACK must cover more than `recover`, which a timeout sets to the highest number sent (step 4).
#[test]
fn after_a_timeout_duplicates_of_what_was_sent_before_it_retransmit_nothing() {
    let mut host = ten_out(plain(), NEWRENO);
    host.at(1100).sends_numbers(&[1]).has_window(1.0, 5.0);
    host.at(1200).ack(4, &[]).has_window(2.0, 5.0).sends_numbers(&[4, 5]);
    duplicates(&mut host, 4, 2).forget_sent();
    host.ack(4, &[]).sends_nothing().has_window(2.0, 5.0);
    assert_eq!(host.connection.statistics().fast_retransmits, 0);
    follows(Area::Recovery, "newreno", "RFC 6582 §3.2");
}

/// Jacobson 1988: a fast retransmit, then slow start from there.
#[test]
fn tahoe_restarts_with_one_segment() {
    let mut host = ten_out(plain(), Recovery::Tahoe);
    duplicates(&mut host, 1, 3).sends_numbers(&[11, 12, 1]).has_window(1.0, 6.0);
    duplicates(&mut host, 1, 5).sends_nothing();
    host.at(300).ack(3, &[]).has_window(2.0, 6.0).sends_numbers(&[3, 4]);
    host.at(400).ack(4, &[]).has_window(3.0, 6.0).sends_numbers(&[5, 6]);
    follows(Area::Recovery, "tahoe", "Jacobson 1988; ns-2.35 tcp.cc");
}

/// A peer that offers no SACK gets RFC 6582.
#[test]
fn without_sack_from_the_peer_newreno_repairs() {
    let mut host = Host::connect(&plain().with_initial_window(10));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000>");
    host.write(100_000).forget_sent();
    duplicates(host.at(200), 1, 3).sends_numbers(&[11, 12, 1]).has_window(5.0, 5.0);
    host.at(300).ack(4, &[]).sends_numbers(&[4]);
    host.at(400).ack(13, &[]);
    assert!(!host.connection.is_recovering());
    follows(Area::Recovery, "newreno", "RFC 6582 §3.2");
}
