use super::ControlTable;
use crate::quantity::{Fraction, Time};
use crate::profile::Profile;
use earlybird_tcp::{BbrParameters, Control};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of BBR version 3 (defaults: the draft).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Bbr3 {
    /// The share of segments that may get lost in a round trip while it probes for bandwidth (`BBR.LossThresh`; default 0.02).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_threshold: Option<Fraction>,
    /// The smallest factor by which a round trip with losses reduces bandwidth and inflight volume (`BBR.Beta`; default 0.7).
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
    /// Time for which a minimum RTT sample is valid (`BBR.MinRTTFilterLen`; default 10 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_window: Option<Time>,
}

impl ControlTable for Bbr3 {
    const NAME: &'static str = "bbr3";
    const TITLE: &'static str = "BBR version 3: a model of the path's bandwidth and shortest round trip; paced";
    const SOURCE: &'static str = "draft-ietf-ccwg-bbr (August 2026)";

    fn control(&self, _profile: Profile) -> Control {
        let draft = BbrParameters::DEFAULT;
        Control::Bbr(BbrParameters {
            loss_threshold: self.loss_threshold.map_or(draft.loss_threshold, Fraction::value),
            beta: self.beta.map_or(draft.beta, Fraction::value),
            headroom: self.headroom.map_or(draft.headroom, Fraction::value),
            probe_rtt_interval: self.probe_rtt_interval.map_or(draft.probe_rtt_interval, Time::duration),
            probe_rtt_duration: self.probe_rtt_duration.map_or(draft.probe_rtt_duration, Time::duration),
            min_rtt_window: self.min_rtt_window.map_or(draft.min_rtt_window, Time::duration),
        })
    }
}
