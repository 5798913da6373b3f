use super::{QueueTable, check_update, millis};
use earlybird_queue::{Discipline, PieSettings, QueueLimit};
use earlybird_transport::{Fraction, ScenarioError, Time, join};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Pie {
    /// The most packets (default 1000).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Target queueing delay (default 15 ms).
    pub target: Time,
    /// Time from one change of the drop probability to the next (default 15 ms).
    pub update: Time,
    /// Time for which a burst after quiet times is not dropped from (default 150 ms).
    pub burst: Time,
    /// Gain for the distance from the target, in Hz (default 0.125).
    #[schemars(range(min = 0))]
    pub alpha: f64,
    /// Gain for the change of the waiting time, in Hz (default 1.25).
    #[schemars(range(min = 0))]
    pub beta: f64,
    /// Mark packets of ECN-capable senders instead of dropping them (default false) …
    pub ecn: bool,
    /// … up to this drop probability; above it they are dropped (default 0.1).
    pub mark_limit: Fraction,
}

impl Default for Pie {
    /// RFC 8033 §4 and §5.1; the limit is Linux's.
    fn default() -> Self {
        Self {
            limit: 1000,
            target: millis(15),
            update: millis(15),
            burst: millis(150),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            // `mark_ecnth` of RFC 8033 §5.1.
            mark_limit: Fraction::of(0.1),
        }
    }
}

impl QueueTable for Pie {
    fn limit(&self) -> QueueLimit {
        QueueLimit::Packets(self.limit)
    }

    fn discipline(&self) -> Discipline {
        Discipline::Pie(PieSettings {
            target: self.target.duration(),
            update: self.update.duration(),
            burst: self.burst.duration(),
            alpha: self.alpha,
            beta: self.beta,
            ecn: self.ecn,
            mark_limit: self.mark_limit.value(),
        })
    }

    fn is_random(&self) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn without_marks(self) -> Self {
        Self { ecn: false, ..self }
    }

    fn check(&self, path: &str) -> Result<(), ScenarioError> {
        check_update(self.update, &join(path, "update"))
    }
}
