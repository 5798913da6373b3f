use earlybird_transport::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that a link keeps back while others pass. Which ones is drawn as by netem.
///
/// netem's `delay D reorder P` sends a share P at once and delays the others: here `probability` 1 − P and `delay` D.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reorder {
    /// Share of the packets to keep back.
    pub probability: Fraction,
    /// Weight of the last random number in the next one, below 1 (default 0): kept packets come in runs. As in netem, the
    /// share of kept packets then moves away from one half.
    #[serde(default)]
    pub correlation: Fraction,
    /// Additional delay of a held packet; the largest one if `packets` is given.
    pub delay: Time,
    /// Packets that pass a kept one before it arrives.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Keeps and counts only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Packets that arrive twice, the copy right behind the original. Which ones is drawn as by netem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Duplicate {
    /// Share of the packets to double.
    pub probability: Fraction,
    /// Weight of the last random number in the next one, below 1 (default 0): copies come in runs. As in netem, their share
    /// then moves away from one half.
    #[serde(default)]
    pub correlation: Fraction,
    /// Doubles only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Additional delays that differ from packet to packet, on top of the link's `delay`, which remains the least delay.
///
/// netem's `delay D J` varies around D: here `delay` D − J and `distribution = { uniform = 2J }`. netem's packets pass each other
/// where a delay falls; here they keep their order unless `reorder` is set: a packet then waits for the one in front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Jitter {
    /// Distribution of the delays (default: no delays but those of `spikes`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<JitterDistribution>,
    /// Probability ρ, below 1, with which a packet keeps the delay of the one in front (default 0): delays of packets at a
    /// distance of k have a correlation of ρᵏ, and keep their distribution.
    #[serde(default)]
    pub correlation: Fraction,
    /// Mean time τ for which a delay holds, instead of `correlation`: delays at a distance of t have a correlation of
    /// exp(−t/τ), whatever the packet rate, and with equal seeds all traffic meets the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_time: Option<Time>,
    /// Times of random length in which all delays are higher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spikes: Option<DelaySpikes>,
    /// Let packets of less delay pass others (default false: they arrive in order).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
    /// Delays only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// The distribution of additional delays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterDistribution {
    /// Equally likely from 0 to this maximum.
    Uniform(Time),
    /// Normal; delays below 0 count as 0.
    Normal(NormalDelay),
    /// Exponential with this mean.
    Exponential(Time),
    /// Pareto distribution from 0 on (Lomax), with rare long delays.
    Pareto(ParetoDelay),
    /// Measured delays: quantiles at equal steps of probability from the least to the greatest, linear between two.
    Quantiles(#[schemars(length(min = 1))] Vec<Time>),
}

/// A normal distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NormalDelay {
    /// Mean of the distribution.
    pub mean: Time,
    /// Standard deviation.
    pub deviation: Time,
}

/// A Pareto distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ParetoDelay {
    /// Mean of the delays.
    pub mean: Time,
    /// Exponent of the tail, above 1 (default 3); up to 2 the variance is infinite.
    #[schemars(range(min = 1))]
    #[serde(default = "three")]
    pub shape: f64,
}

/// Times of random (exponential) length in which all packets are delayed further. They do not depend on the traffic: with
/// equal seeds each transport meets the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DelaySpikes {
    /// Share P of the time, below 1 and above 0.
    pub ratio: Fraction,
    /// Mean length L of such a time, at least 1us; L·(1 − P)/P pass on average between two.
    pub mean_duration: Time,
    /// Additional delay in such a time.
    pub delay: Time,
}

/// Retransmissions by the link layer (ARQ, RFC 3366): HARQ and RLC of LTE, retries of Wi-Fi. What they bring over arrives late, in
/// order, and so makes jitter; what they give up is lost.
///
/// They take no capacity: `rate` is what the link has beside them. A packet needs (1 − pⁿ⁺¹)/(1 − p) transmissions on average,
/// and pⁿ⁺¹ of the packets are lost, at the entrance of the link as by the rules of `loss`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Arq {
    /// Probability p that a transmission fails, below 1.
    pub loss: Fraction,
    /// Greatest number n of retransmissions of a packet, up to 100 (default 3).
    #[schemars(range(max = 100))]
    #[serde(default = "three_retries")]
    pub retries: u32,
    /// Time from a transmission to the next one of the same packet: about 8ms in LTE.
    pub delay: Time,
    /// Let packets pass those that are retransmitted (default false: they arrive in order).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
    /// Concerns only the packets of this flow or group; others are not lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A time in which a link carries nothing, once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outage {
    /// Start of the first one, from the start of the run.
    pub start: Time,
    /// Length of each.
    pub duration: Time,
    /// Time from the start of one to the start of the next, longer than `duration` (default: there is one only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Let packets wait in the queue until it ends, as in a handover (default false: those that arrive meanwhile are lost).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
}

const fn three_retries() -> u32 {
    3
}

const fn three() -> f64 {
    3.0
}
