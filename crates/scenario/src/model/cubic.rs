use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CUBIC's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Cubic {
    /// Which CUBIC (default `rfc9438`).
    pub version: CubicVersion,
    /// Lower the plateau too when the window shrinks below it, to give way to new flows, RFC 9438 §4.7 (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_convergence: Option<bool>,
    /// How slow start ends (`v23`: `hystart`, else `standard`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStart>,
}

/// Versions of CUBIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicVersion {
    /// The standard: β 0.7, real-valued windows. Grows only when the window is used, but in profile `ns2` always.
    #[default]
    Rfc9438,
    /// Linux 2.6.22, as in ns-2.35: β 0.8, whole segments, at most 16 more per 100 ms above the plateau.
    V21,
    /// Linux 2.6.3x: β 0.7, whole segments, `hystart`.
    V23,
}

/// How slow start ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// At the threshold or a loss (RFC 5681).
    Standard,
    /// Also after a train of ACKs as long as the path, or when the delay rises (Ha and Rhee 2008).
    Hystart,
    /// Also when the delay has risen for five careful rounds (RFC 9406; not for `v21` and `v23`).
    HystartPlusPlus,
}
