use crate::quantity::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// SRT's parameters (defaults: the draft).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Srt {
    /// Time for which a packet is held after it would have arrived without queues (default 120 ms, unless
    /// `latency-round-trips` is given).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Time>,
    /// The same in round trips, as the receiver measures the first one; the draft recommends three to four.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_round_trips: Option<f64>,
    /// As long as the playback delay of the flow's client allows, less a millisecond (default false).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fit_playback_delay: bool,
    /// Share of the measured input rate that retransmissions may use in addition (Haivision's implementation: 0.25). Left out: the
    /// limit is 1 Gb/s, the draft's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Fraction>,
}
