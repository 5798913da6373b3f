use super::{QueueTable, millis};
use earlybird_queue::{CakeSettings, Discipline, QueueLimit};
use earlybird_transport::{ScenarioError, Time, join, positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of CAKE.
///
/// The rate of the link takes the place of CAKE's shaper: for `bandwidth 19mbit` on a link of 20 Mb/s set the rate to 19 Mb/s.
/// Every connection is a flow. Not modelled: tins (as `besteffort`), fairness between hosts (as `flows`), link-layer overhead,
/// the ACK filter, `ingress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Cake {
    /// The longest usual round trip (default 100 ms, the `internet` of `tc-cake`; `metro` is 10 ms, `regional` 30 ms, `oceanic`
    /// 300 ms, `satellite` 1 s). The acceptable queueing delay is a twentieth of it, or the time of 1.5 full packets.
    pub rtt: Time,
    /// The most bytes in all queues together (default: what the link sends in four `rtt`, from 4 MiB to 15.5 MB).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub memory: Option<u64>,
}

impl Default for Cake {
    /// `tc-cake`(8).
    fn default() -> Self {
        Self { rtt: millis(100), memory: None }
    }
}

/// The most that the memory is where it follows from the rate: 10240 packets of 1514 bytes (Linux, `cake_reconfigure`).
const MOST_MEMORY: u64 = 10_240 * 1514;

impl QueueTable for Cake {
    fn limit(&self) -> QueueLimit {
        QueueLimit::Bytes(self.memory.unwrap_or(MOST_MEMORY))
    }

    fn discipline(&self) -> Discipline {
        Discipline::Cake(CakeSettings { rtt: self.rtt.duration(), memory: self.memory })
    }

    // The hash that spreads connections is salted, and BLUE drops at random.
    fn is_random(&self) -> bool {
        true
    }

    // Packets of ECN-capable senders are always marked.
    fn marks(&self) -> bool {
        true
    }

    fn check(&self, path: &str) -> Result<(), ScenarioError> {
        positive(self.rtt, &join(path, "rtt"))
    }
}
