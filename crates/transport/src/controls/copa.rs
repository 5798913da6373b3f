use super::ControlTable;
use crate::quantity::Time;
use crate::profile::Profile;
use earlybird_tcp::{Control, CopaParameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Copa's parameters (defaults: the paper).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Copa {
    /// The weight of delay against throughput in the default mode: a flow has about 1.25 / delta packets in the queue (the paper's δ;
    /// default 0.5).
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Time for which a minimum RTT sample is valid (default 10 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_window: Option<Time>,
    /// Whether it uses more of the queue in competition with flows that fill it (the paper's competitive mode; default true). Several flows of
    /// Copa then fill the buffer; use false if no other flows share their link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compete: Option<bool>,
}

impl ControlTable for Copa {
    const NAME: &'static str = "copa";
    const TITLE: &'static str = "Copa: a few packets in the queue, which is empty every few round trips; paced; fills the queue beside flows that do, and beside others of its own unless `compete = false`";
    const SOURCE: &'static str = "Arun and Balakrishnan, NSDI 2018; its authors' genericCC";

    fn control(&self, _profile: Profile) -> Control {
        let paper = CopaParameters::DEFAULT;
        Control::Copa(CopaParameters {
            delta: self.delta.unwrap_or(paper.delta),
            min_rtt_window: self.min_rtt_window.map_or(paper.min_rtt_window, Time::duration),
            competes: self.compete.unwrap_or(paper.competes),
        })
    }
}
