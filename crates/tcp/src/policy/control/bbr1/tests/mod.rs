//! The modes, ACK by ACK: a path of 1000 segments a second and 50 ms, so that 50 of them fill it.

mod losses;
mod modes;

use super::*;
use earlybird_units::SeedTree;

const RTT: Duration = Duration::from_millis(50);
const PIPE: u64 = 50;

/// A control and what the sampler would count for it; an ACK per round trip.
struct Driver {
    bbr: Bbr1,
    now: Instant,
    delivered: u64,
    sample: RateSample,
}

impl Driver {
    fn new() -> Self {
        Self::with(Bbr1Parameters::LINUX, 1)
    }

    fn with(parameters: Bbr1Parameters, seed: u64) -> Self {
        let mut bbr = Bbr1::new(parameters, 1000, SeedTree::new(seed).random());
        bbr.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 10.0);
        bbr.on_opened(Instant::ZERO, Some(RTT));
        let sample = RateSample { rtt: Some(RTT), in_flight: PIPE, prior_in_flight: PIPE, ..RateSample::default() };
        Self { bbr, now: Instant::ZERO, delivered: 0, sample }
    }

    /// One round trip that delivers at this rate; gives the mode after it.
    fn round(&mut self, rate: u32) -> Mode {
        self.ack(RTT, rate, u64::from(rate) / 20, self.delivered)
    }

    /// An ACK after `time` of so many segments, the newest of them sent when `prior` were delivered.
    fn ack(&mut self, time: Duration, rate: u32, segments: u64, prior: u64) -> Mode {
        self.now += time;
        self.delivered += segments;
        let sample = RateSample {
            delivery_rate: Some(f64::from(rate)),
            delivered: segments,
            prior_delivered: prior,
            newly_acked: segments,
            total_delivered: self.delivered,
            ..self.sample
        };
        self.bbr.on_sample(self.now, &sample);
        self.bbr.mode
    }

    /// Segments are found to be lost by the ACK `time` from now.
    fn lose(&mut self, count: u64, time: Duration) {
        (0..count).for_each(|number| self.bbr.on_lost(self.now + time, &LostSegment::new(number, PIPE)));
    }

    /// Recovery begins with the ACK of the next round.
    fn begin_recovery(&mut self) {
        let info = crate::policy::recovery::LostSegmentInfo { duplicates: 3, transmissions: 1, sent: None };
        let flight = Flight { missing: Some(info), ..Flight::new(PIPE) };
        self.bbr.on_loss(&mut Cx { now: self.now, trace: &mut () }, &flight);
    }

    fn time_out(&mut self) {
        self.bbr.on_timeout(&mut Cx { now: self.now, trace: &mut () }, &Flight::new(PIPE));
    }

    /// The pipe is full, and its queue is drained.
    fn in_probe_bw(seed: u64) -> Self {
        let mut driver = Self::with(Bbr1Parameters::LINUX, seed);
        for rate in [200, 400, 800, 1000, 1000, 1000] {
            driver.round(rate);
        }
        while driver.round(1000) != Mode::ProbeBw {}
        driver
    }

    /// In the first phase at this gain.
    fn at_gain(gain: f64) -> Self {
        let mut driver = Self::in_probe_bw(1);
        driver.sample.prior_in_flight = 80;
        while !is_near(driver.bbr.pacing_gain, gain) {
            driver.ack(RTT + Duration::from_nanos(1), 1000, PIPE, driver.delivered);
        }
        driver
    }
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

fn assert_near(is: f64, expected: f64) {
    assert!(is_near(is, expected), "{is} instead of {expected}");
}
