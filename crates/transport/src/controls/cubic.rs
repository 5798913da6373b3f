use super::ControlTable;
use crate::error::{ScenarioError, join};
use crate::profile::Profile;
use earlybird_tcp::{Control, CubicConfig, SlowStartRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CUBIC's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Cubic {
    /// Which CUBIC (default `rfc9438`; profile `linux`: `linux`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<CubicVersion>,
    /// Lower the plateau too when the window shrinks below it, to give way to new flows, RFC 9438 §4.7 (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_convergence: Option<bool>,
    /// The end of slow start (`v23`: `hystart`, `linux`: `hystart-linux`, else `standard`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<SlowStart>,
}

/// Versions of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicVersion {
    /// The standard: β 0.7, real-valued windows. Grows only when the window is used, but in profile `ns2` always.
    Rfc9438,
    /// Linux 2.6.22, as in ns-2.35: β 0.8, whole segments, at most 16 more per 100 ms above the plateau.
    V21,
    /// Linux 2.6.3x: β 0.7, whole segments, `hystart`.
    V23,
    /// Linux 6.x: `v23` that counts segments and not ACKs, `hystart-linux`.
    Linux,
}

/// The end of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// At the threshold or a loss (RFC 5681).
    Standard,
    /// Also after a train of ACKs as long as the path, or when the delay rises (Ha and Rhee 2008).
    Hystart,
    /// The same as in Linux 6.x, which is less sensitive to noise.
    HystartLinux,
    /// Also when the delay has risen for five careful rounds (RFC 9406; for `rfc9438` alone).
    HystartPlusPlus,
}

impl ControlTable for Cubic {
    const NAME: &'static str = "cubic";
    const TITLE: &'static str = "A cubic function of the time since the last loss; HyStart or HyStart++ on demand";
    const SOURCE: &'static str = "RFC 9438; Linux 2.6.22 (v2.1) and 2.6.3x (v2.3); RFC 9406; Ha and Rhee 2008";

    /// `HyStart`++ grows by fractions of a segment; Linux's forms count in whole ones.
    fn check(&self, profile: Profile, path: &str) -> Result<(), ScenarioError> {
        let is_whole = self.version_in(profile) != CubicVersion::Rfc9438;
        if !is_whole || self.slow_start != Some(SlowStart::HystartPlusPlus) {
            return Ok(());
        }
        Err(ScenarioError::new(&join(path, "slow-start"), "does not go with Linux's whole segments")
            .text("hystart-plus-plus")
            .allowed("standard, hystart, hystart-linux")
            .hint(format!("`{path}.version = \"rfc9438\"` counts in fractions.")))
    }

    fn control(&self, profile: Profile) -> Control {
        let version = match self.version_in(profile) {
            CubicVersion::Rfc9438 => CubicConfig::RFC9438,
            CubicVersion::V21 => CubicConfig::V21,
            CubicVersion::V23 => CubicConfig::V23,
            CubicVersion::Linux => CubicConfig::LINUX,
        };
        Control::Cubic(CubicConfig {
            fast_convergence: self.fast_convergence.unwrap_or(version.fast_convergence),
            slow_start: self.slow_start.map_or(version.slow_start, rule_of),
            ..version
        })
    }
}

impl Cubic {
    fn version_in(&self, profile: Profile) -> CubicVersion {
        self.version.unwrap_or(match profile {
            Profile::Ns2 | Profile::Rfc => CubicVersion::Rfc9438,
            Profile::Linux => CubicVersion::Linux,
        })
    }
}

fn rule_of(slow_start: SlowStart) -> SlowStartRule {
    match slow_start {
        SlowStart::Standard => SlowStartRule::Standard,
        SlowStart::Hystart => SlowStartRule::Hystart,
        SlowStart::HystartLinux => SlowStartRule::HystartLinux,
        SlowStart::HystartPlusPlus => SlowStartRule::HystartPlusPlus,
    }
}
