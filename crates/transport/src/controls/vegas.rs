use super::ControlTable;
use crate::name::Detection;
use crate::profile::Profile;
use earlybird_tcp::{Control, VegasParameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Vegas' thresholds, in segments of this flow in the queue (defaults: the preset).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Vegas {
    /// The thresholds to start from (default `ns2`; profile `linux`: `linux`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<VegasPreset>,
    /// The window grows below this many.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<u32>,
    /// The window shrinks above this many.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<u32>,
    /// Slow start ends above this many.
    #[schemars(range(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<u32>,
}

/// Named sets of Vegas' thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VegasPreset {
    /// ns-2.35: 1, 3, 1.
    Ns2,
    /// Linux: 2, 4, 1.
    Linux,
}

impl ControlTable for Vegas {
    const NAME: &'static str = "vegas";
    const TITLE: &'static str =
        "Keeps one to three segments in the queue; with ns2 rules, retransmits by a fine timer, without SACK";
    const SOURCE: &'static str = "Brakmo and Peterson, IEEE JSAC 13(8), 1995; ns-2.35 Agent/TCP/Vegas";
    const DETECTIONS: &'static [Detection] = &[Detection::Duplicates];

    fn control(&self, profile: Profile) -> Control {
        // Senders of Linux (`tcp_vegas.c`) and of ns-2 (`v_alpha_`, `v_beta_`, `v_gamma_`) have other defaults.
        let preset = match (self.preset, profile) {
            (Some(VegasPreset::Linux), _) | (None, Profile::Linux) => VegasParameters::LINUX,
            (Some(VegasPreset::Ns2), _) | (None, Profile::Ns2 | Profile::Rfc) => VegasParameters::NS2,
        };
        Control::Vegas(VegasParameters {
            alpha: self.alpha.unwrap_or(preset.alpha),
            beta: self.beta.unwrap_or(preset.beta),
            gamma: self.gamma.unwrap_or(preset.gamma),
        })
    }
}
