//! Every control with every recovery that goes with it: each pair has cases of its own.

use crate::link::{Faults, faults, losses};
use crate::pair::{Closing, Pair, Reading, Script};
use crate::settings::{Family, Repair, configs_with, patient, usual_configs_with};
use crate::transfer::{STEPS, Transfer, assert_complete, one_direction, transfers};
use earlybird_tcp::{
    BbrParameters, Config, Control, IdleRto, Lifetimes, Recovery, RtoRestart, Segmentation, SpuriousDetection, Undo,
};
use earlybird_units::{Duration, Instant};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rstest::rstest;
use std::fmt::Debug;

/// Cases of each pair, unless `PROPTEST_CASES` says how many.
const CASES: u32 = 16;

/// Checks cases of every recovery that goes with the control.
fn check<S: Strategy<Value: Debug>>(
    family: Family,
    cases: impl Fn(Family, Repair) -> S,
    test: impl Fn(S::Value) + Copy,
) {
    let chosen = ProptestConfig { source_file: Some(file!()), ..ProptestConfig::default() };
    let is_chosen = std::env::var_os("PROPTEST_CASES").is_some();
    let config = if is_chosen { chosen } else { ProptestConfig { cases: CASES, ..chosen } };
    for repair in family.repairs() {
        let result = TestRunner::new(config.clone()).run(&cases(family, repair), |case| {
            test(case);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{family:?} with {repair:?}: {error}"));
    }
}

#[rstest]
#[case::reno(Family::Reno)]
#[case::pert(Family::Pert)]
#[case::cubic(Family::Cubic)]
#[case::bbr(Family::Bbr)]
#[case::bbr1(Family::Bbr1)]
#[case::copa(Family::Copa)]
#[case::prague(Family::Prague)]
#[case::tahoe(Family::Tahoe)]
#[case::vegas(Family::Vegas)]
fn every_byte_arrives_with_every_recovery(#[case] family: Family) {
    let cases = |family, repair| {
        let configs = || configs_with(family, repair);
        ([configs(), configs()], transfers(), faults(), any::<u64>())
    };
    check(family, cases, |(configs, transfer, faults, seed): ([Config; 2], Transfer, Faults, u64)| {
        let mut pair = Pair::new(configs, &transfer.scripts(&configs), faults, seed);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
    });
}

/// Without reordering, delays and early timeouts the sender at most underestimates what has left
/// the network.
#[rstest]
#[case::reno(Family::Reno)]
#[case::pert(Family::Pert)]
#[case::cubic(Family::Cubic)]
#[case::bbr(Family::Bbr)]
#[case::bbr1(Family::Bbr1)]
#[case::copa(Family::Copa)]
#[case::prague(Family::Prague)]
#[case::tahoe(Family::Tahoe)]
#[case::vegas(Family::Vegas)]
fn new_data_stay_within_the_window_with_every_recovery(#[case] family: Family) {
    let cases = |family, repair| (usual_configs_with(family, repair), losses(), 1_u64..300);
    check(family, cases, |(config, faults, segments): (Config, Faults, u64)| {
        let config = patient(config);
        let mut pair = Pair::new([config, config], &one_direction(segments * 1000), faults, 1);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
    });
}

/// A timeout for one segment that got lost again and again, while others had left just before: RACK-TLP spares those, and so
/// the two new segments of F-RTO (RFC 5682 §2.1, step 2b) have no room beside them in the window that the timeout left.
#[test]
fn f_rto_sends_nothing_new_beside_what_a_timeout_of_rack_spared() {
    use crate::link::Fate::{Arrives as A, IsLost as L};
    let fates = [vec![A, A, A, L, A, L, L, L, A, L, A, L, A, A, L, A, L, L, A, A, A, L, A, L, L], Vec::new()];
    let control = Control::Bbr(BbrParameters::DEFAULT);
    for timestamps in [false, true] {
        let spurious = SpuriousDetection { forward_rto: true, undo: Undo::None };
        let (lifetimes, recovery) = (Lifetimes::UNLIMITED, Recovery::Rack);
        let config = Config::rfc()
            .with_control_only(control)
            .with_recovery_only(recovery)
            .with_timestamps(timestamps)
            .with_spurious(spurious)
            .with_lifetimes(lifetimes);
        let config = patient(config.with_pmtu_black_hole_detection(false));
        let mut pair =
            Pair::new([config, config], &one_direction(39_000), Faults { delay: 196, fates: fates.clone() }, 1);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
    }
}

/// Each side takes one byte at a time. An acknowledgement that closes the window leaves before the application has read, and
/// what it reads opens the window again: the peer need not ask, which would take a minute for each byte.
#[test]
fn a_window_of_one_byte_that_was_closed_is_advertised_open() {
    let usual = Config::ns2().with_lifetimes(Lifetimes::UNLIMITED).with_idle_rto(IdleRto::Stop);
    let config = usual.with_mss(1).with_max_window(1).with_initial_window(1);
    let script = |bytes, closing| Script { writes: vec![(0, bytes)], reading: Reading::AtOnce, closing };
    let scripts = [script(57, Closing::First), script(5, Closing::Second)];
    let mut pair = Pair::new([config, config], &scripts, Faults { delay: 1, fates: [Vec::new(), Vec::new()] }, 1);
    pair.run(STEPS, Pair::is_over);
    assert_complete(&pair);
    assert!(pair.now < Instant::ZERO + Duration::from_secs(1), "it took until {:?}", pair.now);
}

/// BBR's probe of the round trip shrinks the window from 19 to 4 on the duplicate for which limited transmit would send a new
/// segment: the window that counts is the one that is left.
#[test]
fn limited_transmit_stays_within_the_window_that_its_ack_has_shrunk() {
    use crate::link::Fate::{Arrives as A, IsLost as L};
    let there = [&[A, L, A, A, A, L, A, A, A, A, L][..], &[A; 19], &[L]].concat();
    let faults = Faults { delay: 198, fates: [there, vec![A, L, A, L, L]] };
    let control = Control::Bbr(BbrParameters::DEFAULT);
    let recovery = Recovery::Reno { second_fast_retransmit: true };
    let config =
        Config::ns2().with_control_only(control).with_recovery_only(recovery).with_lifetimes(Lifetimes::UNLIMITED);
    let config = patient(config.with_pmtu_black_hole_detection(false));
    let mut pair = Pair::new([config, config], &one_direction(46_000), faults, 1);
    pair.run(STEPS, Pair::is_over);
    assert_complete(&pair);
}

/// Data and FIN got lost, and with them what would have ended the handshake on the other side. Its SYN-ACKs go on, once in a
/// minute as the retransmissions do, and the answers to our answers are duplicate ACKs.
#[test]
fn a_peer_that_goes_on_repeating_itself_does_not_put_off_the_timer_for_ever() {
    use crate::link::Fate::{Arrives as A, IsLost as L};
    let one_segment =
        Config::ns2().with_max_window(1).with_limited_transmit(false).with_lifetimes(Lifetimes::UNLIMITED);
    let config = one_segment.with_mss(10).with_recovery_only(Recovery::Rfc6675).with_idle_rto(IdleRto::Stop);
    let sender =
        config.with_max_window(2).with_rto_restart(RtoRestart::Duplicates).with_segmentation(Segmentation::Real);
    let script = |writes| Script { writes, reading: Reading::AtOnce, closing: Closing::First };
    let fates = [vec![A, A, A, L, L, A, A, A, L], vec![L; 11]];
    let scripts = [script(vec![(0, 10)]), script(vec![])];
    let mut pair = Pair::new([sender, config], &scripts, Faults { delay: 1, fates }, 0);
    pair.run(STEPS, Pair::is_over);
    assert_complete(&pair);
}
