//! BBR's state machine, ACK by ACK: a path of 1000 segments a second and 50 ms, so that 50 of them fill it.

use super::window::SMALLEST_CWND;
use super::*;
use earlybird_conformance::{Area, conforms};
use earlybird_units::SeedTree;

const RTT: Duration = Duration::from_millis(50);
const PIPE: u64 = 50;

/// A control and what the sampler would count for it; an ACK per round trip.
struct Driver {
    bbr: Bbr,
    now: Instant,
    delivered: u64,
    sample: RateSample,
}

impl Driver {
    fn new() -> Self {
        let mut bbr = Bbr::new(BbrParameters::DEFAULT, SeedTree::new(1).random());
        bbr.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 10.0);
        bbr.on_opened(Instant::ZERO, Some(RTT));
        let sample = RateSample { rtt: Some(RTT), in_flight: PIPE, tx_in_flight: PIPE, ..RateSample::default() };
        Self { bbr, now: Instant::ZERO, delivered: 0, sample }
    }

    /// One round trip that delivers at this rate; gives the state after it.
    fn round(&mut self, rate: u32) -> State {
        let segments = u64::from(rate) / 20;
        self.now += RTT;
        let prior_delivered = self.delivered;
        self.delivered += segments;
        let sample = RateSample {
            delivery_rate: Some(f64::from(rate)),
            delivered: segments,
            prior_delivered,
            newly_acked: segments,
            total_delivered: self.delivered,
            ..self.sample
        };
        self.bbr.on_sample(self.now, &sample);
        self.bbr.state
    }

    /// Segments of the last round trip get lost: these numbers, of as many in flight as the sample says.
    fn lose(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for (count, number) in (1..).zip(numbers) {
            let lost = LostSegment {
                number,
                tx_in_flight: self.sample.tx_in_flight,
                lost: count,
                is_app_limited: self.sample.is_app_limited,
                total_delivered: self.delivered,
                in_flight: self.sample.in_flight,
            };
            self.sample.lost = count;
            self.bbr.on_lost(self.now, &lost);
        }
    }

    /// Through startup to the state wanted, with the pipe full.
    fn until(state: State) -> Self {
        let mut driver = Self::new();
        for rate in [200, 400, 800, 1000, 1000, 1000] {
            driver.round(rate);
        }
        for _ in 0..400 {
            if driver.round(1000) == state {
                return driver;
            }
        }
        panic!("{state:?} never came");
    }
}

#[test]
fn startup_ends_when_three_rounds_bring_less_than_a_quarter_more() {
    let mut driver = Driver::new();
    driver.sample.in_flight = 2 * PIPE;
    let states = [200, 400, 800, 1000, 1100, 1200, 1200].map(|rate| driver.round(rate));
    let mut expected = [State::Startup; 7];
    expected[6] = State::Drain;
    assert_eq!(states, expected);
    driver.sample.in_flight = 61;
    assert_eq!(driver.round(1200), State::Drain, "one more than fills 1200 segments a second");
    driver.sample.in_flight = 60;
    assert_eq!(driver.round(1200), State::Cruise, "DOWN ends at once: the queue is empty");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Exiting STARTUP on Bandwidth Plateau; Exiting DRAIN Based on Inflight (example test cases)",
        "state after each of nine round trips",
        "9 of 9 states",
    );
}

#[test]
fn rounds_limited_by_the_application_never_end_startup() {
    let mut driver = Driver::new();
    driver.sample.is_app_limited = true;
    (0..90).for_each(|_| assert_eq!(driver.round(300), State::Startup));
}

#[test]
fn startup_ends_after_a_round_of_repair_with_six_losses_apart() {
    let ended = |numbers: &[u64], is_app_limited: bool| {
        let mut driver = Driver::new();
        driver.sample.is_app_limited = is_app_limited;
        driver.sample.snd_max = 1000;
        driver.round(400);
        driver.bbr.on_loss(&mut Cx { now: driver.now, trace: &mut () }, &Flight::new(PIPE));
        driver.lose(numbers.iter().copied());
        driver.round(400) == State::Drain || driver.round(400) == State::Drain
    };
    let (apart, together) = ([1, 3, 5, 7, 9, 11], [1, 2, 3, 4, 5, 6]);
    assert!(ended(&apart, false) && ended(&apart, true), "even if the application limits");
    assert!(!ended(&apart[1..], false), "five loss_runs");
    assert!(!ended(&together, false), "one run");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Exiting STARTUP on Loss When Application-Limited (example test case)",
        "whether four patterns of loss end startup",
        "4 of 4",
    );
}

#[test]
fn drain_ends_after_three_rounds_if_the_queue_does_not() {
    let mut driver = Driver::new();
    driver.sample.in_flight = 2 * PIPE;
    while driver.round(1000) != State::Drain {}
    let states = [(); 4].map(|()| driver.round(900));
    assert_eq!(states, [State::Drain, State::Drain, State::Drain, State::Down]);
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Exiting DRAIN Based on Time (example test case)",
        "state after each round trip with a queue that stays",
        "4 of 4 states",
    );
}

#[test]
fn a_probe_of_bandwidth_goes_up_for_three_rounds_without_growth() {
    let mut driver = Driver::until(State::Up);
    assert_eq!([(); 4].map(|()| driver.round(1000)), [State::Up, State::Up, State::Down, State::Cruise]);
    let mut driver = Driver::until(State::Up);
    driver.sample.is_app_limited = true;
    (0..30).for_each(|_| assert_eq!(driver.round(1000), State::Up, "the application limits"));
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Exiting PROBE_UP on Bandwidth Plateau; Never Exiting PROBE_UP When Application-Limited",
        "state after each round trip",
        "34 of 34 states",
    );
}

/// 60 in flight, of which the second loss exceeds 2 %: the volume just before it was safe, 59 + (0.02·59 − 1)/0.98.
#[test]
fn losses_in_a_probe_bound_the_volume_and_end_the_probe() {
    let mut driver = Driver::until(State::Up);
    driver.sample.tx_in_flight = 60;
    driver.lose([1]);
    assert_eq!(driver.bbr.state, State::Up);
    driver.lose([1, 2]);
    assert_eq!(driver.bbr.state, State::Down);
    let safe = driver.bbr.probing.inflight;
    assert!((safe - (59.0 + 0.18 / 0.98)).abs() < 1e-9, "{safe}");
    driver.sample.lost = 0;
    driver.sample.tx_in_flight = 40;
    driver.round(1000);
    driver.round(1000);
    assert_eq!(driver.bbr.state, State::Cruise);
    assert!((driver.bbr.cwnd - 0.85 * safe).abs() < 1e-9, "room is left to others: {}", driver.bbr.cwnd);
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Probing for Bandwidth In ProbeBW; Handling Loss During PROBE_UP (example test case)",
        "inflight_longterm at the loss that crosses 2 % of 60 segments, and the window with headroom",
        "2 of 2 values within 1e-9",
    );
}

#[test]
fn losses_far_beyond_the_threshold_leave_seven_tenths_of_the_pipe() {
    let mut driver = Driver::until(State::Up);
    driver.sample.tx_in_flight = 10;
    driver.lose([1]);
    let safe = driver.bbr.probing.inflight;
    assert!((safe - 0.7 * 50.0).abs() < 1e-9, "{safe}");
}

#[test]
fn the_round_trip_is_probed_with_half_a_pipe_for_200_ms() {
    let mut driver = Driver::until(State::ProbeRtt);
    assert!(
        driver.now > Instant::ZERO + Duration::from_secs(5) && driver.now < Instant::ZERO + Duration::from_millis(5200)
    );
    assert!((driver.bbr.cwnd - 25.0).abs() < 1e-9, "{}", driver.bbr.cwnd);
    assert!(driver.bbr.is_probing_rtt());
    driver.sample.in_flight = 25;
    let states = [(); 6].map(|()| driver.round(500));
    assert_eq!(states[..5], [State::ProbeRtt; 5]);
    assert_eq!(states[5], State::Cruise, "200 ms after 25 were in flight");
    assert!(driver.bbr.cwnd > 25.0, "the window comes back");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Entering and Exiting PROBE_RTT (example test case)",
        "time of entry, window, states of the next six round trips",
        "8 of 8 values",
    );
}

#[test]
fn a_rest_replaces_the_probe_of_the_round_trip() {
    let mut driver = Driver::until(State::Cruise);
    driver.now += Duration::from_secs(6);
    driver.bbr.on_restart(driver.now, true);
    assert_ne!(driver.round(1000), State::ProbeRtt);
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Skipping PROBE_RTT Due to Application-Limited Sending (example test case)",
        "state after a rest of 6 s",
        "1 of 1",
    );
}

#[test]
fn a_probe_of_the_round_trip_in_startup_leads_back_to_startup() {
    let mut driver = Driver::new();
    driver.sample.is_app_limited = true;
    driver.sample.in_flight = 4;
    while driver.round(300) != State::ProbeRtt {}
    while driver.round(300) == State::ProbeRtt {}
    assert_eq!(driver.bbr.state, State::Startup);
}

#[test]
fn the_window_comes_back_after_a_timeout_is_repaired() {
    let mut driver = Driver::until(State::Cruise);
    let before = driver.bbr.cwnd;
    driver.bbr.on_timeout(&mut Cx { now: driver.now, trace: &mut () }, &Flight::new(PIPE));
    assert!((driver.bbr.cwnd - 1.0).abs() < 1e-9);
    (driver.sample.una, driver.sample.snd_max) = (100, 150);
    driver.round(20);
    assert!((driver.bbr.cwnd - SMALLEST_CWND).abs() < 1e-9, "{}", driver.bbr.cwnd);
    (driver.sample.una, driver.sample.snd_max) = (150, 160);
    driver.round(1000);
    assert!(driver.bbr.cwnd >= before, "{} after {before}", driver.bbr.cwnd);
}

/// A probe ended by losses, which then turn out to be none.
#[test]
fn losses_that_were_none_lead_back_to_the_probe() {
    let mut driver = Driver::until(State::Up);
    driver.sample.tx_in_flight = 60;
    driver.bbr.on_loss(&mut Cx { now: driver.now, trace: &mut () }, &Flight::new(60));
    driver.lose([1, 2]);
    assert_eq!((driver.bbr.state, driver.bbr.probing.inflight.is_finite()), (State::Down, true));
    driver.bbr.undo(&Window { cwnd: 1.0, ssthresh: 2.0 });
    assert_eq!((driver.bbr.state, driver.bbr.probing.inflight.is_infinite()), (State::Refill, true));
    driver.bbr.undo(&Window { cwnd: 1.0, ssthresh: 2.0 });
    assert_eq!(driver.bbr.state, State::Refill, "once");
    conforms(
        Area::Control,
        "bbr",
        "draft-ietf-ccwg-bbr, Handling Spurious Fast Recovery (example test case)",
        "state and inflight_longterm after losses and after their undoing",
        "5 of 5 values",
    );
}

#[test]
fn a_spurious_timeout_restores_the_window() {
    let mut driver = Driver::until(State::Cruise);
    let before = driver.bbr.cwnd;
    driver.bbr.on_timeout(&mut Cx { now: driver.now, trace: &mut () }, &Flight::new(PIPE));
    driver.bbr.undo(&Window { cwnd: 1.0, ssthresh: 2.0 });
    assert!((driver.bbr.cwnd - before).abs() < 1e-9);
}
