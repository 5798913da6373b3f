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
    /// A fast retransmit, then slow start; without SACK (Jacobson 1988; ns-2.35 Agent/TCP).
    Tahoe,
    /// Fast recovery up to the first ACK that goes forward; without SACK (RFC 5681 §3.2; ns-2.35 Agent/TCP/Reno).
    Reno,
    /// Fast recovery until everything sent before it is acknowledged; without SACK (RFC 6582; ns-2.35 Agent/TCP/Newreno).
    Newreno,
}
