//! Slow start and its end: one file per rule.

pub(crate) mod hystart;
pub(crate) mod hystart_plus_plus;

use super::Progress;
use alloc::boxed::Box;
use core::fmt::Debug;
use earlybird_units::Instant;
use hystart::Hystart;
use hystart_plus_plus::HystartPlusPlus;

/// The rule that ends slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartRule {
    /// At the threshold or a loss (RFC 5681 §3.1).
    Standard,
    /// Also by `HyStart`: an ACK train or an increased delay (Ha and Rhee 2008).
    Hystart,
    /// Also by the `HyStart` of Linux 6.x, which is less sensitive to noise.
    HystartLinux,
    /// Also by `HyStart`++: a delay increase that persists over five conservative rounds (RFC 9406).
    HystartPlusPlus,
}

impl SlowStartRule {
    /// Builds the rule for a connection.
    pub(crate) fn policy(self) -> Box<dyn SlowStart> {
        match self {
            Self::Standard => Box::new(Standard),
            Self::Hystart => Box::new(Hystart::new(hystart::PAPER)),
            Self::HystartLinux => Box::new(Hystart::new(hystart::LINUX)),
            Self::HystartPlusPlus => Box::new(HystartPlusPlus::default()),
        }
    }
}

/// The effect of an ACK in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// The growth of the window in segments.
    pub(crate) growth: f64,
    /// Whether slow start ends: the threshold becomes the window.
    pub(crate) is_over: bool,
}

/// Grows the window in slow start and decides when to leave it.
pub(crate) trait SlowStart: Debug + Send {
    /// Processes an ACK of new data in slow start with a window of `cwnd` segments.
    fn on_progress(&mut self, now: Instant, progress: &Progress, cwnd: f64) -> Step;
    /// Processes a loss, which ends slow start.
    fn on_loss(&mut self) {}
    /// Processes a timeout, which restarts slow start.
    fn on_timeout(&mut self) {}
}

/// Standard slow start, which only the threshold ends.
#[derive(Clone, Copy, Debug)]
struct Standard;

impl SlowStart for Standard {
    fn on_progress(&mut self, _now: Instant, progress: &Progress, _cwnd: f64) -> Step {
        Step { growth: progress.growth, is_over: false }
    }
}

#[cfg(test)]
pub(crate) mod rounds {
    //! A sender in slow start, a round of ACKs at a time.

    use super::{SlowStart, Step};
    use crate::policy::control::Progress;
    use earlybird_units::{Duration, Instant};

    /// Feeds a rule with rounds: each acknowledges what was sent in the previous one.
    pub(crate) struct Rounds<S> {
        pub(crate) rule: S,
        pub(crate) cwnd: f64,
        pub(crate) now: Instant,
        una: u64,
        snd_max: u64,
    }

    impl<S: SlowStart> Rounds<S> {
        pub(crate) fn new(rule: S, cwnd: u64) -> Self {
            Self { rule, cwnd: cwnd as f64, now: Instant::from_nanos(1_000_000_000), una: 1, snd_max: 1 + cwnd }
        }

        /// One ACK for one segment, `spacing` after the last.
        pub(crate) fn ack(&mut self, spacing: Duration, rtt: Duration) -> Step {
            self.now += spacing;
            self.una += 1;
            let flight = self.snd_max - self.una + 1;
            let progress = Progress { una: self.una, snd_max: self.snd_max, ..Progress::new(1, flight, Some(rtt)) };
            let step = self.rule.on_progress(self.now, &progress, self.cwnd);
            self.cwnd += step.growth;
            self.snd_max = self.una + self.cwnd as u64;
            step
        }

        /// All ACKs of one round with the given round-trip times, the last one for the rest; gives whether slow start ended.
        pub(crate) fn round(&mut self, spacing: Duration, rtts: &[Duration]) -> bool {
            let end = self.snd_max;
            let mut index = 0;
            while self.una < end {
                let rtt = rtts[index.min(rtts.len() - 1)];
                index += 1;
                if self.ack(spacing, rtt).is_over {
                    return true;
                }
            }
            self.now += Duration::from_millis(50);
            false
        }
    }
}
