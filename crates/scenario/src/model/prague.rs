use crate::quantity::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prague's parameters; those left out come from the draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Prague {
    /// Weight of a round trip in the smoothed share of marked segments (the draft's `g`; default 0.0625).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<Fraction>,
    /// Flows with shorter round trips act as often and grow as fast as with this one (the draft's virtual RTT; default 25 ms;
    /// zero: no such help).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_rtt: Option<Time>,
}
