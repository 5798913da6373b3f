use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reno's flags (recovery `reno`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Reno {
    /// Any three duplicate ACKs begin a fast retransmit, even within a window that was already reduced: the Reno of 1990,
    /// ns-2's `bugFix_ 0` (default false, which leaves further losses of a window to the timer).
    pub second_fast_retransmit: bool,
}
