use crate::quantity::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BBR's parameters; those left out come from the draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Bbr {
    /// The share of segments that may get lost in a round trip while it probes for bandwidth (`BBR.LossThresh`; default 0.02).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_threshold: Option<Fraction>,
    /// What a round trip with losses leaves of bandwidth and volume, at least (`BBR.Beta`; default 0.7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<Fraction>,
    /// The share of the volume known as safe that it leaves to others (`BBR.Headroom`; default 0.15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Fraction>,
    /// Time between probes of the round trip (`BBR.ProbeRTTInterval`; default 5 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_rtt_interval: Option<Time>,
    /// Time with half a pipe in such a probe (`BBR.ProbeRTTDuration`; default 200 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_rtt_duration: Option<Time>,
    /// How long the shortest round trip counts (`BBR.MinRTTFilterLen`; default 10 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_window: Option<Time>,
}
