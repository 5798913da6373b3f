use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How losses are found and repaired. The profile and the transport choose one if none is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// ns-2's SACK sender, which estimates the packets in the network by counting ACKs (Fall and Floyd 1996).
    Sack1,
    /// Conservative recovery based on SACK (RFC 6675).
    Rfc6675,
}
