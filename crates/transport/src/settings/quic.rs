use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// QUIC's parameters; all other settings are the defaults of quinn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Quic {
    /// Which of quinn's congestion controls decides (default `cubic`, as in quinn).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<QuicControl>,
}

/// A congestion control of quinn. Its BBR is not offered: it draws from the machine's random numbers, so that equal seeds would not
/// give equal runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuicControl {
    /// RFC 8312.
    #[default]
    Cubic,
    /// RFC 9002 §7.
    NewReno,
}
