//! The description of an experiment as plain data: what the TOML file, the Python objects and the JSON schema all mean.

use crate::quantity::{Fraction, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One experiment: a network, the flows that cross it, and what to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// What this experiment shows, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Simulated time from start to end.
    pub duration: Time,
    /// Named values with defaults; `"$name"` elsewhere stands for the value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Settings of every endpoint unless a flow says otherwise.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// The links and nodes.
    pub network: Network,
    /// The traffic.
    pub flows: Vec<Flow>,
    /// What to measure.
    #[serde(default)]
    pub measure: Measure,
    /// The runs that `earlybird sweep` makes of this scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

/// A TCP endpoint: a transport by name, and every knob the papers turn. Values left out come from the profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Endpoint {
    /// Whose rules to follow: `rfc` (current standards, the default) or `ns2` (what the papers ran on).
    pub profile: Profile,
    /// Congestion control and loss repair by name: `sack`, `sack-er`, `pert`, `pert-er`; `-fg` at the end selects the fine-grained RTO.
    pub transport: String,
    /// Payload bytes of a full segment (default 1000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u16>,
    /// Largest window in segments (default 64).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Window after the handshake in segments (`ns2`: 2, `rfc`: RFC 3390).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Send new data on the first two duplicate ACKs, RFC 3042 (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Halve the window without rounding down to whole segments (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precise_halving: Option<bool>,
    /// RFC 7323 timestamps (`ns2`: false, `rfc`: true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Longest delay of an ACK; every second segment is acknowledged at once. Left out: every segment is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Time>,
    /// The retransmission timer.
    pub rto: RetransmissionTimer,
    /// The early-retransmission rule (transports with `-er`).
    pub early_retransmission: EarlyRetransmission,
    /// PERT's flags (transports with `pert`).
    pub pert: Pert,
}

/// Whose rules an endpoint follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// ns-2.35, normative for the papers' numbers.
    Ns2,
    /// RFC 5681, 6298, 6675, 7323: the default for new work.
    #[default]
    Rfc,
}

/// The retransmission timer's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RetransmissionTimer {
    /// Clock tick (`ns2`: 10 ms, `rfc`: 1 ms, fine-grained: 1 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Time>,
    /// Smallest timeout (`ns2`: 200 ms, `rfc`: 1 s, fine-grained: 1 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Time>,
    /// Largest timeout (60 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Time>,
    /// Timeout before the first round-trip sample (`ns2`: 3 s, `rfc`: 1 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Time>,
    /// Restart the timer on duplicate ACKs outside recovery (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_on_duplicate: Option<bool>,
    /// Where the coarse clock stands at time zero; ns-2 draws it at random within a tick (default: drawn per flow).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_phase: Option<Time>,
}

/// The early-retransmission rule's flags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct EarlyRetransmission {
    /// Whose age is compared with the threshold (default `missing`).
    pub reference: AgeReference,
}

/// The packet whose age the early-retransmission rule reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgeReference {
    /// The first missing packet.
    #[default]
    Missing,
    /// The last packet received in order, one before the missing one.
    LastInOrder,
}

/// PERT's flags; those left out come from the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Pert {
    /// The set of flags to start from (default `default`).
    pub preset: PertPreset,
    /// What the largest queueing delay is the largest of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<MaxDelay>,
    /// The response curve above its second threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve_tail: Option<CurveTail>,
    /// How the increase per round trip moves to its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<AlphaRule>,
    /// Whether the ACK that causes an early response also adds the growth term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_on_response: Option<bool>,
    /// The window reduction on loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_factor: Option<LossFactor>,
}

/// Named sets of PERT flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PertPreset {
    /// Best match of the papers' numbers: a fit, chosen after looking at them.
    #[default]
    Default,
    /// The rules of the papers' text.
    Text,
    /// The public ports with their faults repaired.
    Port,
    /// `default` with a flat curve above the second threshold.
    Flat,
    /// The homogeneous form of 2007.
    H,
}

/// What PERT's largest queueing delay is the largest of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaxDelay {
    /// The smoothed round-trip time.
    Smoothed,
    /// Each sample.
    Raw,
}

/// PERT's response curve above its second threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CurveTail {
    /// Rises to 1 at the third threshold.
    Gentle,
    /// Stays at its maximum probability.
    Flat,
}

/// How PERT's increase per round trip moves to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaRule {
    /// Jumps to the target in compete mode.
    Direct,
    /// Rises by 0.1 at a time.
    Ramped,
    /// The three modes read word by word, evaluated at every ACK.
    Literal,
}

/// PERT's window reduction on loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossFactor {
    /// By q/(q + Q).
    Beta,
    /// By one half.
    Half,
}

/// The links and nodes: a named shape, or a list of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Network {
    /// Two routers with one bottleneck between them; every flow brings its own hosts (`left`, `right`).
    Dumbbell(Dumbbell),
    /// Any nodes and links; routes take the fewest links.
    Links(Vec<Link>),
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
    /// Bits per second.
    pub rate: Rate,
    /// Propagation time.
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
    /// Bits per second.
    pub rate: Rate,
    /// Propagation time.
    pub delay: Time,
    /// The queue in front, in both directions.
    #[serde(default)]
    pub queue: Queue,
    /// What gets lost on the way to the queue, in the forward direction only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// The opposite direction, where it differs.
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
    Packets(u32),
    /// Limit in bytes.
    Bytes(u64),
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
    pub period: u64,
    /// Packets lost in a row (default 1).
    #[serde(default = "one")]
    pub burst: u64,
    /// Counts and loses only the packets of this flow or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A group of like flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Flow {
    /// The group's name; its flows are called name0, name1, …
    pub name: String,
    /// Number of flows (default 1).
    #[serde(default = "one_flow")]
    pub count: u32,
    /// The sending node (`left` in a dumbbell).
    pub from: String,
    /// The receiving node (`right` in a dumbbell).
    pub to: String,
    /// What the sender writes.
    pub application: Application,
    /// When each flow starts (default: at once).
    #[serde(default)]
    pub start: Start,
    /// The transport, in place of `endpoint.transport`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Endpoint settings that differ from the scenario's, given as the keys of `endpoint`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub endpoint: serde_json::Map<String, serde_json::Value>,
}

/// When a flow starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Start {
    /// At one time.
    At(Time),
    /// At a random time between two.
    Uniform([Time; 2]),
    /// Each flow of the group at its own time.
    Each(Vec<Time>),
}

/// What a sender writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Application {
    /// One packet per period, as a camera with a constant bit rate gives; judged as media.
    Cbr(Cbr),
    /// As much as the transport takes.
    Bulk(Bulk),
    /// Web sessions: think, fetch one object over a new connection, think again.
    Webtraf(Webtraf),
    /// Frames with given times and sizes; judged as media.
    Media(Media),
}

/// A source of constant bit rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cbr {
    /// Payload bits per second.
    pub rate: Rate,
    /// Payload bytes of one write.
    pub packet: u32,
}

/// A transfer that always has data, or a given amount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bulk {
    /// Bytes to send (default: without end).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// ns-2's web traffic with the parameters of its large-scale example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Webtraf {
    /// Sessions of each flow of the group (default 200).
    #[serde(default = "webtraf_sessions")]
    pub sessions: u32,
    /// Pairs of hosts that the sessions share (default 20).
    #[serde(default = "webtraf_pairs")]
    pub pairs: u32,
    /// Mean of the exponential pause between pages (default 15 s).
    #[serde(default = "webtraf_think")]
    pub think: Time,
    /// Mean object size in packets (default 12).
    #[serde(default = "webtraf_packets")]
    pub object_packets: f64,
    /// Shape of the Lomax distribution of object sizes (default 1.2).
    #[serde(default = "webtraf_shape")]
    pub object_shape: f64,
}

/// Frames of a film.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Media {
    /// Time of each frame from the start of the clip, in seconds, never falling.
    pub times: Vec<f64>,
    /// Bytes of each frame.
    pub sizes: Vec<u32>,
    /// Length of the clip in seconds, after which it starts again.
    pub length: f64,
}

/// What to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Measure {
    /// Throughput and T/µ count from here to the end (default 100 s, at most a tenth of a short run).
    pub warm_up: Time,
    /// The link counters count from here (default: 0 s).
    pub settle: Time,
    /// Start-up delays at which lateness is judged (default 1 s … 20 s).
    pub start_up_delays: Vec<Time>,
    /// The link that `drop-rate`, T/µ and the like refer to, as `from-to` (default: the dumbbell's bottleneck, else the first link).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// Time between two samples of the time series (default: no series).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Time>,
    /// Keep the age of every duplicate ACK of the media flows beside the early-retransmission threshold (default false).
    pub duplicates: bool,
    /// Keep the delivery time of every unit of the media flows (default false).
    pub deliveries: bool,
}

/// The runs of a sweep: every combination of the grid's values with every seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Sweep {
    /// Number of seeds (1 … n) or a list of seeds (default 1).
    pub seeds: Seeds,
    /// Values for keys, as `--set` takes them.
    pub grid: BTreeMap<String, Vec<serde_json::Value>>,
}

/// A number of seeds, or the seeds themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Seeds {
    /// Seeds 1 … n.
    Count(u64),
    /// These seeds.
    List(Vec<u64>),
}

impl Default for Start {
    fn default() -> Self {
        Self::At(Time::from_secs(0))
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            warm_up: Time::from_secs(100),
            settle: Time::from_secs(0),
            start_up_delays: (1..=20).map(Time::from_secs).collect(),
            bottleneck: None,
            series: None,
            duplicates: false,
            deliveries: false,
        }
    }
}

const fn one() -> u64 {
    1
}

const fn one_flow() -> u32 {
    1
}

const fn webtraf_sessions() -> u32 {
    200
}

const fn webtraf_pairs() -> u32 {
    20
}

const fn webtraf_think() -> Time {
    Time::from_secs(15)
}

const fn webtraf_packets() -> f64 {
    12.0
}

const fn webtraf_shape() -> f64 {
    1.2
}
