use crate::quantity::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The policies of TCP's real-time mode. Default values come from the transport: ordinary TCP has none, `mtcp` and the other
/// real-time transports have those that their authors describe.
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
    /// Count packets that were sent and abandoned as in flight until an ACK passes them or a timeout. Otherwise the window advances
    /// past them at once, as in the MTCP paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_keeps_flight: Option<bool>,
    /// Offer the SNACK option, which reports skipped segments to the sender. A peer without it uses ordinary TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_notice: Option<bool>,
    /// Reduce the window, at most once per round trip, when a lost packet was skipped that has not reduced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_reduces: Option<bool>,
    /// Retransmit lost packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit: Option<bool>,
    /// Replace the contents of a retransmission that would arrive after the client's playback delay by the oldest waiting packet of
    /// its size that would not (TCP Hollywood's inconsistent retransmission).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace_late: Option<bool>,
}

/// The rule for the receiver to skip missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delivery {
    /// Never: TCP.
    InOrder,
    /// Skips if the application reads and no data is in order.
    SkipWhenWaiting,
    /// Skips when the first packet behind the hole has waited this long.
    SkipAtDeadline(Time),
    /// Never, but data behind it is delivered at once.
    Unordered,
}

/// The treatment of old data that the sender still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Backlog {
    /// Keeps them: a write beyond the limit fails.
    Block,
    /// Abandons the oldest beyond the limit, sent or not.
    DiscardOldest,
    /// Abandons data that was written longer ago than this.
    DiscardPastDeadline(Time),
    /// Abandons data that cannot arrive within this time after it was written even if it is sent now: half a round trip earlier.
    DiscardHopeless(Time),
}

/// The most data that a sender may hold: written and not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SendLimit {
    /// Without bound.
    Unlimited,
    /// As much as is written during the client's playback delay: older data is worthless.
    PlaybackDelay,
    /// A number of packets.
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
