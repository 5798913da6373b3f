use super::ControlTable;
use crate::quantity::Time;
use crate::profile::Profile;
use earlybird_tcp::{Bbr1Parameters, Control};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of BBR version 1 (defaults: Linux's constants).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Bbr1 {
    /// Time for which a minimum RTT sample is valid, and so between probes of the round trip (`bbr_min_rtt_win_sec`; default 10 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_window: Option<Time>,
    /// Time with four packets in flight in such a probe (`bbr_probe_rtt_mode_ms`; default 200 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_rtt_duration: Option<Time>,
    /// Whether it detects a policer by its losses, and paces at the policer's rate (`bbr_lt_bw_sampling`; default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer_detection: Option<bool>,
}

impl ControlTable for Bbr1 {
    const NAME: &'static str = "bbr1";
    const TITLE: &'static str =
        "BBR version 1, Linux's `bbr`: a model of the path's bandwidth and shortest round trip, which losses do not change; paced";
    const SOURCE: &'static str = "Linux 6.18 (`tcp_bbr.c`); draft-cardwell-iccrg-bbr-congestion-control-00";

    fn control(&self, _profile: Profile) -> Control {
        let linux = Bbr1Parameters::LINUX;
        Control::Bbr1(Bbr1Parameters {
            min_rtt_window: self.min_rtt_window.map_or(linux.min_rtt_window, Time::duration),
            probe_rtt_duration: self.probe_rtt_duration.map_or(linux.probe_rtt_duration, Time::duration),
            detects_policers: self.policer_detection.unwrap_or(linux.detects_policers),
        })
    }
}
