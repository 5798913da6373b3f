//! Parameters of the retransmission timer.

use super::{CoarseEstimator, Estimator, LinuxEstimator, Rfc6298Estimator};
use earlybird_units::{Duration, SeedTree};

/// What restarts the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRestart {
    /// Progress alone (RFC 6298 §5).
    Progress,
    /// Duplicate ACKs outside recovery too (fine-grained RTO study).
    Duplicates,
    /// Whatever tells that something arrived, in recovery too: running out means silence. Goes with a recovery that finds the
    /// loss of a retransmission by itself.
    Arrivals,
    /// Beside progress the repair of the first missing segment, with a recovery that finds losses by time: when it leaves again
    /// (Linux: `tcp_xmit_retransmit_queue`), and while SACK tells of what had left before it (`tcp_clean_rtx_queue`).
    Repairs,
}

/// How the timeout follows from round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// In whole ticks of a clock (ns-2, 4.3BSD).
    Coarse,
    /// Exactly (RFC 6298).
    Rfc6298,
    /// As Linux does: a sample with each ACK, and a variation that falls once per round trip and has a floor.
    Linux,
}

/// Parameters of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Clock tick.
    pub tick: Duration,
    /// Smallest timeout, before back-off.
    pub floor: Duration,
    /// Largest timeout, after back-off.
    pub ceiling: Duration,
    /// Timeout before the first sample.
    pub initial: Duration,
    /// How the timeout follows from round-trip times.
    pub rule: RtoRule,
    /// Where the coarse clock stands at time zero; drawn at random within a tick if left open, as ns-2 does.
    pub clock_phase: Option<Duration>,
    /// A stream with less than four segments in flight, which three duplicate ACKs cannot repair, does not double its timeout
    /// the first six times (Linux: `tcp_thin_linear_timeouts`, Documentation/networking/tcp-thin.rst).
    pub linear_when_thin: bool,
}

impl RtoConfig {
    /// ns-2.35: 10 ms ticks, 0.2 s floor, 60 s ceiling, 3 s before the first sample.
    pub const NS2: Self = Self {
        tick: Duration::from_millis(10),
        floor: Duration::from_millis(200),
        ceiling: Duration::from_secs(60),
        initial: Duration::from_secs(3),
        rule: RtoRule::Coarse,
        clock_phase: None,
        linear_when_thin: false,
    };
    /// RFC 6298: 1 ms clock, 1 s floor (2.4), 60 s ceiling (2.5), 1 s before the first sample (2.1).
    pub const RFC: Self = Self {
        tick: Duration::from_millis(1),
        floor: Duration::from_secs(1),
        ceiling: Duration::from_secs(60),
        initial: Duration::from_secs(1),
        rule: RtoRule::Rfc6298,
        clock_phase: None,
        linear_when_thin: false,
    };
    /// Linux 6.x: the floor is one of the variation (`tcp_rto_min_us`), 120 s ceiling (`TCP_RTO_MAX`), 1 s before the first
    /// sample (`TCP_TIMEOUT_INIT`).
    pub const LINUX: Self = Self {
        floor: Duration::from_millis(200),
        ceiling: Duration::from_secs(120),
        rule: RtoRule::Linux,
        ..Self::RFC
    };

    /// Makes the timer fine-grained: 1 ms tick and floor (ER-PERT paper).
    #[must_use]
    pub const fn fine_grained(self) -> Self {
        Self { tick: Duration::from_millis(1), floor: Duration::from_millis(1), ..self }
    }

    pub(crate) fn estimator(&self, seeds: SeedTree) -> Estimator {
        match self.rule {
            RtoRule::Rfc6298 => Estimator::Rfc6298(Rfc6298Estimator::new(self.tick)),
            RtoRule::Linux => Estimator::Linux(LinuxEstimator::new(self.floor)),
            RtoRule::Coarse => {
                let mut random = seeds.child("clock").random();
                let drawn = || random.duration_between(Duration::ZERO, self.tick);
                Estimator::Coarse(CoarseEstimator::new(self.tick, self.clock_phase.unwrap_or_else(drawn)))
            }
        }
    }
}
