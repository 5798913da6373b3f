use super::{QueueTable, check_update, millis};
use earlybird_queue::{Discipline, DualPi2Settings, QueueLimit};
use earlybird_transport::{Fraction, ScenarioError, Time, join};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of `DualPI2`. It always marks: scalable senders need it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DualPi2 {
    /// The most packets in both queues together (default 10000).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Target queueing delay of classic packets (default 15 ms).
    pub target: Time,
    /// Time from one change of the probability to the next (default 16 ms).
    pub update: Time,
    /// Gain for the distance from the target, in Hz (default 0.16).
    #[schemars(range(min = 0))]
    pub alpha: f64,
    /// Gain for the change of the waiting time, in Hz (default 3.2).
    #[schemars(range(min = 0))]
    pub beta: f64,
    /// The factor k between the controller's probability and that of marks in the low-latency queue (default 2).
    #[schemars(range(min = 0))]
    pub coupling: f64,
    /// Queueing delay from which on the low-latency queue marks by itself (default 0.8 ms) …
    pub ramp_start: Time,
    /// … always, once packets wait so much longer; 0 makes it a step (default 0.4 ms).
    pub ramp: Time,
    /// Share of the link that classic packets have at least while both queues hold packets (default 0.1).
    pub classic_share: Fraction,
}

impl Default for DualPi2 {
    /// RFC 9332 figures 2 and 7; limit and share are those of Linux.
    fn default() -> Self {
        Self {
            limit: 10_000,
            target: millis(15),
            update: millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            ramp_start: Time::from_micros(800),
            ramp: Time::from_micros(400),
            classic_share: Fraction::of(0.1),
        }
    }
}

impl QueueTable for DualPi2 {
    fn limit(&self) -> QueueLimit {
        QueueLimit::Packets(self.limit)
    }

    fn discipline(&self) -> Discipline {
        Discipline::DualPi2(DualPi2Settings {
            target: self.target.duration(),
            update: self.update.duration(),
            alpha: self.alpha,
            beta: self.beta,
            coupling: self.coupling,
            ramp_start: self.ramp_start.duration(),
            ramp: self.ramp.duration(),
            classic_share: self.classic_share.value(),
        })
    }

    // Its marks are spaced deterministically (RFC 9332 appendix A), but the classic queue's drops count as drawn.
    fn is_random(&self) -> bool {
        true
    }

    // There is no `without_marks`: the low-latency queue is of no use without them.
    fn marks(&self) -> bool {
        true
    }

    fn check(&self, path: &str) -> Result<(), ScenarioError> {
        check_update(self.update, &join(path, "update"))
    }
}
