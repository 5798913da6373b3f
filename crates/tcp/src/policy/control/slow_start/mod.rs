//! How the window grows before congestion avoidance, and when that ends: one file per rule.

pub(crate) mod hystart;
pub(crate) mod hystart_plus_plus;

use super::Progress;
use alloc::boxed::Box;
use core::fmt::Debug;
use earlybird_units::Instant;
use hystart::Hystart;
use hystart_plus_plus::HystartPlusPlus;

/// How slow start ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartRule {
    /// At the threshold or a loss (RFC 5681 §3.1).
    Standard,
    /// Also where a train of ACKs or a rising delay tells that the path is full (Ha and Rhee 2008).
    Hystart,
    /// The same as Linux has it today (6.x), which mistakes noise for a full path less often.
    HystartLinux,
    /// Also where a rising delay persists over five more careful rounds (RFC 9406).
    HystartPlusPlus,
}

impl SlowStartRule {
    /// Makes the rule for one connection.
    pub(crate) fn policy(self) -> Box<dyn SlowStart> {
        match self {
            Self::Standard => Box::new(Standard),
            Self::Hystart => Box::new(Hystart::new(hystart::PAPER)),
            Self::HystartLinux => Box::new(Hystart::new(hystart::LINUX)),
            Self::HystartPlusPlus => Box::new(HystartPlusPlus::default()),
        }
    }
}

/// What one ACK in slow start does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// The window grows by so many segments.
    pub(crate) growth: f64,
    /// The threshold becomes the window as it is: congestion avoidance begins.
    pub(crate) is_over: bool,
}

/// Grows the window in slow start and decides when to leave it.
pub(crate) trait SlowStart: Debug + Send {
    /// Reads one ACK that moved the window of `cwnd` segments forward in slow start.
    fn on_progress(&mut self, now: Instant, progress: &Progress, cwnd: f64) -> Step;
    /// A loss was found by duplicate ACKs: slow start is over.
    fn on_loss(&mut self) {}
    /// The timer ran out: slow start begins again.
    fn on_timeout(&mut self) {}
}

/// Nothing but the threshold ends it.
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

    /// Feeds a rule with rounds: each acknowledges what was sent in the one before.
    pub(crate) struct Rounds<S> {
        pub(crate) rule: S,
        pub(crate) cwnd: f64,
        pub(crate) now: Instant,
        una: u64,
        smax: u64,
    }

    impl<S: SlowStart> Rounds<S> {
        pub(crate) fn new(rule: S, cwnd: u64) -> Self {
            Self { rule, cwnd: cwnd as f64, now: Instant::from_nanos(1_000_000_000), una: 1, smax: 1 + cwnd }
        }

        /// One ACK for one segment, `spacing` after the last.
        pub(crate) fn ack(&mut self, spacing: Duration, rtt: Duration) -> Step {
            self.now += spacing;
            self.una += 1;
            let flight = self.smax - self.una + 1;
            let progress = Progress { una: self.una, smax: self.smax, ..Progress::new(1, flight, Some(rtt)) };
            let step = self.rule.on_progress(self.now, &progress, self.cwnd);
            self.cwnd += step.growth;
            self.smax = self.una + self.cwnd as u64;
            step
        }

        /// All ACKs of one round with the given round-trip times, the last one for the rest; gives whether slow start ended.
        pub(crate) fn round(&mut self, spacing: Duration, rtts: &[Duration]) -> bool {
            let end = self.smax;
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
