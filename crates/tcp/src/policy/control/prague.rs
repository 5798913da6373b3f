//! Prague, a scalable control for L4S (draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331 §4). Marks are frequent, so each
//! reduces the window only by half the share of marked segments.

use super::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
use super::reno::{Reno, SMALLEST_SSTHRESH};
use super::{CongestionControl, Flight, Gauges, Marks, Progress, Window};
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::trace::Cx;
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};

/// Parameters of Prague.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PragueParameters {
    /// `g`: weight of an RTT in the smoothed share of marks (§2.3.2).
    pub gain: f64,
    /// Flows with a shorter RTT respond as often as with this one, and grow so that their rates are equal (§2.4.4).
    pub virtual_rtt: Duration,
}

impl PragueParameters {
    /// The draft's values.
    pub const DEFAULT: Self = Self { gain: 1.0 / 16.0, virtual_rtt: Duration::from_millis(25) };
}

impl ControlFactory for PragueParameters {
    fn name(&self) -> &'static str {
        "prague"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(Prague::new(Reno::of(setup), *self))
    }

    fn needs(&self, _rules: RecoveryRules) -> Needs {
        Needs { has_rate: true, marks: MarkAnswer::ByShare, ..Needs::default() }
    }
}

/// Prague's window.
#[derive(Clone, Debug)]
pub(crate) struct Prague {
    window: Reno,
    parameters: PragueParameters,
    /// The smoothed share of marked segments (EWMA), 1 before the first mark (§2.3.2).
    alpha: f64,
    has_marks: bool,
    round: Round,
    /// The round since the last reduction by marks.
    reduction: Option<Round>,
    /// Marks of the present ACK.
    marked: u64,
    /// Smoothed RTT in seconds.
    rtt: Option<f64>,
}

/// A round: from the ACK of a segment to that of the next one sent then, and at least a virtual RTT.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    started: Instant,
    /// Number of the next segment at that time.
    end: u64,
    delivered: u64,
    marked: u64,
}

/// Gain of the smoothed RTT (RFC 6298 §2.3).
const SRTT_GAIN: f64 = 0.125;
/// Pacing rate in windows per RTT below half the slow-start threshold (§2.5.1; Linux `tcp_prague.c`).
const SLOW_START_PACING_GAIN: f64 = 2.0;
/// Pacing rate in windows per RTT otherwise.
const PACING_GAIN: f64 = 1.0;

impl Round {
    fn new(started: Instant, end: u64) -> Self {
        Self { started, end, delivered: 0, marked: 0 }
    }

    fn is_over(&self, now: Instant, una: u64, min_duration: Duration) -> bool {
        una > self.end && now - self.started >= min_duration
    }

    fn share(&self) -> f64 {
        // Feedback of lost ACKs may report more marks than deliveries of this round.
        self.marked.min(self.delivered) as f64 / self.delivered.max(1) as f64
    }
}

impl Prague {
    pub(crate) fn new(window: Reno, parameters: PragueParameters) -> Self {
        Self {
            window,
            parameters,
            alpha: 1.0,
            has_marks: false,
            round: Round::default(),
            reduction: None,
            marked: 0,
            rtt: None,
        }
    }

    fn update_srtt(&mut self, sample: Duration) {
        let sample = sample.as_secs_f64();
        self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt + SRTT_GAIN * (sample - rtt)));
    }

    /// Counts marks, and updates `alpha` once per round. It stays 1 before the first mark, as in Linux.
    fn update_alpha(&mut self, now: Instant, marks: &Marks) {
        self.marked = marks.marked;
        self.has_marks |= marks.marked > 0;
        self.round.delivered += marks.delivered;
        self.round.marked += marks.marked;
        if self.round.is_over(now, marks.una, self.parameters.virtual_rtt) {
            if self.has_marks {
                // §2.3.2: alpha ← alpha + g·(F − alpha).
                self.alpha += self.parameters.gain * (self.round.share() - self.alpha);
            }
            self.round = Round::new(now, marks.snd_max);
        }
    }

    /// Returns the increase per RTT in segments: (RTT / virtual RTT)² for a short RTT, as there are more of them (§2.4.4).
    fn increase(&self) -> f64 {
        let min_duration = self.parameters.virtual_rtt.as_secs_f64();
        let share = self.rtt.filter(|rtt| *rtt < min_duration).map_or(1.0, |rtt| rtt / min_duration);
        share * share
    }
}

impl CongestionControl for Prague {
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        self.window.on_established(cx, initial_window);
    }

    /// Grows the window by unmarked segments, also in the round of a reduction (§2.4.3).
    fn on_progress(&mut self, _cx: &mut Cx<'_>, progress: &Progress) {
        // With pacing the flight reaches the window only at times, so each ACK is checked by itself: congestion window validation
        // over an RTT would let it grow beyond its share beside classic flows.
        if progress.flight < self.cwnd() as u64 {
            return;
        }
        // §2.4.3: additive increase in proportion to the unmarked segments keeps the growth continuous.
        let unmarked = progress.acked.saturating_sub(self.marked) as f64;
        let is_slow_start = self.window.is_slow_start();
        self.window.grow_by(if is_slow_start { unmarked } else { self.increase() * unmarked / self.cwnd() });
    }

    fn is_scalable(&self) -> bool {
        true
    }

    /// Reduces the window by alpha/2 on the first mark of a round (§2.4.2), unless a recovery has already halved it.
    fn on_marks(&mut self, now: Instant, marks: &Marks) -> bool {
        if let Some(rtt) = marks.rtt {
            self.update_srtt(rtt);
        }
        self.update_alpha(now, marks);
        let min_duration = self.parameters.virtual_rtt;
        if self.reduction.is_some_and(|round| round.is_over(now, marks.una, min_duration)) {
            self.reduction = None;
        }
        if marks.marked == 0 || marks.is_recovering || self.reduction.is_some() {
            return false;
        }
        // §2.4.2: cwnd ← (1 − alpha/2)·cwnd, as in DCTCP (RFC 8257 §3.3).
        let cwnd = (self.cwnd() * (1.0 - self.alpha / 2.0)).max(SMALLEST_SSTHRESH);
        self.window.set(cwnd, cwnd);
        self.reduction = Some(Round::new(now, marks.snd_max));
        true
    }

    /// Halves the flight, which marks have already reduced (§2.4.1; RFC 9331 §4.3).
    fn on_loss(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.window.on_loss(cx, flight);
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>, flight: &Flight) {
        self.window.on_timeout(cx, flight);
    }

    fn deflate(&mut self, cx: &mut Cx<'_>, segments: f64) {
        self.window.deflate(cx, segments);
    }

    fn undo(&mut self, window: &Window) {
        self.window.undo(window);
    }

    fn on_idle(&mut self, window: &Window) {
        self.window.on_idle(window);
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<f64> {
        let pace = if self.cwnd() < self.ssthresh() / 2.0 { SLOW_START_PACING_GAIN } else { PACING_GAIN };
        // With integer windows it may be halved to zero, and still sends one segment per RTT.
        self.rtt.filter(|rtt| *rtt > 0.0).map(|rtt| pace * self.cwnd().max(1.0) / rtt)
    }

    fn gauges(&self) -> Gauges {
        Gauges { mark_share: Some(self.alpha), ..Gauges::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::factory::Halved;
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "draft-briscoe-iccrg-prague-congestion-control-04";

    fn prague(cwnd: f64) -> Prague {
        let mut prague = Prague::new(Reno::new(10_000, cwnd, Halved::Flight), PragueParameters::DEFAULT);
        prague.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, cwnd);
        prague
    }

    fn marks(delivered: u64, marked: u64, una: u64, snd_max: u64) -> Marks {
        let rtt = Some(Duration::from_millis(50));
        Marks { delivered, marked, rtt, una, snd_max, is_recovering: false }
    }

    /// Rounds of 100 segments and 50 ms that are told by one ACK each; gives the smoothed share after each of them.
    fn shares(prague: &mut Prague, marked: &[u64]) -> Vec<f64> {
        let mut shares = Vec::new();
        for (round, marked) in (1..).zip(marked) {
            let now = Instant::ZERO + Duration::from_millis(50) * round;
            prague.on_marks(now, &marks(100, *marked, 100 * round, 100 * round + 99));
            shares.push(prague.alpha);
        }
        shares
    }

    #[test]
    fn the_share_of_marks_is_averaged_once_per_round() {
        let marked = [10, 0, 30, 100, 5, 0, 0, 1];
        let mut expected = 1.0;
        for (share, marked) in shares(&mut prague(100.0), &marked).into_iter().zip(marked) {
            expected = (1.0 - 1.0 / 16.0) * expected + marked as f64 / 100.0 / 16.0;
            assert!((share - expected).abs() < 1e-12, "{share}, not {expected}");
        }
        // A steady share F: α after n rounds is F + (1 − F)(1 − g)ⁿ.
        let steady = shares(&mut prague(100.0), &[20; 40])[39];
        assert!((steady - (0.2 + 0.8 * libm::pow(15.0 / 16.0, 40.0))).abs() < 1e-12);
        let compared = "α over 8 rounds with g = 1/16, and after 40 with a steady share";
        conforms(Area::Control, "prague", &format!("{SOURCE} §2.3.2"), compared, "9 of 9 within 1e-12");
    }

    #[test]
    fn before_the_first_mark_the_share_stays_at_one() {
        assert!(shares(&mut prague(100.0), &[0; 30]).iter().all(|share| share.total_cmp(&1.0).is_eq()));
    }

    #[test]
    fn the_first_mark_of_a_round_shrinks_the_window_by_half_the_share() {
        let mut prague = prague(100.0);
        shares(&mut prague, &[0; 3]);
        prague.alpha = 0.2;
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        assert!(prague.on_marks(at(200), &marks(1, 1, 399, 500)));
        assert!((prague.cwnd() - 90.0).abs() < 1e-9 && prague.ssthresh().total_cmp(&prague.cwnd()).is_eq());
        assert!(!prague.on_marks(at(249), &marks(1, 1, 500, 590)), "still the same round");
        assert!(prague.on_marks(at(251), &marks(1, 1, 501, 591)));
        prague.alpha = 0.2;
        let recovering = Marks { is_recovering: true, ..marks(1, 1, 700, 800) };
        assert!(!prague.on_marks(at(400), &recovering), "the loss has halved it");
        let compared = "reductions by α/2 at 4 marks of 2 rounds and of a recovery";
        conforms(Area::Control, "prague", &format!("{SOURCE} §2.4.2"), compared, "4 of 4");
    }

    #[test]
    fn a_window_halved_to_nothing_still_has_a_rate() {
        let mut prague = Prague::new(Reno::new(64, 1.0, Halved::WholeWindow), PragueParameters::DEFAULT);
        shares(&mut prague, &[0]);
        prague.on_loss(&mut Cx { now: Instant::ZERO, trace: &mut () }, &Flight::new(1));
        assert!(prague.cwnd().abs() < f64::EPSILON);
        assert!(prague.pacing_rate().is_some_and(|rate| rate >= 1.0 / 0.05), "{:?}", prague.pacing_rate());
    }

    #[test]
    fn short_round_trips_add_less_so_that_rates_grow_as_with_25_ms() {
        let mut prague = prague(100.0);
        for (millis, share) in [(5, 0.04), (12, 0.2304), (25, 1.0), (100, 1.0)] {
            prague.rtt = Some(f64::from(millis) / 1000.0);
            assert!((prague.increase() - share).abs() < 1e-12, "{millis} ms");
        }
        let compared = "increase per round trip at 5, 12, 25 and 100 ms";
        conforms(Area::Control, "prague", &format!("{SOURCE} §2.4.4"), compared, "4 of 4 within 1e-12");
    }
}
