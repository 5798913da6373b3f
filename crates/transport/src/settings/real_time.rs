use crate::quantity::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The real-time mode of TCP, policy by policy. Values left out come from the transport: ordinary TCP has none of it, `mtcp`
/// and its relatives have what their authors describe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RealTime {
    /// The rule for the receiver to skip missing data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// The treatment of old data that the sender still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<Backlog>,
    /// The most data that the sender may hold, with `block` and `discard-oldest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_limit: Option<SendLimit>,
    /// Offer the SNACK option, which tells the sender what was stepped over. A peer without it gets ordinary TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_notice: Option<bool>,
    /// Reduce the window, once per round trip at most, when a packet was stepped over that was lost and has reduced nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_reduces: Option<bool>,
    /// Send again what was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit: Option<bool>,
    /// Send, in place of a packet that is to be sent again and would come after the client's playback delay, the oldest one of its
    /// size that waits and would not (TCP Hollywood's inconsistent retransmission).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace_late: Option<bool>,
}

/// The rule for the receiver to skip missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delivery {
    /// Never: TCP.
    InOrder,
    /// Skips if the application reads and nothing is there in order.
    SkipWhenWaiting,
    /// Skips when the first packet behind the hole has waited this long.
    SkipAtDeadline(Time),
    /// Never, but it hands over what lies behind it at once.
    Unordered,
}

/// The treatment of old data that the sender still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Backlog {
    /// Keeps them: a write beyond the limit is refused.
    Block,
    /// Abandons the oldest beyond the limit, sent or not.
    DiscardOldest,
    /// Abandons what was written longer ago than this.
    DiscardPastDeadline(Time),
    /// Abandons what could not be there within this time of its writing even if it left now: half a round trip earlier.
    DiscardHopeless(Time),
}

/// The most data that a sender may hold: written and not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SendLimit {
    /// Without bound.
    Unlimited,
    /// As much as is written during the client's playback delay: what is older is worthless.
    PlaybackDelay,
    /// So many packets.
    Packets(#[schemars(range(min = 1))] u32),
    /// By the congestion window.
    Cwnd(WindowLimit),
}

/// A send buffer that grows and shrinks with the congestion window (Goel, Krasic and Walpole): `factor`·`cwnd` +
/// min(`extra`, `cwnd`) packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WindowLimit {
    /// Their A (default 1).
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 100))]
    pub factor: f64,
    /// Their B (default 3).
    pub extra: u32,
}

impl Default for WindowLimit {
    fn default() -> Self {
        Self { factor: 1.0, extra: 3 }
    }
}
