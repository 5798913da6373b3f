use crate::quantity::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Measure {
    /// Throughput, T/µ and the bottleneck's counters by group count from here to the end (default 100 s, at most a tenth of a short run).
    pub warm_up: Time,
    /// Start-up delays at which lateness is judged (default 1 s … 20 s).
    pub start_up_delays: Vec<Time>,
    /// The link that `drop-rate`, T/µ and the like refer to, as `from-to` (default: the dumbbell's bottleneck, else the first link).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// Time between two samples of the time series (default: no series).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Time>,
    /// Keep the age of every duplicate ACK of the media flows beside the early-retransmission threshold (default false).
    pub duplicates: bool,
    /// Keep the delivery time of every unit of the media flows (default false).
    pub deliveries: bool,
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
            series: None,
            duplicates: false,
            deliveries: false,
        }
    }
}
