//! Recovery, timeouts, spurious losses, and policers.

use super::*;
use alloc::vec::Vec;
use earlybird_conformance::{Area, conforms};

#[test]
fn a_recovery_conserves_packets_for_a_round_and_then_grows() {
    let mut driver = Driver::at_gain(1.0);
    let (bw, before) = (driver.bbr.bw(), driver.bbr.cwnd);
    driver.begin_recovery();
    driver.sample = RateSample { una: 100, snd_max: 200, in_flight: 45, ..driver.sample };
    let sent = driver.delivered - 10;
    let mut windows = Vec::new();
    for (losses, prior) in [(3, sent), (2, sent), (0, sent)] {
        driver.lose(losses, Duration::from_millis(5));
        driver.ack(Duration::from_millis(5), 1000, 2, prior);
        windows.push(driver.bbr.cwnd);
    }
    // The ACK that begins it leaves 45 in flight and delivers two.
    assert_eq!(windows, [47, 47, 47]);
    driver.ack(Duration::from_millis(50), 1000, 20, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 67, "a round later each delivered segment lets two be sent");
    driver.sample.una = 200;
    driver.ack(Duration::from_millis(50), 1000, 1, driver.delivered);
    assert_eq!(driver.bbr.cwnd, before, "everything that was outstanding is acknowledged");
    assert_near(driver.bbr.bw(), bw);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_set_cwnd_to_recover_or_restore, bbr_save_cwnd",
        "window after each of five ACKs of a recovery, and bandwidth after it",
        "6 of 6 values",
    );
}

#[test]
fn after_the_first_round_an_ack_takes_its_losses_off_the_window() {
    let mut driver = Driver::at_gain(1.0);
    driver.begin_recovery();
    driver.sample = RateSample { una: 100, snd_max: 200, in_flight: 20, ..driver.sample };
    driver.ack(RTT, 1000, 2, driver.delivered - 10);
    driver.ack(RTT, 1000, 2, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 24);
    driver.lose(7, RTT);
    driver.ack(RTT, 1000, 2, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 19);
    // A loss that a timer detects is not attributed to an ACK.
    driver.lose(7, Duration::from_millis(1));
    driver.ack(RTT, 1000, 2, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 21);
}

#[test]
fn a_recovery_goes_on_without_another_round_of_conservation_if_later_segments_are_lost() {
    let mut driver = Driver::at_gain(1.0);
    driver.begin_recovery();
    driver.sample = RateSample { una: 100, snd_max: 200, in_flight: 40, unrepaired: 1, ..driver.sample };
    driver.ack(RTT, 1000, 2, driver.delivered - 10);
    driver.ack(RTT, 1000, 20, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 62);
    driver.sample = RateSample { una: 200, snd_max: 260, ..driver.sample };
    driver.begin_recovery();
    driver.ack(RTT, 1000, 20, driver.delivered);
    assert_eq!((driver.bbr.cwnd, driver.bbr.recovery.state), (82, RepairState::Recovery));
    driver.sample = RateSample { una: 260, unrepaired: 0, ..driver.sample };
    driver.ack(RTT, 1000, 20, driver.delivered);
    assert_eq!(driver.bbr.recovery.state, RepairState::Open);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_input.c, tcp_time_to_recover, tcp_enter_recovery",
        "window and state of recovery where one recovery follows another with the same ACK",
        "4 of 4 values",
    );
}

#[test]
fn losses_without_end_neither_lower_the_bandwidth_nor_bound_the_window_for_good() {
    let mut driver = Driver::at_gain(1.0);
    let before = driver.bbr.cwnd;
    for round in 0..40 {
        driver.begin_recovery();
        driver.sample = RateSample { una: 100 * round, snd_max: 100 * round + 50, ..driver.sample };
        driver.lose(2, RTT);
        driver.round(1000);
        driver.sample.una += 60;
        driver.round(1000);
        assert_near(driver.bbr.bw(), 1000.0);
        assert!(driver.bbr.cwnd + 2 >= before, "{} after {before}", driver.bbr.cwnd);
    }
}

#[test]
fn a_loss_that_its_probe_repaired_begins_no_recovery() {
    let mut driver = Driver::at_gain(1.0);
    let before = driver.bbr.cwnd;
    driver.bbr.on_loss(&mut Cx { now: driver.now, trace: &mut () }, &Flight::new(PIPE));
    driver.sample = RateSample { una: 100, snd_max: 200, in_flight: 3, ..driver.sample };
    driver.ack(RTT, 1000, 2, driver.delivered);
    assert_eq!(driver.bbr.cwnd, before);
}

#[test]
fn a_timeout_leaves_what_is_in_flight_and_one_and_gives_the_window_back() {
    let mut driver = Driver::at_gain(1.0);
    let before = driver.bbr.cwnd;
    driver.time_out();
    assert_eq!(driver.bbr.cwnd, 1);
    let lost = |number| LostSegment { in_flight: 3 - number, ..LostSegment::new(number, PIPE) };
    (0..3).for_each(|number| driver.bbr.on_lost(driver.now, &lost(number)));
    assert_eq!(driver.bbr.cwnd, 2, "RACK has spared one");
    driver.sample = RateSample { una: 100, snd_max: 150, in_flight: 1, ..driver.sample };
    driver.ack(RTT, 20, 1, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 4, "no fewer than four");
    driver.ack(RTT, 100, 5, driver.delivered);
    assert_eq!(driver.bbr.cwnd, 9);
    driver.sample.una = 150;
    driver.ack(RTT, 100, 5, driver.delivered);
    assert_eq!(driver.bbr.cwnd, before);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_input.c, tcp_enter_loss; net/ipv4/tcp_bbr.c, bbr_set_state, bbr_set_cwnd",
        "window after a timeout, and after each of three ACKs",
        "4 of 4 values",
    );
}

#[test]
fn undo_of_a_timeout_restores_the_window_and_restarts_full_pipe_detection() {
    let mut driver = Driver::new();
    for rate in [200, 400, 400, 400] {
        assert_eq!(driver.round(rate), Mode::Startup);
    }
    let before = driver.bbr.cwnd;
    driver.time_out();
    driver.bbr.undo(&Window { cwnd: 1.0, ssthresh: 2.0 });
    driver.sample.snd_max = 10;
    assert_eq!(driver.round(400), Mode::Startup, "the rounds are counted anew");
    assert!(driver.bbr.cwnd >= before, "{} after {before}", driver.bbr.cwnd);
    assert_eq!([(); 3].map(|()| driver.round(400)), [Mode::Startup, Mode::Startup, Mode::Drain]);
}

/// A policer lets 500 segments a second pass and drops the fifth of what is sent.
fn policed(driver: &mut Driver, rounds: u64) -> Option<u64> {
    (1..=rounds).find(|_| {
        driver.lose(7, RTT);
        driver.round(500);
        driver.bbr.long_term.policed().is_some()
    })
}

#[test]
fn two_intervals_with_the_same_rate_and_a_fifth_lost_are_those_of_a_policer() {
    let mut driver = Driver::at_gain(1.25);
    // The first round starts the sampling, three more make an interval, and four the next one.
    assert_eq!(policed(&mut driver, 20), Some(8));
    assert_near(driver.bbr.bw(), 500.0);
    assert_near(driver.bbr.pacing_gain, 1.0);
    assert_near(driver.bbr.pacing_rate, 0.99 * 500.0);
    let rounds = (1..100).find(|_| {
        driver.round(500);
        driver.bbr.long_term.policed().is_none()
    });
    assert_eq!(rounds, Some(48));
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_lt_bw_sampling, bbr_lt_bw_interval_done",
        "rounds until a policer is detected, its rate, gain and pacing rate, rounds at its rate",
        "5 of 5 values",
    );
}

#[test]
fn fewer_losses_other_rates_and_waiting_applications_are_no_policer() {
    let mut few = Driver::at_gain(1.0);
    for _ in 0..60 {
        few.lose(4, RTT);
        few.round(500);
    }
    assert_eq!(few.bbr.long_term.policed(), None, "16 % of what was delivered");
    let mut changing = Driver::at_gain(1.0);
    for rate in [500, 900].into_iter().cycle().take(40).flat_map(|rate| [rate; 4]) {
        changing.lose(12, RTT);
        changing.round(rate);
    }
    assert_eq!(changing.bbr.long_term.policed(), None);
    let mut idle = Driver::at_gain(1.0);
    idle.sample.is_app_limited = true;
    assert_eq!(policed(&mut idle, 60), None);
    let parameters = Bbr1Parameters { detects_policers: false, ..Bbr1Parameters::LINUX };
    assert_eq!(policed(&mut Driver::with(parameters, 1), 60), None);
}

#[test]
fn timeouts_end_intervals_and_show_losses_too() {
    let mut driver = Driver::at_gain(1.0);
    driver.lose(1, RTT);
    (0..6).for_each(|_| {
        driver.round(500);
    });
    assert_eq!(driver.bbr.long_term.policed(), None);
    for _ in 0..6 {
        driver.time_out();
        (0..10).for_each(|number| driver.bbr.on_lost(driver.now, &LostSegment::new(number, PIPE)));
        driver.round(500);
    }
    assert!(driver.bbr.long_term.policed().is_some());
}
