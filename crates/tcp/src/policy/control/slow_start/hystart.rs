//! `HyStart`: Ha and Rhee, "Taming the elephants: new TCP slow start", 2008, as Linux had it from 2.6.29 on.
//!
//! Two conditions end slow start: an ACK train that lasts for half the smallest RTT (the path is full), and a round whose first
//! samples all exceed the smallest RTT. Linux 6.x (`net/ipv4/tcp_cubic.c`) requires a larger increase, and uses all samples of a
//! round.

use super::{SlowStart, Step};
use crate::policy::control::Progress;
use earlybird_units::{Duration, Instant};

/// The largest spacing of ACKs within a train (`hystart_ack_delta_us`).
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// The least window in segments for both conditions (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// The number of samples of a round (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// The largest delay increase η that is required (`HYSTART_DELAY_MAX`).
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);

/// The differences between Linux 2.6.29 and 6.x.
#[derive(Clone, Copy, Debug)]
pub(super) struct HystartVariant {
    /// η is the smallest RTT divided by this, and at least `smallest_rise`.
    rise_divisor: f64,
    smallest_rise: Duration,
    /// Whether all samples of a round count, not only its first eight.
    uses_all_samples: bool,
    /// Whether the ACK that starts a round is its first sample, not the last one of the round before (Linux since 5.16).
    includes_first_ack: bool,
    /// The time by which a host may delay ACKs to merge segments: a train must last for half of it longer.
    ack_delay: Duration,
}

/// Linux 2.6.29.
pub(super) const PAPER: HystartVariant = HystartVariant {
    rise_divisor: 16.0,
    smallest_rise: Duration::from_millis(2),
    uses_all_samples: false,
    includes_first_ack: false,
    ack_delay: Duration::ZERO,
};
/// Linux 6.x (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_THRESH`; `hystart_ack_delay` at its most, which it is below 2 Gbit/s).
pub(super) const LINUX: HystartVariant = HystartVariant {
    rise_divisor: 8.0,
    smallest_rise: Duration::from_millis(4),
    uses_all_samples: true,
    includes_first_ack: true,
    ack_delay: Duration::from_millis(1),
};

#[derive(Clone, Debug)]
pub(crate) struct Hystart {
    variant: HystartVariant,
    smallest: Option<Duration>,
    round: Option<Round>,
    /// Whether the end was found; it is not searched again until a timeout.
    is_found: bool,
}

/// A round: from the transmission of a window to its acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Round {
    start: Instant,
    /// The last ACK of the train.
    last_ack: Instant,
    /// The highest segment sent when the round began, plus one.
    end: u64,
    smallest: Duration,
    samples: u32,
}

impl Round {
    fn new(now: Instant, snd_max: u64) -> Self {
        Self { start: now, last_ack: now, end: snd_max, smallest: Duration::MAX, samples: 0 }
    }

    fn is_train(&mut self, now: Instant, smallest: Duration, variant: &HystartVariant) -> bool {
        if now - self.last_ack > TRAIN_SPACING {
            return false;
        }
        self.last_ack = now;
        (now - self.start) * 2 >= smallest + variant.ack_delay
    }

    fn has_risen(&mut self, rtt: Duration, smallest: Duration, variant: &HystartVariant) -> bool {
        let has_few_samples = self.samples < SAMPLES;
        if has_few_samples || variant.uses_all_samples {
            self.smallest = self.smallest.min(rtt);
        }
        self.samples += u32::from(has_few_samples);
        !has_few_samples && self.smallest > smallest + variant.rise(smallest)
    }
}

impl HystartVariant {
    fn rise(&self, smallest: Duration) -> Duration {
        smallest.mul_f64(1.0 / self.rise_divisor).clamp(self.smallest_rise, MAX_RTT_THRESH)
    }
}

impl Hystart {
    pub(super) const fn new(variant: HystartVariant) -> Self {
        Self { variant, smallest: None, round: None, is_found: false }
    }

    /// Starts a round if the last one is over.
    fn begin_round(&mut self, now: Instant, progress: &Progress) {
        if self.round.is_none_or(|round| progress.una > round.end) {
            self.round = Some(Round::new(now, progress.snd_max));
        }
    }

    fn is_full(&mut self, now: Instant, rtt: Duration, snd_max: u64) -> bool {
        // Without a smallest RTT neither condition is defined.
        let Some(smallest) = self.smallest else { return false };
        let round = self.round.get_or_insert(Round::new(now, snd_max));
        // Both are evaluated: each has a state to update.
        let is_train = round.is_train(now, smallest, &self.variant);
        round.has_risen(rtt, smallest, &self.variant) || is_train
    }
}

impl SlowStart for Hystart {
    fn on_progress(&mut self, now: Instant, progress: &Progress, cwnd: f64) -> Step {
        // Only the first end counts: a later slow start, as after an idle period, is a standard one (`ca->found` in `cubictcp_acked`).
        let mut is_over = false;
        if let Some(rtt) = progress.rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            if self.variant.includes_first_ack {
                self.begin_round(now, progress);
            }
            is_over = !self.is_found && cwnd >= LOW_WINDOW && self.is_full(now, rtt, progress.snd_max);
        }
        if !self.variant.includes_first_ack {
            self.begin_round(now, progress);
        }
        self.is_found |= is_over;
        Step { growth: progress.growth, is_over }
    }

    fn on_timeout(&mut self) {
        *self = Self::new(self.variant);
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_train_of_half_the_smallest_round_trip_ends_slow_start() {
        let mut rounds = Rounds::new(Hystart::new(PAPER), 16);
        // 1 ms apart: the round of 16 lasts 16 ms, that of 32 reaches 25 ms = 50/2.
        assert!(!rounds.round(MS(1), &[MS(50)]));
        let start = rounds.now;
        assert!(rounds.round(MS(1), &[MS(50)]));
        assert!(rounds.cwnd < 64.0);
        assert!(rounds.now - start <= MS(50) + MS(27));
        conforms(
            Area::Control,
            "HyStart",
            "Ha and Rhee 2008; Linux 2.6.29 tcp_cubic.c",
            "slow start ends after an ACK train of half the smallest round trip",
            "yes, in the round that first lasts 25 of 50 ms",
        );
    }

    #[test]
    fn slow_start_after_a_rest_ended_with_its_first_ack() {
        let mut rounds = Rounds::new(Hystart::new(LINUX), 16);
        while !rounds.round(MS(1), &[MS(50)]) {}
        // The window restarts below the threshold, and grows up to it.
        rounds.cwnd = 10.0;
        assert!(!rounds.round(MS(1), &[MS(50)]) && !rounds.round(MS(1), &[MS(50)]));
        rounds.rule.on_timeout();
        assert!((0..8).any(|_| rounds.round(MS(1), &[MS(50)])), "after a timeout it is looked for anew");
    }

    #[test]
    fn acks_further_apart_than_2_ms_are_no_train() {
        let mut rounds = Rounds::new(Hystart::new(PAPER), 16);
        for _ in 0..4 {
            assert!(!rounds.round(MS(3), &[MS(50)]));
        }
    }

    #[test]
    fn a_gap_ends_the_train_of_its_round() {
        let mut rounds = Rounds::new(Hystart::new(PAPER), 64);
        (0..10).for_each(|_| assert!(!rounds.ack(MS(1), MS(50)).is_over));
        assert!(!rounds.ack(MS(5), MS(50)).is_over);
        (0..40).for_each(|_| assert!(!rounds.ack(MS(1), MS(50)).is_over));
    }

    #[test]
    fn eight_samples_longer_by_more_than_a_sixteenth_end_slow_start() {
        // η = 64/16 = 4 ms.
        for (rtt, is_over) in [(68, false), (69, true)] {
            let mut rounds = Rounds::new(Hystart::new(PAPER), 16);
            assert!(!rounds.round(MS(3), &[MS(64)]));
            assert_eq!(rounds.round(MS(3), &[MS(rtt)]), is_over, "{rtt}");
        }
        conforms(
            Area::Control,
            "HyStart",
            "Ha and Rhee 2008; Linux 2.6.29 tcp_cubic.c",
            "slow start ends when 8 samples exceed the smallest round trip by more than a sixteenth",
            "64 ms: not at 68, but at 69",
        );
    }

    #[test]
    fn one_short_sample_among_eight_is_enough_to_go_on() {
        let mut rounds = Rounds::new(Hystart::new(PAPER), 16);
        assert!(!rounds.round(MS(3), &[MS(64)]));
        assert!(!rounds.round(MS(3), &[MS(90), MS(90), MS(90), MS(64), MS(90)]));
    }

    #[test]
    fn the_rise_lies_between_2_and_16_ms() {
        assert_eq!([8, 64, 1000].map(|rtt| PAPER.rise(MS(rtt))), [MS(2), MS(4), MS(16)]);
    }

    #[test]
    fn windows_below_16_are_not_examined() {
        let mut rounds = Rounds::new(Hystart::new(PAPER), 4);
        assert!(!rounds.round(MS(3), &[MS(64)]));
        assert!(!rounds.round(MS(3), &[MS(200)]));
        assert!(rounds.cwnd <= 16.0);
    }

    /// 3 ms more than 50 ms count as risen for the paper's rule (η = 3.1 → 2 ms at 30 ms), not for today's (4 ms at least).
    #[test]
    fn todays_linux_wants_a_larger_rise() {
        for (variant, is_over) in [(PAPER, true), (LINUX, false)] {
            let mut rounds = Rounds::new(Hystart::new(variant), 16);
            assert!(!rounds.round(MS(3), &[MS(30)]));
            assert_eq!(rounds.round(MS(3), &[MS(33)]), is_over, "{variant:?}");
        }
    }

    /// The ninth sample of a round is judged.
    #[test]
    fn todays_linux_counts_the_ack_that_begins_a_round() {
        for (variant, judged) in [(PAPER, 10), (LINUX, 9)] {
            let mut rounds = Rounds::new(Hystart::new(variant), 16);
            assert!(!rounds.round(MS(3), &[MS(50)]));
            assert_eq!((1..=16).find(|_| rounds.ack(MS(3), MS(90)).is_over), Some(judged), "{variant:?}");
        }
    }

    /// The ninth sample of a round, the first that is judged, shows that the queue is empty.
    #[test]
    fn todays_linux_listens_to_the_sample_that_it_judges_by() {
        for (variant, before, is_over) in [(PAPER, 9, true), (LINUX, 8, false)] {
            let samples: Vec<Duration> = core::iter::repeat_n(MS(60), before).chain([MS(50)]).collect();
            let mut rounds = Rounds::new(Hystart::new(variant), 16);
            assert!(!rounds.round(MS(3), &[MS(50)]));
            assert_eq!(rounds.round(MS(3), &samples), is_over, "{variant:?}");
        }
    }
}
