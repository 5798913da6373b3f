use super::ControlTable;
use crate::error::{ScenarioError, join};
use crate::quantity::{Rate, Time, positive};
use crate::profile::Profile;
use earlybird_tcp as tcp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// PERT's flags (defaults: the preset).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Pert {
    /// The set of flags to start from (default `default`).
    pub preset: PertPreset,
    /// The delay of which the largest queueing delay is the maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<MaxDelay>,
    /// The response curve above its second threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve_tail: Option<CurveTail>,
    /// The rule by which the increase per round trip moves to its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<AlphaRule>,
    /// Whether the ACK that causes an early response also adds the growth term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_on_response: Option<bool>,
    /// The window reduction on loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_factor: Option<LossFactor>,
    /// Rules that no paper prints: at most one early response per round trip, which leaves no fewer than two segments, and a largest
    /// queueing delay of at least 10 ms where it divides (`text`: false, else true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guards: Option<bool>,
    /// Which PERT (`h` and `pi`: homogeneous, else adaptive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<PertForm>,
    /// The path for which the PI controller is designed (preset `pi`).
    pub pi: PiDesign,
}

/// The forms of PERT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PertForm {
    /// 2008: curve, reduction and increase follow the largest queueing delay.
    Adaptive,
    /// 2007: fixed thresholds, reduction by 35 %, one segment per round trip.
    Homogeneous,
}

/// The path for which PERT-PI's gains are computed (Hollot et al. 2001), and the delay it holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PiDesign {
    /// Flows at the bottleneck (default 50).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u32>,
    /// Their round-trip time (default 100 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Time>,
    /// The bottleneck's rate (default 25 Mb/s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Rate>,
    /// Bytes of a packet, header included (default 1040).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<u32>,
    /// The queueing delay to hold (default 7.5 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Time>,
    /// Samples per second (default 170).
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<u32>,
}

/// Named sets of PERT flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PertPreset {
    /// Best match of the papers' numbers: a fit, chosen after looking at them.
    #[default]
    Default,
    /// The rules as the papers print them, and nothing else: α is read word by word, and there are no guards.
    Text,
    /// `text` with two changes for long paths: α follows its target every five round trips, and the guards.
    Guarded,
    /// The public ports with their faults repaired.
    Port,
    /// `default` with a flat curve above the second threshold.
    Flat,
    /// The homogeneous form of 2007.
    H,
    /// A PI controller instead of the response curve, the rest as `h`.
    Pi,
}

/// The delay of which PERT's largest queueing delay is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaxDelay {
    /// The smoothed round-trip time.
    Smoothed,
    /// Each sample.
    Raw,
}

/// PERT's response curve above its second threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CurveTail {
    /// Rises to 1 at the third threshold.
    Gentle,
    /// Stays at its maximum probability.
    Flat,
}

/// The rule by which PERT's increase per round trip moves to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaRule {
    /// Jumps to the target in compete mode.
    Direct,
    /// Rises by 0.1 at a time.
    Ramped,
    /// The three modes read word by word, evaluated at every ACK.
    Literal,
}

/// PERT's window reduction on loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossFactor {
    /// By q/(q + Q).
    Beta,
    /// By one half.
    Half,
}

impl ControlTable for Pert {
    const NAME: &'static str = "pert";
    const TITLE: &'static str = "Probabilistic early response to the queueing delay";
    const SOURCE: &'static str = "Bhandarkar et al., SIGCOMM 2007; Kotla and Reddy, IWQoS 2008; ER-PERT paper";

    fn check(&self, _profile: Profile, path: &str) -> Result<(), ScenarioError> {
        self.pi.rtt.map_or(Ok(()), |rtt| positive(rtt, &join(path, "pi.rtt")))
    }

    fn control(&self, _profile: Profile) -> tcp::Control {
        let preset = self.preset.flags();
        tcp::Control::Pert(tcp::PertFlags {
            max_delay: self.max_delay.map_or(preset.max_delay, |max_delay| match max_delay {
                MaxDelay::Smoothed => tcp::MaxDelay::Smoothed,
                MaxDelay::Raw => tcp::MaxDelay::Raw,
            }),
            curve_tail: self.curve_tail.map_or(preset.curve_tail, |tail| match tail {
                CurveTail::Gentle => tcp::CurveTail::Gentle,
                CurveTail::Flat => tcp::CurveTail::Flat,
            }),
            alpha: self.alpha.map_or(preset.alpha, |alpha| match alpha {
                AlphaRule::Direct => tcp::AlphaRule::Direct,
                AlphaRule::Ramped => tcp::AlphaRule::Ramped,
                AlphaRule::Literal => tcp::AlphaRule::Literal,
            }),
            growth_on_response: self.growth_on_response.unwrap_or(preset.growth_on_response),
            loss_factor: self.loss_factor.map_or(preset.loss_factor, |factor| match factor {
                LossFactor::Beta => tcp::LossFactor::Beta,
                LossFactor::Half => tcp::LossFactor::Half,
            }),
            is_guarded: self.guards.unwrap_or(preset.is_guarded),
            is_adaptive: self.form.map_or(preset.is_adaptive, |form| form == PertForm::Adaptive),
            // Only a preset with a controller reads the design: the table `pi` has defaults even where there is none.
            pi: preset.pi.map(|design| self.pi.design(design)),
        })
    }
}

impl PertPreset {
    const fn flags(self) -> tcp::PertFlags {
        match self {
            Self::Default => tcp::PertFlags::DEFAULT,
            Self::Text => tcp::PertFlags::TEXT,
            Self::Guarded => tcp::PertFlags::GUARDED,
            Self::Port => tcp::PertFlags::PORT,
            Self::Flat => tcp::PertFlags::FLAT,
            Self::H => tcp::PertFlags::HOMOGENEOUS,
            Self::Pi => tcp::PertFlags::PI,
        }
    }
}

impl PiDesign {
    fn design(&self, base: tcp::PiDesign) -> tcp::PiDesign {
        tcp::PiDesign {
            flows: self.flows.unwrap_or(base.flows),
            rtt: self.rtt.map_or(base.rtt, Time::duration),
            capacity: self.capacity.map_or(base.capacity, |rate| rate.rate().bits_per_second()),
            packet: self.packet.unwrap_or(base.packet),
            reference: self.reference.map_or(base.reference, Time::duration),
            frequency: self.frequency.unwrap_or(base.frequency),
        }
    }
}
