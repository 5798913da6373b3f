use crate::quantity::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RACK-TLP's parameters (defaults: RFC 8985).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Rack {
    /// The reordering window as a share of the smallest round-trip time (default 0.25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering_window: Option<Fraction>,
    /// Whether a segment is given that time even before anything was ever reordered (default true; `earlybird-rt`: false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_reordering: Option<bool>,
    /// Widen the reordering window when DSACKs report spurious retransmissions (default true; `earlybird-rt`: false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt_window: Option<bool>,
    /// Recoveries without a DSACK after which a widened window is forgotten (default 16).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_persistence: Option<u32>,
    /// Probe a silent tail after two round trips (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_loss_probe: Option<bool>,
    /// Longest delay of the peer's ACKs, which the probe of a single segment waits for in addition (default 200 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_ack_delay: Option<Time>,
}
