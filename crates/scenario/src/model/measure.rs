use earlybird_transport::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Measure {
    /// Start of the measured interval, which lasts to the end of the run: rates, shares of packets and means over time are
    /// measured in it, of flows and links alike (default 100 s, at most a tenth of a short run).
    pub warm_up: Time,
    /// Startup delays at which lateness is judged (default 1 s … 20 s).
    pub start_up_delays: Vec<Time>,
    /// The link that `drop-rate`, T/µ and the like refer to, as `from-to` (default: the dumbbell's bottleneck, else the
    /// slowest link on the paths of the flows' data).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// Group of flows whose harm to the others is measured (default: none): the run is made again without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harm_by: Option<String>,
    /// Time between two samples of the time series (default: no series).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Time>,
    /// Record the age of every duplicate ACK of the media flows and the early-retransmission threshold (default false).
    pub duplicates: bool,
    /// Count by group how many packets its packets found waiting at the bottleneck in the measured interval (default false).
    pub queue_positions: bool,
    /// Record every queueing delay and every RTT sample for their percentiles (default false): 8 bytes each.
    pub percentiles: bool,
    /// Record the delivery time of every unit of the media flows (default false).
    pub deliveries: bool,
    /// Record the first and last transmission of every packet of the media flows that was lost or retransmitted (default false).
    pub transmissions: bool,
    /// Measure the effect of single bursts of losses on the media flows (default: no).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
}

/// Bursts of losses, distinguished by the late units of media, and the effect of each (the burst-loss paper,
/// "Receiver Playout Buffer Requirement for TCP Video Streaming in the presence of Burst Packet Drops").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Bursts {
    /// Bursts to measure (default: all). If fewer can be distinguished because a recovery lasts into the next burst, the run is
    /// repeated with only the first burst of the bottleneck's `periodic` rule, and without the packets of the others.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A unit is late if its delay exceeds the smallest after the warm-up by more than this (default 1 ms).
    pub tolerance: Time,
    /// Largest number of units from the start of one late unit to the next of the same burst (default 300).
    pub pause: u64,
}

impl Default for Bursts {
    fn default() -> Self {
        Self { count: None, tolerance: Time::from_millis(1), pause: 300 }
    }
}

/// The runs of a sweep: every combination of the grid's values with every seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Sweep {
    /// Number of seeds (1 … n) or a list of seeds (default 1).
    pub seeds: Seeds,
    /// Values for keys, as `--set` takes them.
    pub grid: BTreeMap<String, Vec<serde_json::Value>>,
}

/// A number of seeds, or the seeds themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Seeds {
    /// Seeds 1 … n.
    Count(#[schemars(range(min = 1))] u64),
    /// These seeds.
    List(#[schemars(length(min = 1))] Vec<u64>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            warm_up: Time::from_secs(100),
            start_up_delays: (1..=20).map(Time::from_secs).collect(),
            bottleneck: None,
            harm_by: None,
            series: None,
            duplicates: false,
            queue_positions: false,
            percentiles: false,
            deliveries: false,
            transmissions: false,
            bursts: None,
        }
    }
}
