//! Profiles: whose rules an endpoint follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose rules an endpoint follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// ns-2.35, normative for the papers' numbers.
    Ns2,
    /// RFC 5681, 6298, 6675, 7323: the default for new work.
    #[default]
    Rfc,
    /// Linux 6.18 with its defaults: CUBIC with its `HyStart`, RACK-TLP, proportional rate reduction, F-RTO, reductions taken back, an
    /// initial window of ten, its retransmission timer, delayed and quick ACKs, buffers that grow.
    Linux,
}
