//! Parameters of the retransmission timer.

use super::{CoarseEstimator, Estimator, LinuxEstimator, Rfc6298Estimator};
use earlybird_units::{Duration, SeedTree};

/// The events that restart the retransmission timer beside ACKs of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRestart {
    /// Nothing else (RFC 6298 §5).
    Progress,
    /// Duplicate ACKs outside recovery (fine-grained RTO study).
    Duplicates,
    /// Any ACK that reports delivered data, in recovery too. Needs a recovery that detects the loss of retransmissions.
    Arrivals,
    /// The retransmission of the first missing segment, with RACK-TLP: when it is sent (Linux: `tcp_xmit_retransmit_queue`), and
    /// while SACK reports segments that were sent before it (`tcp_clean_rtx_queue`).
    Repairs,
}

/// The estimator of the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// Whole ticks of a clock (ns-2, 4.3BSD).
    Coarse,
    /// RFC 6298.
    Rfc6298,
    /// Linux: a sample per ACK, and a variation that falls once per RTT and has a floor.
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
    /// The estimator of the RTO.
    pub rule: RtoRule,
    /// The phase of the coarse clock at time zero. `None`: random within a tick, as in ns-2.
    pub clock_phase: Option<Duration>,
    /// Whether a stream with fewer than four segments in flight, for which three duplicate ACKs cannot arrive, does not double its
    /// RTO the first six times (Linux: `tcp_thin_linear_timeouts`, Documentation/networking/tcp-thin.rst).
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

    /// Returns the settings with a tick and a floor of 1 ms (ER-PERT paper).
    #[must_use]
    pub const fn fine_grained(self) -> Self {
        Self { tick: Duration::from_millis(1), floor: Duration::from_millis(1), ..self }
    }

    pub(crate) fn estimator(&self, seeds: SeedTree) -> Estimator {
        match self.rule {
            RtoRule::Rfc6298 => Estimator::Rfc6298(Rfc6298Estimator::new(self.tick)),
            // Linux applies its floor to the variation, not to the sum.
            RtoRule::Linux => Estimator::Linux(LinuxEstimator::new(self.floor)),
            RtoRule::Coarse => {
                let mut random = seeds.child("clock").random();
                // Drawn only if needed, so that a fixed phase leaves the stream unchanged.
                let drawn = || random.duration_between(Duration::ZERO, self.tick);
                Estimator::Coarse(CoarseEstimator::new(self.tick, self.clock_phase.unwrap_or_else(drawn)))
            }
        }
    }
}
