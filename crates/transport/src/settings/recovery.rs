use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss detection and repair. The profile and the transport choose one if none is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// ns-2's SACK sender, which estimates the packets in the network by counting ACKs (Fall and Floyd 1996).
    Sack1,
    /// Conservative recovery based on SACK (RFC 6675).
    Rfc6675,
    /// A fast retransmit, then slow start; without SACK (Jacobson 1988; ns-2.35 Agent/TCP).
    Tahoe,
    /// Fast recovery until the first ACK that advances; without SACK (RFC 5681 §3.2; ns-2.35 Agent/TCP/Reno).
    Reno,
    /// Fast recovery until everything sent before it is acknowledged; without SACK (RFC 6582; ns-2.35 Agent/TCP/Newreno).
    Newreno,
    /// Losses found by time, a silent tail probed (RFC 8985); `newreno` if the peer does not support SACK.
    RackTlp,
}

/// The reduction of the window in recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowReduction {
    /// At once: nothing is sent until enough has left the network (RFC 6675).
    #[default]
    Immediate,
    /// In proportion to delivered data: proportional rate reduction (RFC 9937).
    Prr,
}

/// Detection of spurious retransmissions, after which the window reduction is undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// Nothing.
    #[default]
    None,
    /// A timestamp from before the retransmission (Eifel, RFC 3522).
    Eifel,
    /// A DSACK for every retransmission (RFC 3708).
    Dsack,
    /// The earlier of the two, as in Linux.
    Either,
}
