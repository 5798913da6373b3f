use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Explicit congestion notification: whether queues may mark packets instead of dropping them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Not in use.
    #[default]
    Off,
    /// RFC 3168: a mark is answered as a loss, once per round trip.
    Classic,
    /// RFC 9768: the receiver counts marks, and each one is answered in proportion. Required by `prague`, and its
    /// default.
    Accurate,
}
