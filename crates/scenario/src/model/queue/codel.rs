use super::{QueueTable, millis};
use earlybird_queue::{CodelSettings, Discipline, QueueLimit};
use earlybird_transport::{ScenarioError, Time, join, positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of `CoDel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Codel {
    /// The most packets (default 1000).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Acceptable queueing delay (default 5 ms).
    pub target: Time,
    /// Time for which the delay must exceed the target before anything is dropped: a long round trip (default 100 ms).
    pub interval: Time,
    /// Nothing is dropped while no more bytes than these wait (default 1500).
    pub mtu: u32,
    /// Mark packets of ECN-capable senders instead of dropping them (default false).
    pub ecn: bool,
}

impl Default for Codel {
    /// RFC 8289 §4.3; the limit is Linux's.
    fn default() -> Self {
        // Without marks, as Linux's `codel_init`; `fq_codel_init` has them.
        Self { limit: 1000, target: millis(5), interval: millis(100), mtu: 1500, ecn: false }
    }
}

impl QueueTable for Codel {
    fn limit(&self) -> QueueLimit {
        QueueLimit::Packets(self.limit)
    }

    fn discipline(&self) -> Discipline {
        Discipline::Codel(CodelSettings {
            target: self.target.duration(),
            interval: self.interval.duration(),
            mtu: u64::from(self.mtu),
            ecn: self.ecn,
        })
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn without_marks(self) -> Self {
        Self { ecn: false, ..self }
    }

    fn check(&self, path: &str) -> Result<(), ScenarioError> {
        // With an interval of 0 the next drop would be due at once, for ever; a target of 0 is legal.
        positive(self.interval, &join(path, "interval"))
    }
}
