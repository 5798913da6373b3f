use super::{Endpoint, Flow, Measure, Network, Sweep};
use earlybird_transport::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The backend that runs an experiment. The links are the same in all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// In the simulator: as fast as it can, and the same each time.
    #[default]
    Sim,
    /// In real time, between the same endpoints over UDP (Linux).
    Live,
    /// In real time, between sockets of this machine's TCP (Linux).
    Kernel,
}

impl Backend {
    /// Returns whether nothing happens but in the simulator.
    pub const fn is_simulated(&self) -> bool {
        matches!(self, Self::Sim)
    }
}

/// A network by itself, without traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NetworkDocument {
    /// Subject of the network, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Named values with defaults; `"$name"` elsewhere is replaced by the value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Whether parameters and variants are already applied; `resolve` writes this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved: bool,
    /// The links and nodes.
    pub network: Network,
}

/// One experiment: a network, the flows that cross it, and the measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Subject of the experiment, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time from start to end, simulated or real.
    pub duration: Time,
    /// The backend that runs it (default `sim`).
    #[serde(default, skip_serializing_if = "Backend::is_simulated")]
    pub backend: Backend,
    /// Named values with defaults; `"$name"` elsewhere is replaced by the value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Whether parameters and variants are already applied, `parameters` being their record; `resolve` writes this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved: bool,
    /// Settings of every endpoint; a flow may override them.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// The links and nodes.
    pub network: Network,
    /// The traffic.
    #[schemars(length(min = 1))]
    pub flows: Vec<Flow>,
    /// The measurements.
    #[serde(default)]
    pub measure: Measure,
    /// The runs that `earlybird sweep` makes of this scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}
