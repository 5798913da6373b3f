use earlybird_transport::{Fraction, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule that loses packets at the entrance of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Loses the packets with these numbers: counted per link in order of arrival from 0, retransmissions included.
    List(DropList),
    /// Loses each packet with the same probability, independently.
    Bernoulli(Bernoulli),
    /// Loses `burst` packets in a row once in every `period` packets.
    Periodic(Periodic),
    /// Loses packets by the state of a channel that is good or bad, with netem's parameters (`loss gemodel`).
    GilbertElliott(GilbertElliott),
    /// Loses packets in bursts of random length: the Gilbert–Elliott channel with 1−h = 1 and 1−k = 0, given by its loss rate and mean burst length.
    Gilbert(Gilbert),
    /// Loses packets in bursts with gaps, and single packets between them, with netem's parameters (`loss state`).
    FourState(FourState),
    /// Loses every packet during fades of random length: Gilbert's channel over time instead of packets.
    Fading(Fading),
    /// Loses packets above a rate, as Linux' `tc … police`: a token bucket without a queue.
    Policer(Policer),
}

/// Packets to lose by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DropList {
    /// The numbers, in rising order; the opening packet of a lone flow has number 0.
    pub packets: Vec<u64>,
    /// Counts and loses only the packets of this flow (`video0`) or group (`video`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Independent losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bernoulli {
    /// Share of the packets to lose.
    pub probability: Fraction,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Losses at regular distances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Periodic {
    /// Packets from the start of one burst to the start of the next.
    #[schemars(range(min = 1))]
    pub period: u64,
    /// Number of the first packet lost, counted from 0 (default: `period`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// Begin at any packet of the first period but its first, by the seed (default false).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random_start: bool,
    /// Packets lost in a row (default 1).
    #[schemars(range(min = 1))]
    #[serde(default = "one")]
    pub burst: u64,
    /// Number of bursts (default: without end).
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A channel that is good or bad (Gilbert 1960, Elliott 1963). Its state decides about a packet, and may then change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability p of turning bad after a packet.
    pub p: Fraction,
    /// Probability r of the change to the good state.
    pub r: Fraction,
    /// Probability 1−h of losing a packet while bad (default 1).
    #[serde(default = "always")]
    pub loss_in_bad: Fraction,
    /// Probability 1−k of losing a packet while good (default 0).
    #[serde(default)]
    pub loss_in_good: Fraction,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Bursts of losses of random length: r = 1/L and p = r·P/(1 − P) for a share P in bursts of L packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gilbert {
    /// Share P of the packets to lose, below 1.
    pub ratio: Fraction,
    /// Mean length L of a burst in packets; 1/(1 − P) means independent losses.
    #[schemars(range(min = 1))]
    pub mean_burst: f64,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// The four states of Salsano, Ludovici and Ordine (2009): received in a gap (1), received in a burst (2), lost in a burst
/// (3), single loss (4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FourState {
    /// Probability of going from state 1 to 3: of a burst.
    pub p13: Fraction,
    /// Probability of going from state 3 to 1: of the end of a burst (default 1 − p13, which makes losses independent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p31: Option<Fraction>,
    /// Probability of going from state 3 to 2: of a hole in a burst (default 0).
    #[serde(default)]
    pub p32: Fraction,
    /// Probability of going from state 2 to 3: of the end of a hole (default 1).
    #[serde(default = "always")]
    pub p23: Fraction,
    /// Probability of going from state 1 to 4: of a loss between bursts (default 0).
    #[serde(default)]
    pub p14: Fraction,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Times of random (exponential) length in which all packets are lost. They do not depend on the traffic: with equal seeds
/// each transport meets the same ones, and small packets between others do not shorten them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fading {
    /// Share P of the time in which all packets are lost, below 1.
    pub ratio: Fraction,
    /// Mean length L of such a time, at least 1us; L·(1 − P)/P pass on average between two.
    pub mean_fade: Time,
    /// Loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A token bucket that drops what it has no tokens for. It is full at first and fills with `rate` up to `burst`; a packet that
/// passes takes its bytes. It counts packets that other rules lose as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policer {
    /// Rate up to which packets pass.
    pub rate: Rate,
    /// Size of the bucket in bytes, at least a packet. A smaller one than the rate times a round-trip time lets a TCP sender have
    /// much less than the rate.
    #[schemars(range(min = 1500))]
    pub burst: u64,
    /// Counts and drops only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

impl FourState {
    /// Returns the probability that a burst ends, as netem fills it in.
    pub fn p31(&self) -> Fraction {
        self.p31.unwrap_or_else(|| self.p13.complement())
    }
}

const fn always() -> Fraction {
    Fraction::ONE
}

const fn one() -> u64 {
    1
}
