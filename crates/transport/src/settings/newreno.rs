use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `NewReno`'s flags (recovery `newreno`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct NewReno {
    /// Only the first partial ACK restarts the retransmission timer: RFC 6582 §4 "impatient", ns-2's `newreno_changes1_`
    /// (default true).
    pub impatient: bool,
    /// A partial ACK takes what it acknowledges from the inflated window: RFC 6582 §3.2, ns-2's
    /// `partial_window_deflation_` (default true; false ends the inflation).
    pub partial_window_deflation: bool,
}

impl Default for NewReno {
    fn default() -> Self {
        // `ns-default.tcl` of ns-2.35.
        Self { impatient: true, partial_window_deflation: true }
    }
}
