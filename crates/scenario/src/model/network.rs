use crate::quantity::{Fraction, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The links and nodes: a named shape, or a list of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Network {
    /// Two routers with one bottleneck between them; every flow brings its own hosts (`left`, `right`).
    Dumbbell(Dumbbell),
    /// Any nodes and links; routes take the fewest links.
    Links(#[schemars(length(min = 1))] Vec<Link>),
}

/// Two routers, a bottleneck, and an access link for every host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Dumbbell {
    /// The link from the left to the right router; its opposite has no queue limit unless `reverse-queue` says so.
    pub bottleneck: Channel,
    /// The link between a host and its router.
    pub access: Channel,
    /// The queue of the right-to-left direction of the bottleneck.
    #[serde(default)]
    pub reverse_queue: Queue,
}

/// Rate, delay and queue of a link in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Channel {
    /// How fast the link sends, in bits per second.
    pub rate: Rate,
    /// Propagation time of the link.
    pub delay: Time,
    /// The queue in front.
    #[serde(default)]
    pub queue: Queue,
    /// What gets lost on the way to the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
}

/// A link between two named nodes, the same in both directions unless `reverse` says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// The node at the sending side.
    pub from: String,
    /// The node at the receiving side.
    pub to: String,
    /// How fast the link sends, in bits per second.
    pub rate: Rate,
    /// Propagation time of the link.
    pub delay: Time,
    /// The queue in front, in both directions.
    #[serde(default)]
    pub queue: Queue,
    /// What gets lost on the way to the queue, in the forward direction only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// The opposite direction, if it is not the same; then with rate and delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Channel>,
}

/// A drop-tail queue's limit: in packets, in bytes, or none.
///
/// Like ns-2's, a queue of `packets = L` lets L − 1 packets wait while one more is being sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// Never drops.
    #[default]
    Unlimited,
    /// Limit in packets.
    Packets(#[schemars(range(min = 1))] u32),
    /// Limit in bytes.
    Bytes(#[schemars(range(min = 1))] u64),
}

/// A rule that loses packets at the entrance of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Loses the packets with these numbers: counted per link in order of arrival from 0, retransmissions included.
    List(DropList),
    /// Loses each packet with the same probability, independently.
    Bernoulli(Bernoulli),
    /// Loses `burst` packets in a row at the end of every `period` packets.
    Periodic(Periodic),
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
    /// Packets from the start of one burst to the start of the next; burst k covers packets k·period … k·period + burst − 1, k ≥ 1.
    #[schemars(range(min = 1))]
    pub period: u64,
    /// Packets lost in a row (default 1).
    #[schemars(range(min = 1))]
    #[serde(default = "one")]
    pub burst: u64,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

const fn one() -> u64 {
    1
}
