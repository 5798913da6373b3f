//! `HyStart`++: modified slow start (RFC 9406).
//!
//! An increase of the RTT moves the sender into conservative slow start (CSS), where the window grows at a quarter of the speed. If
//! the RTT decreases again within five rounds, slow start continues.

use super::{SlowStart, Step};
use crate::policy::control::Progress;
use earlybird_units::{Duration, Instant};

/// Bounds and divisor of the RTT increase that is required (RFC 9406 §4.3).
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: f64 = 8.0;
/// The number of samples of a round before it is evaluated (RFC 9406 §4.3).
const N_RTT_SAMPLE: u32 = 8;
/// The divisor of the growth in CSS (RFC 9406 §4.3).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// The number of rounds in CSS (RFC 9406 §4.3).
const CSS_ROUNDS: u32 = 5;
/// The most segments that an ACK may add, without pacing (RFC 9406 §4.3).
const L: u64 = 8;

#[derive(Clone, Debug, Default)]
pub(crate) struct HystartPlusPlus {
    phase: Phase,
    /// One past the highest segment sent at the start of the round (`windowEnd`). It is read at the first ACK of the round, after the
    /// transmissions of the last ACK: otherwise rounds would start earlier and earlier in a burst, where the queue is longest.
    window_end: Option<u64>,
    last_round_min_rtt: Option<Duration>,
    current_round_min_rtt: Option<Duration>,
    rtt_sample_count: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    SlowStart,
    /// Conservative slow start since `rounds` rounds, with the RTT that started it (`cssBaselineMinRtt`).
    Conservative { css_baseline_min_rtt: Duration, rounds: u32 },
    /// Disabled: it applies to the first slow start only (RFC 9406 §4.3).
    Finished,
}

impl HystartPlusPlus {
    fn growth(&self, progress: &Progress) -> f64 {
        // RFC 9406 §4.2: cwnd += min(N, L·SMSS), divided by CSS_GROWTH_DIVISOR in CSS.
        let acked = progress.acked.min(L) as f64;
        match self.phase {
            Phase::SlowStart => acked,
            Phase::Conservative { .. } => acked / CSS_GROWTH_DIVISOR,
            Phase::Finished => progress.growth,
        }
    }

    fn take_sample(&mut self, rtt: Duration) {
        self.current_round_min_rtt = Some(self.current_round_min_rtt.map_or(rtt, |smallest| smallest.min(rtt)));
        self.rtt_sample_count += 1;
    }

    fn check_delay(&mut self) {
        let Some(current_round_min_rtt) = self.current_round_min_rtt.filter(|_| self.rtt_sample_count >= N_RTT_SAMPLE)
        else {
            return;
        };
        match self.phase {
            Phase::SlowStart
                if self.last_round_min_rtt.is_some_and(|last| current_round_min_rtt >= last + rtt_thresh(last)) =>
            {
                self.phase = Phase::Conservative { css_baseline_min_rtt: current_round_min_rtt, rounds: 0 };
            }
            Phase::Conservative { css_baseline_min_rtt, .. } if current_round_min_rtt < css_baseline_min_rtt => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    fn end_round(&mut self) {
        self.window_end = None;
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_sample_count = 0;
        if let Phase::Conservative { css_baseline_min_rtt, rounds } = self.phase {
            // The round in which CSS starts counts too (RFC 9406 §4.2).
            self.phase = Phase::Conservative { css_baseline_min_rtt, rounds: rounds + 1 };
        }
    }

    fn is_over(&mut self) -> bool {
        let is_over = matches!(self.phase, Phase::Conservative { rounds, .. } if rounds >= CSS_ROUNDS);
        if is_over {
            self.phase = Phase::Finished;
        }
        is_over
    }
}

/// Returns `RttThresh` (RFC 9406 §4.2).
fn rtt_thresh(last: Duration) -> Duration {
    last.mul_f64(1.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

impl SlowStart for HystartPlusPlus {
    fn on_progress(&mut self, _now: Instant, progress: &Progress, _cwnd: f64) -> Step {
        let growth = self.growth(progress);
        if let Some(rtt) = progress.rtt {
            self.take_sample(rtt);
            self.check_delay();
        }
        // The first ACK of a round fixes its end.
        let window_end = *self.window_end.get_or_insert(progress.snd_max);
        if progress.una >= window_end {
            self.end_round();
        }
        Step { growth, is_over: self.is_over() }
    }

    fn on_loss(&mut self) {
        self.phase = Phase::Finished;
    }

    fn on_timeout(&mut self) {
        self.phase = Phase::Finished;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Two rounds of 64 ms, so that a rise of 64/8 = 8 ms counts.
    fn rounds() -> Rounds<HystartPlusPlus> {
        let mut rounds = Rounds::new(HystartPlusPlus::default(), 10);
        assert!(!rounds.round(MS(1), &[MS(64)]));
        assert!(!rounds.round(MS(1), &[MS(64)]));
        assert_eq!(rounds.rule.phase, Phase::SlowStart);
        rounds
    }

    #[test]
    fn slow_start_adds_one_segment_per_ack() {
        assert!((rounds().cwnd - 40.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_rise_of_an_eighth_in_eight_samples_begins_conservative_slow_start() {
        for (rtt, is_careful) in [(71, false), (72, true)] {
            let mut rounds = rounds();
            for sample in 1..=8 {
                assert_eq!(rounds.rule.phase, Phase::SlowStart, "{sample}");
                rounds.ack(MS(1), MS(rtt));
            }
            assert_eq!(rounds.rule.phase != Phase::SlowStart, is_careful, "{rtt}");
        }
        conforms(
            Area::Control,
            "HyStart++",
            "RFC 9406 §4.2",
            "conservative slow start begins with the 8th sample that is an eighth longer",
            "64 ms: not at 71, but at 72, with the 8th",
        );
    }

    #[test]
    fn the_rise_lies_between_4_and_16_ms() {
        assert_eq!([16, 64, 1000].map(|rtt| rtt_thresh(MS(rtt))), [MS(4), MS(8), MS(16)]);
    }

    #[test]
    fn conservative_slow_start_grows_a_quarter_as_fast_and_ends_after_five_rounds() {
        let mut rounds = rounds();
        // The round in which it begins is the first: 8 ACKs of 1 and the other 32 of 1/4.
        assert!(!rounds.round(MS(1), &[MS(80)]));
        assert!((rounds.cwnd - (40.0 + 8.0 + 8.0)).abs() < 1e-9);
        for careful in 2..=5 {
            let before = rounds.cwnd;
            assert_eq!(rounds.round(MS(1), &[MS(80)]), careful == 5);
            assert!((rounds.cwnd / before - 1.25).abs() < 0.02, "{careful}");
        }
        assert_eq!(rounds.rule.phase, Phase::Finished);
        conforms(
            Area::Control,
            "HyStart++",
            "RFC 9406 §4.2 and §4.3",
            "conservative slow start: growth by a quarter a round, end after 5 rounds with the first, partial one",
            "5 of 5 rounds",
        );
    }

    #[test]
    fn shorter_round_trips_resume_slow_start() {
        let mut rounds = rounds();
        assert!(!rounds.round(MS(1), &[MS(80)]));
        assert!(matches!(rounds.rule.phase, Phase::Conservative { rounds: 1, .. }));
        (0..8).for_each(|_| {
            rounds.ack(MS(1), MS(79));
        });
        assert_eq!(rounds.rule.phase, Phase::SlowStart);
        let before = rounds.cwnd;
        rounds.ack(MS(1), MS(79));
        assert!((rounds.cwnd - before - 1.0).abs() < f64::EPSILON);
        conforms(
            Area::Control,
            "HyStart++",
            "RFC 9406 §4.2",
            "slow start resumes when 8 samples fall below the baseline",
            "with the 8th",
        );
    }

    #[test]
    fn equal_round_trips_do_not_resume() {
        let mut rounds = rounds();
        assert!(!rounds.round(MS(1), &[MS(80)]));
        assert!(!rounds.round(MS(1), &[MS(80)]));
        assert!(matches!(rounds.rule.phase, Phase::Conservative { rounds: 2, .. }));
    }

    #[test]
    fn an_ack_of_ten_segments_adds_eight() {
        let progress = Progress { una: 11, snd_max: 20, ..Progress::new(10, 19, None) };
        let step = HystartPlusPlus::default().on_progress(Instant::ZERO, &progress, 10.0);
        assert!((step.growth - 8.0).abs() < f64::EPSILON);
    }

    #[test]
    fn after_a_loss_slow_start_is_the_standard_one() {
        let mut rounds = rounds();
        rounds.rule.on_loss();
        assert!(!rounds.round(MS(1), &[MS(200)]));
        assert!((rounds.cwnd - 80.0).abs() < 1e-9);
    }
}
