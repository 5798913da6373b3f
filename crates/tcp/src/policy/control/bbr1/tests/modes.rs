//! Startup, Drain, the gain cycle, the RTT probe and idle periods.

use super::super::mode::GAINS;
use super::super::window::PACING_MARGIN;
use super::*;
use earlybird_conformance::{Area, conforms};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

#[test]
fn startup_paces_an_initial_window_at_the_high_gain() {
    let mut driver = Driver::new();
    assert_near(driver.bbr.pacing_rate, PACING_MARGIN * 739.0 / 256.0 * 10.0 / 0.05);
    driver.bbr.on_opened(Instant::ZERO, None);
    assert_near(driver.bbr.pacing_rate, PACING_MARGIN * 739.0 / 256.0 * 10.0 / 0.001);
    driver.round(100);
    assert_near(driver.bbr.pacing_rate, PACING_MARGIN * 739.0 / 256.0 * 10.0 / 0.05);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_init_pacing_rate_from_rtt",
        "pacing rate with the RTT of the handshake, without one, and after its first sample",
        "3 of 3 values within 1e-9",
    );
}

#[test]
fn startup_ends_when_three_rounds_bring_less_than_a_quarter_more() {
    let mut driver = Driver::new();
    driver.sample.in_flight = 2 * PIPE;
    let modes = [200, 400, 800, 1000, 1100, 1200, 1200].map(|rate| driver.round(rate));
    let mut expected = [Mode::Startup; 7];
    expected[6] = Mode::Drain;
    assert_eq!(modes, expected);
    assert_near(driver.bbr.pacing_rate, PACING_MARGIN * 88.0 / 256.0 * 1200.0);
    // 60 segments fill 1200 of them a second, and three bursts of two are allowed for.
    driver.sample.in_flight = 67;
    assert_eq!(driver.round(1200), Mode::Drain);
    driver.sample.in_flight = 66;
    assert_eq!(driver.round(1200), Mode::ProbeBw);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_check_full_bw_reached, bbr_check_drain",
        "mode after each of nine round trips",
        "9 of 9 modes",
    );
}

#[test]
fn rounds_limited_by_the_application_neither_end_startup_nor_lower_the_bandwidth() {
    let mut driver = Driver::new();
    driver.round(500);
    driver.sample.is_app_limited = true;
    (0..90).for_each(|_| assert_eq!(driver.round(300), Mode::Startup));
    assert_near(driver.bbr.bw(), 500.0);
    driver.round(600);
    assert_near(driver.bbr.bw(), 600.0);
}

#[test]
fn the_bandwidth_is_the_maximum_of_ten_rounds() {
    let mut driver = Driver::in_probe_bw(1);
    let rates: [f64; 12] = core::array::from_fn(|_| {
        driver.round(800);
        driver.bbr.bw()
    });
    assert!(rates[..9].iter().all(|bw| is_near(*bw, 1000.0)), "{rates:?}");
    assert_near(rates[11], 800.0);
}

#[test]
fn the_cycle_starts_in_any_phase_but_the_one_that_drains() {
    let starts: BTreeSet<usize> = (0..200).map(|seed| Driver::in_probe_bw(seed).bbr.cycle.index).collect();
    assert_eq!(starts.into_iter().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 6, 7]);
    assert_eq!(Driver::in_probe_bw(7).bbr.cycle.index, Driver::in_probe_bw(7).bbr.cycle.index);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_reset_probe_bw_mode",
        "first phases of the gain cycle with 200 seeds",
        "7 of 7 phases, and never that with gain 3/4",
    );
}

#[test]
fn each_phase_of_the_cycle_lasts_a_round_trip() {
    let mut driver = Driver::at_gain(1.25);
    let gains: [f64; 16] = core::array::from_fn(|_| {
        let gain = driver.bbr.pacing_gain;
        assert_near(driver.bbr.pacing_rate, PACING_MARGIN * gain * 1000.0);
        driver.ack(RTT + Duration::from_nanos(1), 1000, PIPE, driver.delivered);
        gain
    });
    assert_eq!(gains[..8], GAINS);
    assert_eq!(gains[8..], GAINS);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_pacing_gain; Cardwell et al. 2016, Steady-state Behavior",
        "gains of two cycles",
        "16 of 16 gains",
    );
}

/// 1.25 times 50 segments, rounded up, and three bursts of two; an even number, and two more while probing.
#[test]
fn a_probe_lasts_until_a_quarter_more_is_in_flight_or_lost() {
    let over = |prior_in_flight: u64, losses: u64| {
        let mut driver = Driver::at_gain(1.25);
        driver.sample.prior_in_flight = prior_in_flight;
        let time = RTT + Duration::from_nanos(1);
        driver.lose(losses, time);
        driver.ack(time, 1000, PIPE, driver.delivered);
        driver.bbr.pacing_gain < 1.0
    };
    // The segments that the pacer sends next count.
    assert_eq!([over(69, 0), over(70, 0), over(10, 1)], [false, true, true]);
}

#[test]
fn draining_ends_when_no_more_is_in_flight_than_fills_the_pipe() {
    let over = |prior_in_flight: u64, pacing_delay: Duration| {
        let mut driver = Driver::at_gain(0.75);
        driver.sample.prior_in_flight = prior_in_flight;
        driver.sample.pacing_delay = pacing_delay;
        driver.ack(Duration::from_millis(1), 1000, 1, driver.delivered);
        is_near(driver.bbr.pacing_gain, 1.0)
    };
    // By the time the pacer sends the next one, three more have left.
    let later = Duration::from_millis(3);
    assert_eq!([over(57, Duration::ZERO), over(56, Duration::ZERO), over(59, later)], [false, true, true]);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_is_next_cycle_phase, bbr_packets_in_net_at_edt, bbr_quantization_budget",
        "whether six flights end a phase at gain 5/4 or 3/4",
        "6 of 6",
    );
}

#[test]
fn the_window_is_twice_the_bdp_with_room_for_three_bursts() {
    let driver = Driver::at_gain(1.0);
    let (extra, bursts) = (driver.bbr.aggregation.extra(1000.0), 3 * 2);
    assert_eq!(driver.bbr.cwnd, (2 * PIPE + extra + bursts).next_multiple_of(2));
}

#[test]
fn the_round_trip_is_probed_every_10_s_with_four_segments_for_200_ms() {
    let mut driver = Driver::in_probe_bw(1);
    driver.sample.rtt = Some(RTT + Duration::from_millis(1));
    let before = driver.now;
    let mut window = driver.bbr.cwnd;
    while driver.round(1000) != Mode::ProbeRtt {
        window = driver.bbr.cwnd;
    }
    let waited = driver.now - before;
    assert!(waited > Duration::from_secs(10) && waited <= Duration::from_millis(10_050), "{waited:?}");
    assert_eq!((driver.bbr.cwnd, driver.bbr.is_probing_rtt()), (4, true));
    assert_eq!(driver.bbr.min_rtt.value, Some(RTT + Duration::from_millis(1)), "the old one has expired");
    driver.sample.in_flight = 5;
    driver.round(80);
    driver.sample.in_flight = 4;
    let modes = [(); 6].map(|()| driver.round(80));
    assert_eq!((&modes[..5], modes[5]), (&[Mode::ProbeRtt; 5][..], Mode::ProbeBw), "200 ms after four were in flight");
    assert!((102..=window).contains(&driver.bbr.cwnd), "{} after {window}: the window comes back", driver.bbr.cwnd);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_update_min_rtt, bbr_check_probe_rtt_done",
        "time of entry, window, the mode after each of seven round trips, window afterwards",
        "10 of 10 values",
    );
}

#[test]
fn a_probe_of_the_round_trip_in_startup_leads_back_to_startup() {
    let mut driver = Driver::new();
    driver.sample = RateSample { is_app_limited: true, in_flight: 4, rtt: Some(RTT + RTT), ..driver.sample };
    while driver.round(300) != Mode::ProbeRtt {}
    while driver.round(300) == Mode::ProbeRtt {}
    assert_eq!(driver.bbr.mode, Mode::Startup);
}

#[test]
fn a_delayed_ack_replaces_no_minimum() {
    let mut driver = Driver::in_probe_bw(1);
    driver.now += Duration::from_secs(11);
    driver.sample = RateSample { rtt: Some(RTT + RTT), may_be_delayed: true, ..driver.sample };
    driver.round(1000);
    assert_eq!(driver.bbr.min_rtt.value, Some(RTT));
    driver.sample.may_be_delayed = false;
    driver.round(1000);
    assert_eq!(driver.bbr.min_rtt.value, Some(RTT + RTT));
}

#[test]
fn a_restart_after_an_idle_period_is_paced_at_the_bandwidth_and_replaces_the_probe_of_the_round_trip() {
    let mut driver = Driver::at_gain(1.25);
    driver.now += Duration::from_secs(11);
    driver.bbr.on_restart(driver.now, false);
    assert_near(driver.bbr.pacing_rate, PACING_MARGIN * 1250.0);
    driver.bbr.on_restart(driver.now, true);
    assert_near(driver.bbr.pacing_rate, PACING_MARGIN * 1000.0);
    assert_eq!(driver.round(1000), Mode::ProbeBw);
    driver.now += Duration::from_secs(11);
    assert_eq!(driver.round(1000), Mode::ProbeRtt, "without a rest");
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_cwnd_event",
        "pacing rate and mode after 11 s of rest, with and without data that waited",
        "4 of 4 values",
    );
}

#[test]
fn a_rest_ends_a_probe_of_the_round_trip_whose_time_is_over() {
    let mut driver = Driver::in_probe_bw(1);
    driver.sample.rtt = Some(RTT + RTT);
    driver.sample.in_flight = 4;
    while driver.round(1000) != Mode::ProbeRtt {}
    driver.now += Duration::from_secs(1);
    driver.bbr.on_restart(driver.now, true);
    assert_eq!(driver.bbr.mode, Mode::ProbeBw);
}

#[test]
fn segments_leave_one_by_one_below_1_2_megabits_and_for_a_millisecond_above() {
    let mut driver = Driver::new();
    let quanta = [100.0, 149.0, 151.0, 5000.0, 1e6].map(|rate| {
        driver.bbr.pacing_rate = rate;
        driver.bbr.quantum()
    });
    assert_eq!(quanta, [1, 1, 2, 4, 65]);
    conforms(
        Area::Control,
        "bbr1",
        "Linux net/ipv4/tcp_bbr.c, bbr_tso_segs_goal, bbr_min_tso_segs",
        "burst in segments of 1000 bytes at five rates",
        "5 of 5 values",
    );
}
