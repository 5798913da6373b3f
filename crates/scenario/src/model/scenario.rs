use super::{Endpoint, Flow, Measure, Network, Sweep};
use crate::quantity::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One experiment: a network, the flows that cross it, and what to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// What this experiment shows, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Simulated time from start to end.
    pub duration: Time,
    /// Named values with defaults; `"$name"` elsewhere stands for the value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Whether parameters and variants are already applied, `parameters` being their record; `resolve` writes this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved: bool,
    /// Settings of every endpoint unless a flow says otherwise.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// The links and nodes.
    pub network: Network,
    /// The traffic.
    #[schemars(length(min = 1))]
    pub flows: Vec<Flow>,
    /// What to measure.
    #[serde(default)]
    pub measure: Measure,
    /// The runs that `earlybird sweep` makes of this scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}
