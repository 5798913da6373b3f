//! CUBIC of RFC 9438, with windows as real numbers of segments.

use super::CubicConfig;
use super::curve::CubicCurve;
use crate::policy::control::reno::{SMALLEST_SSTHRESH, slow_start_share};
use crate::policy::control::slow_start::SlowStart;
use crate::policy::control::{CongestionControl, Flight, Progress, Window, trace_syn_ack};
use crate::trace::Cx;
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};

/// `β_cubic` (RFC 9438 §4.6).
const BETA: f64 = 0.7;
/// `α_cubic`: the additive increase that has Reno's average window with this β (RFC 9438 §4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The largest ratio of target to window (RFC 9438 §4.2).
const MAX_TARGET_RATIO: f64 = 1.5;
/// Gain of the smoothed RTT (RFC 6298 §2.3).
const SRTT_GAIN: f64 = 0.125;

#[derive(Debug)]
pub(super) struct Cubic {
    cwnd: f64,
    ssthresh: f64,
    largest: f64,
    config: CubicConfig,
    reduces_flight: bool,
    slow_start: Box<dyn SlowStart>,
    /// Smoothed RTT in seconds.
    srtt: Option<f64>,
    /// `W_max`; zero if there is none, before the first loss and after a timeout.
    w_max: f64,
    /// `cwnd_prior`: the window at the last change of the threshold.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// `w_max`, `cwnd_prior` and epoch before the last reduction, for an undo.
    saved: (f64, f64, Option<Epoch>),
}

/// An epoch of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    curve: CubicCurve,
    /// Time in this epoch, without periods in which the window was not used (RFC 9438 §5.8).
    elapsed: Duration,
    updated: Instant,
    /// `W_est`: the estimated window of Reno.
    w_est: f64,
}

impl Epoch {
    fn new(now: Instant, w_max: f64, cwnd: f64) -> Self {
        Self { curve: CubicCurve::new(w_max, cwnd), elapsed: Duration::ZERO, updated: now, w_est: cwnd }
    }

    fn advance(&mut self, now: Instant) {
        self.elapsed += now - self.updated;
        self.updated = now;
    }
}

impl Cubic {
    pub(super) fn new(config: CubicConfig, largest: u32, ssthresh: f64, reduces_flight: bool) -> Self {
        Self {
            cwnd: 1.0,
            ssthresh,
            largest: f64::from(largest),
            config,
            reduces_flight,
            slow_start: config.slow_start.policy(),
            srtt: None,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            saved: (0.0, 0.0, None),
        }
    }

    fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn update_srtt(&mut self, sample: Duration) {
        let sample = sample.as_secs_f64();
        self.srtt = Some(self.srtt.map_or(sample, |srtt| srtt + SRTT_GAIN * (sample - srtt)));
    }

    /// Grows in slow start, and by congestion avoidance with the rest of an ACK.
    fn slow_start(&mut self, now: Instant, progress: &Progress, may_grow: bool) {
        let step = self.slow_start.on_progress(now, progress, self.cwnd);
        let growth = if may_grow { step.growth } else { 0.0 };
        let slow_start_growth = slow_start_share(growth, self.cwnd, self.ssthresh);
        self.cwnd += slow_start_growth;
        if step.is_over {
            self.ssthresh = self.cwnd.max(SMALLEST_SSTHRESH);
            self.cwnd_prior = self.cwnd;
        } else if slow_start_growth < growth {
            self.congestion_avoidance(now, growth - slow_start_growth, growth - slow_start_growth);
        }
    }

    /// Follows the curve, or Reno where that is faster (RFC 9438 §4.3 to §4.5).
    fn congestion_avoidance(&mut self, now: Instant, acked: f64, growth: f64) {
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, self.w_max, self.cwnd));
        self.w_max = epoch.curve.w_max();
        epoch.advance(now);
        // RFC 9438 §4.3: α_cubic until W_est reaches cwnd_prior, then 1, as Reno.
        let alpha = if epoch.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        // RFC 9438 equation 4.
        epoch.w_est += alpha * acked / self.cwnd;
        let elapsed = epoch.elapsed.as_secs_f64();
        if epoch.curve.at(elapsed) < epoch.w_est {
            // Never reduce: the window follows the curve one RTT ahead and may exceed `W_est`.
            self.cwnd = self.cwnd.max(epoch.w_est);
        } else {
            // RFC 9438 §4.2: the target is the curve one RTT ahead.
            let ahead = epoch.curve.at(elapsed + self.srtt.unwrap_or(0.0));
            let target = ahead.clamp(self.cwnd, MAX_TARGET_RATIO * self.cwnd);
            self.cwnd += (growth * (target - self.cwnd) / self.cwnd).min(target - self.cwnd);
        }
    }

    /// Returns the threshold after a loss or timeout, and records the window as `cwnd_prior` (RFC 9438 §4.6).
    ///
    /// The flight counts up to the window, which that section allows and RFC 5681 §3.2 requires for limited transmit: behind an open
    /// hole `SACKed` segments accumulate far beyond any window, and 0.7 of that would be no reduction.
    fn reduced(&mut self, flight: Flight) -> f64 {
        self.cwnd_prior = self.cwnd;
        self.epoch = None;
        let most = if self.reduces_flight { flight.outstanding as f64 } else { self.largest };
        (BETA * self.cwnd.min(most)).max(SMALLEST_SSTHRESH)
    }

    /// Returns `W_max` after a loss (RFC 9438 §4.7).
    fn next_w_max(&self) -> f64 {
        if self.config.fast_convergence && self.cwnd < self.w_max {
            // RFC 9438 §4.7: release bandwidth to new flows.
            self.cwnd * (1.0 + BETA) / 2.0
        } else {
            self.cwnd
        }
    }
}

impl CongestionControl for Cubic {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        trace_syn_ack(cx, self);
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        if let Some(rtt) = progress.rtt {
            self.update_srtt(rtt);
        }
        let may_grow = progress.growth > 0.0;
        if self.is_slow_start() {
            self.slow_start(cx.now, progress, may_grow);
        } else if may_grow {
            self.congestion_avoidance(cx.now, progress.acked as f64, progress.growth);
        } else if let Some(epoch) = &mut self.epoch {
            // RFC 9438 §5.8: time without use of the window does not count.
            epoch.updated = cx.now;
        }
    }

    fn on_loss(&mut self, _cx: &mut Cx<'_>, flight: &Flight) {
        self.saved = (self.w_max, self.cwnd_prior, self.epoch);
        self.w_max = self.next_w_max();
        self.ssthresh = self.reduced(*flight);
        self.cwnd = self.ssthresh;
        self.slow_start.on_loss();
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_>, flight: &Flight) {
        self.saved = (self.w_max, self.cwnd_prior, self.epoch);
        // A repeated timeout keeps the threshold (RFC 5681 §3.1).
        if !self.reduces_flight || self.cwnd > 1.0 {
            self.ssthresh = self.reduced(*flight);
        }
        // `W_max` becomes the window at the start of congestion avoidance (RFC 9438 §4.8).
        self.w_max = 0.0;
        self.cwnd = 1.0;
        self.slow_start.on_timeout();
    }

    fn deflate(&mut self, _cx: &mut Cx<'_>, segments: f64) {
        self.cwnd = (self.cwnd - segments).max(1.0);
    }

    /// Restores the epoch (RFC 9438 §4.9).
    fn undo(&mut self, window: &Window) {
        (self.w_max, self.cwnd_prior, self.epoch) = self.saved;
        self.cwnd = self.cwnd.max(window.cwnd);
        self.ssthresh = self.ssthresh.max(window.ssthresh);
    }

    fn on_idle(&mut self, window: &Window) {
        (self.cwnd, self.ssthresh) = (window.cwnd, window.ssthresh);
        self.epoch = None;
    }

    fn on_resumed(&mut self, now: Instant) {
        if let Some(epoch) = &mut self.epoch {
            epoch.updated = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::control::slow_start::Step;
    use earlybird_conformance::{Area, conforms};

    /// A control in congestion avoidance at 100 segments, driven by ACKs without a network.
    struct Driver {
        cubic: Cubic,
        now: f64,
        srtt: f64,
    }

    impl Driver {
        fn new(config: CubicConfig, cwnd: f64, srtt: f64) -> Self {
            let mut cubic = Cubic::new(config, u32::MAX, cwnd, false);
            cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, cwnd);
            Self { cubic, now: 1.0, srtt }
        }

        fn ack_used(&mut self, flight: u64) {
            self.now += self.srtt / self.cubic.cwnd;
            let srtt = Some(Duration::from_secs_f64(self.srtt));
            let growth = if flight >= self.cubic.cwnd as u64 { 1.0 } else { 0.0 };
            let progress = Progress { una: 0, growth, ..Progress::new(1, flight, srtt) };
            let now = Instant::ZERO + Duration::from_secs_f64(self.now);
            self.cubic.on_progress(&mut Cx { now, trace: &mut () }, &progress);
        }

        fn ack(&mut self) {
            self.ack_used(u64::MAX);
        }

        fn acks_for(&mut self, seconds: f64) {
            let end = self.now + seconds;
            while self.now < end {
                self.ack();
            }
        }

        fn lose(&mut self) {
            let flight = Flight::new(self.cubic.cwnd as u64);
            self.cubic.on_loss(&mut Cx { now: Instant::ZERO, trace: &mut () }, &flight);
        }

        fn time_out(&mut self) {
            let flight = Flight::new(self.cubic.cwnd as u64);
            self.cubic.on_timeout(&mut Cx { now: Instant::ZERO, trace: &mut () }, &flight);
        }
    }

    #[derive(Debug)]
    struct OverAtOnce;

    impl SlowStart for OverAtOnce {
        fn on_progress(&mut self, _now: Instant, _progress: &Progress, _cwnd: f64) -> Step {
            Step { growth: 0.0, is_over: true }
        }
    }

    /// RFC 5681 §3.1 has no threshold below two segments.
    #[test]
    fn a_slow_start_that_ends_at_one_segment_leaves_a_threshold_of_two() {
        let mut driver = Driver::new(CubicConfig::RFC9438, 1.0, 0.1);
        driver.cubic.ssthresh = f64::INFINITY;
        driver.cubic.slow_start = Box::new(OverAtOnce);
        driver.ack_used(0);
        assert!((driver.cubic.ssthresh() - 2.0).abs() < f64::EPSILON);
    }

    /// Loss intervals in segments, and the mean windows of RFC 9438's tables 1 and 2 (C = 0.4).
    const TABLE_1: [(u32, f64); 7] = [
        (100, 12.0),
        (1000, 38.0),
        (10_000, 187.0),
        (100_000, 1054.0),
        (1_000_000, 5926.0),
        (10_000_000, 33_325.0),
        (100_000_000, 187_400.0),
    ];
    const TABLE_2: [(u32, f64); 7] = [
        (100, 12.0),
        (1000, 38.0),
        (10_000, 120.0),
        (100_000, 379.0),
        (1_000_000, 1200.0),
        (10_000_000, 5926.0),
        (100_000_000, 33_325.0),
    ];

    /// Returns the segments per round trip over so many loss intervals.
    fn mean_window(driver: &mut Driver, interval: u32, intervals: u32) -> f64 {
        let start = driver.now;
        for _ in 0..intervals {
            (0..interval).for_each(|_| driver.ack());
            driver.lose();
        }
        f64::from(intervals) * f64::from(interval) * driver.srtt / (driver.now - start)
    }

    /// Plateau and mean of the curve that takes exactly one loss interval from β times the plateau back to it.
    fn steady_curve(srtt: f64, interval: f64) -> (f64, f64) {
        let segments_and_mean = |w_max: f64| {
            let curve = CubicCurve::new(w_max, BETA * w_max);
            let steps = 1000;
            let window = |step| curve.at((f64::from(step) + 0.5) / f64::from(steps) * curve.k());
            let mean = (0..steps).map(window).sum::<f64>() / f64::from(steps);
            (mean * curve.k() / srtt, mean)
        };
        let (mut low, mut high) = (1.0, 1e6);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if segments_and_mean(middle).0 < interval { low = middle } else { high = middle }
        }
        (low, segments_and_mean(low).1)
    }

    #[test]
    fn the_curves_mean_windows_are_those_of_tables_1_and_2() {
        for (srtt, table) in [(0.1, TABLE_1), (0.01, TABLE_2)] {
            for (interval, expected) in table {
                let (_, mean) = steady_curve(srtt, f64::from(interval));
                // In the Reno-friendly region: 1.2 / √p (RFC 9438 equation 5 with α and β of equation 4).
                let w_est = 1.2 * libm::sqrt(f64::from(interval));
                let mean = mean.max(w_est);
                assert!((mean - expected).abs() <= 0.5_f64.max(2e-5 * expected), "{srtt} s, one in {interval}: {mean}");
            }
        }
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §5.1 and §5.2, tables 1 and 2 (C = 0.4)",
            "mean windows of the curve and of Reno's estimate under one loss in 10² to 10⁸ segments, RTT 0.1 and 0.01 s",
            "14 of 14 to all printed digits",
        );
    }

    /// Kept at the steady state; a control with fast convergence nears it from below, one without from above.
    #[test]
    fn a_control_in_the_steady_state_of_tables_1_and_2_stays_there() {
        let config = CubicConfig { fast_convergence: false, ..CubicConfig::RFC9438 };
        let cases = TABLE_1[2..4].iter().map(|row| (0.1, row)).chain(TABLE_2[4..5].iter().map(|row| (0.01, row)));
        for (srtt, &(interval, expected)) in cases {
            let (w_max, _) = steady_curve(srtt, f64::from(interval));
            let mut driver = Driver::new(config, w_max, srtt);
            driver.lose();
            let mean = mean_window(&mut driver, interval, 3);
            assert!((mean / expected - 1.0).abs() < 0.03, "{srtt} s, one in {interval}: {mean}, not {expected}");
        }
    }

    #[test]
    fn a_control_from_a_cold_start_has_the_mean_windows_of_tables_1_and_2() {
        for (srtt, table) in [(0.1, TABLE_1), (0.01, TABLE_2)] {
            for (interval, expected) in &table[..4] {
                let mut driver = Driver::new(CubicConfig::RFC9438, 2.0, srtt);
                mean_window(&mut driver, *interval, 12);
                let mean = mean_window(&mut driver, *interval, 6);
                assert!((mean / expected - 1.0).abs() < 0.07, "{srtt} s, one in {interval}: {mean}, not {expected}");
            }
        }
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §5.1 and §5.2, tables 1 and 2 (C = 0.4)",
            "mean windows of the control itself, 12 losses after the start, one loss in 10² to 10⁵ segments",
            "8 of 8 within 7 % (−6.5 to +4.6 %: the tables assume a loss exactly at the plateau)",
        );
    }

    /// 70 segments after a loss at 100: K = 4.2 s; at 200 ms Reno would still be below the curve after 8 s.
    #[test]
    fn after_a_loss_the_window_is_concave_up_to_the_plateau_and_convex_beyond() {
        let mut driver = Driver::new(CubicConfig::RFC9438, 100.0, 0.2);
        driver.lose();
        assert!((driver.cubic.cwnd - 70.0).abs() < 1e-12 && (driver.cubic.ssthresh - 70.0).abs() < 1e-12);
        let start = driver.now;
        let mut windows = [0.0; 8];
        for (second, window) in windows.iter_mut().enumerate() {
            driver.acks_for(start + second as f64 + 1.0 - driver.now);
            *window = driver.cubic.cwnd;
        }
        let steps = core::array::from_fn::<f64, 7, _>(|index| windows[index + 1] - windows[index]);
        assert!(steps[..3].windows(2).all(|pair| pair[1] < pair[0]), "{steps:?}");
        assert!(steps[4..].windows(2).all(|pair| pair[1] > pair[0]), "{steps:?}");
        // One round trip behind the curve at most.
        let curve = CubicCurve::new(100.0, 70.0);
        for (second, window) in windows.into_iter().enumerate() {
            let seconds = second as f64 + 1.0;
            assert!(window >= curve.at(seconds - 0.2) - 0.1 && window <= curve.at(seconds + 0.2) + 0.1, "{window}");
        }
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §4.4 and §4.5",
            "window over 8 s after a loss at 100 segments, RTT 0.2 s: concave to the plateau, convex beyond, along W_cubic(t)",
            "8 of 8 windows within a round trip of the curve",
        );
    }

    /// `W_est`: α/1 per round trip from 70 on, 1 from `cwnd_prior` on (RFC 9438 §4.3).
    #[test]
    fn at_10_ms_the_window_grows_as_reno_would() {
        let mut driver = Driver::new(CubicConfig::RFC9438, 100.0, 0.01);
        driver.lose();
        driver.acks_for(0.2);
        assert!((driver.cubic.cwnd - (70.0 + 20.0 * ALPHA)).abs() < 0.5, "{}", driver.cubic.cwnd);
        driver.acks_for(0.1 / ALPHA * 3.0 - 0.2);
        let at_prior = driver.cubic.cwnd;
        assert!((at_prior - 100.0).abs() < 1.0, "{at_prior}");
        driver.acks_for(0.1);
        assert!((driver.cubic.cwnd - at_prior - 10.0).abs() < 1.0, "{}", driver.cubic.cwnd);
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §4.3",
            "Reno-friendly region at RTT 10 ms: 0.53 segments per round trip up to the window before the loss, then 1",
            "within 1 segment over 57 and 10 round trips",
        );
    }

    /// RFC 9438 §4.7: a second loss below the plateau lowers it to 70 · 1.7/2.
    #[test]
    fn fast_convergence_lowers_the_plateau_below_the_window() {
        for (fast_convergence, w_max) in [(true, 59.5), (false, 70.0)] {
            let mut driver = Driver::new(CubicConfig { fast_convergence, ..CubicConfig::RFC9438 }, 100.0, 0.1);
            driver.lose();
            driver.lose();
            assert!((driver.cubic.w_max - w_max).abs() < 1e-12);
            assert!((driver.cubic.cwnd - 49.0).abs() < 1e-12);
        }
    }

    /// RFC 9438 §4.8: threshold 0.7 · 100; the plateau is where congestion avoidance begins, K = 0.
    #[test]
    fn after_a_timeout_the_curve_begins_at_its_plateau() {
        let mut driver = Driver::new(CubicConfig::RFC9438, 100.0, 0.1);
        driver.time_out();
        assert!((driver.cubic.cwnd - 1.0).abs() < 1e-12 && (driver.cubic.ssthresh - 70.0).abs() < 1e-12);
        (0..69).for_each(|_| driver.ack());
        assert!((driver.cubic.cwnd - 70.0).abs() < 1e-12 && driver.cubic.epoch.is_none());
        driver.ack();
        let curve = driver.cubic.epoch.unwrap().curve;
        assert_eq!((curve.w_max(), curve.k()), (70.0, 0.0));
    }

    /// RFC 9438 §4.2: never more than half the window in a round trip, however steep the curve.
    #[test]
    fn the_target_is_at_most_one_and_a_half_windows() {
        let mut driver = Driver::new(CubicConfig::RFC9438, 10.0, 5.0);
        driver.acks_for(20.0);
        for _ in 0..20 {
            let saved = driver.cubic.cwnd;
            driver.ack();
            assert!(driver.cubic.cwnd <= saved + 0.5 + 1e-12);
        }
    }

    /// RFC 9438 §5.8: an application that does not use the window neither raises it nor lets the curve run on.
    #[test]
    fn an_unused_window_does_not_grow_and_its_time_does_not_count() {
        let mut busy = Driver::new(CubicConfig::RFC9438, 100.0, 0.1);
        let mut pausing = Driver::new(CubicConfig::RFC9438, 100.0, 0.1);
        for driver in [&mut busy, &mut pausing] {
            driver.lose();
            driver.acks_for(2.0);
        }
        let saved = pausing.cubic.cwnd;
        (0..5000).for_each(|_| pausing.ack_used(50));
        assert!((pausing.cubic.cwnd - saved).abs() < 1e-12);
        // A silence, too.
        pausing.now += 100.0;
        pausing.cubic.on_resumed(Instant::ZERO + Duration::from_secs_f64(pausing.now));
        for driver in [&mut busy, &mut pausing] {
            driver.acks_for(2.0);
        }
        assert!((busy.cubic.cwnd - pausing.cubic.cwnd).abs() < 0.1);
        conforms(
            Area::Control,
            "cubic",
            "RFC 9438 §5.8",
            "7 s of a window half used and 100 s of silence neither raise the window nor count as time",
            "the same window 2 s later as without them, within 0.1 segments",
        );
    }

    /// RFC 9438 §4.6: the segments in flight are reduced, not a window that was not used.
    #[test]
    fn a_loss_among_50_segments_in_flight_leaves_35() {
        let mut cubic = Cubic::new(CubicConfig::RFC9438, 1000, f64::INFINITY, true);
        cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 100.0);
        cubic.on_loss(&mut Cx { now: Instant::ZERO, trace: &mut () }, &Flight::new(50));
        assert!((cubic.cwnd - 35.0).abs() < 1e-12 && (cubic.w_max - 100.0).abs() < 1e-12);
    }

    /// 539 segments piled up behind a hole: 0.7 of them made a threshold of 377 for a path of 47, and nine packets in ten lost.
    #[test]
    fn what_piled_up_behind_a_hole_made_a_reduction_that_was_none() {
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let mut cubic = Cubic::new(CubicConfig::RFC9438, 1000, f64::INFINITY, true);
        cubic.on_established(cx, 100.0);
        cubic.on_loss(cx, &Flight::new(539));
        assert!((cubic.cwnd - 70.0).abs() < 1e-12 && (cubic.ssthresh - 70.0).abs() < 1e-12);
        cubic.on_timeout(cx, &Flight::new(539));
        assert!((cubic.cwnd - 1.0).abs() < 1e-12 && (cubic.ssthresh - 49.0).abs() < 1e-12);
    }

    /// RFC 5681 §3.1: only the first of several timeouts of a segment sets the threshold.
    #[test]
    fn a_second_timeout_holds_the_threshold() {
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let mut cubic = Cubic::new(CubicConfig::RFC9438, 1000, f64::INFINITY, true);
        cubic.on_established(cx, 10.0);
        for _ in 0..3 {
            cubic.on_timeout(cx, &Flight::new(10));
            assert!((cubic.cwnd - 1.0).abs() < 1e-12 && (cubic.ssthresh - 7.0).abs() < 1e-12);
        }
    }

    /// RFC 9438 §4.10: the curve begins where `HyStart`++ leaves slow start, without a loss.
    #[test]
    fn where_slow_start_ends_without_a_loss_the_curve_begins_at_its_plateau() {
        let mut driver = Driver::new(CubicConfig::RFC9438, 100.0, 0.1);
        driver.ack();
        let epoch = driver.cubic.epoch.unwrap();
        assert_eq!((epoch.curve.w_max(), epoch.curve.k()), (100.0, 0.0));
    }
}
