use earlybird_transport::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that a link keeps back while others pass. Which ones is drawn as by netem.
///
/// netem's `delay D reorder P` sends a share P at once and delays the others: here `probability` 1 − P and `delay` D.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reorder {
    /// Share of the packets to keep back.
    pub probability: Fraction,
    /// Weight of the last random number in the next one, below 1 (default 0): kept packets come in runs. As in netem, the
    /// share of kept packets then moves away from one half.
    #[serde(default)]
    pub correlation: Fraction,
    /// Additional delay of a held packet; the largest one if `packets` is given.
    pub delay: Time,
    /// Packets that pass a kept one before it arrives.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Keeps and counts only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Packets that arrive twice, the copy right behind the original. Which ones is drawn as by netem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Duplicate {
    /// Share of the packets to double.
    pub probability: Fraction,
    /// Weight of the last random number in the next one, below 1 (default 0): copies come in runs. As in netem, their share
    /// then moves away from one half.
    #[serde(default)]
    pub correlation: Fraction,
    /// Doubles only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}
