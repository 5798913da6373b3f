use super::{Codel, QueueTable};
use earlybird_queue::{CodelSettings, Discipline, FqCodelSettings, QueueLimit};
use earlybird_transport::{ScenarioError, Time, join, positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FqCodel {
    /// The most packets in all queues together (default 10240).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Number of queues among which connections are spread by a hash (default 1024).
    // Linux's limit (`fq_codel_change`).
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes of a turn (default 1514).
    #[schemars(range(min = 1))]
    pub quantum: u32,
    /// Acceptable queueing delay (default 5 ms).
    pub target: Time,
    /// Time for which the delay must exceed the target before anything is dropped (default 100 ms).
    pub interval: Time,
    /// Nothing is dropped from a queue in which no more bytes than these wait (default 1500).
    pub mtu: u32,
    /// Mark packets of ECN-capable senders instead of dropping them (default true).
    pub ecn: bool,
}

impl Default for FqCodel {
    /// RFC 8290 §5.2.
    fn default() -> Self {
        let Codel { target, interval, mtu, .. } = Codel::default();
        // The quantum is an Ethernet frame without its checksum, as `psched_mtu` in Linux.
        Self { limit: 10_240, flows: 1024, quantum: 1514, target, interval, mtu, ecn: true }
    }
}

impl QueueTable for FqCodel {
    fn limit(&self) -> QueueLimit {
        QueueLimit::Packets(self.limit)
    }

    fn discipline(&self) -> Discipline {
        Discipline::FqCodel(FqCodelSettings {
            flows: self.flows,
            quantum: self.quantum,
            codel: CodelSettings {
                target: self.target.duration(),
                interval: self.interval.duration(),
                mtu: u64::from(self.mtu),
                ecn: self.ecn,
            },
        })
    }

    // The hash that spreads connections is salted.
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
        positive(self.interval, &join(path, "interval"))
    }
}
