use super::{Arq, Duplicate, Jitter, Loss, Outage, Queue, RateStep, Reorder, Speed, Trace, TraceStart};
use earlybird_transport::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The links and nodes: a named shape, or a list of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Network {
    /// Two routers with one bottleneck between them; every flow brings its own hosts (`left`, `right`).
    Dumbbell(Box<Dumbbell>),
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
    /// The queue of the right-to-left direction of the bottleneck (default: `"unlimited"`, which never drops).
    #[serde(default)]
    pub reverse_queue: Queue,
    /// Differences of the right-to-left direction of the bottleneck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Reverse>,
}

/// Differences of the right-to-left direction of a dumbbell's bottleneck: a slower link for ACKs, losses of ACKs, and the like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reverse {
    /// Rate of the link in bits per second (default: the bottleneck's).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Changes of the rate, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_steps: Vec<RateStep>,
    /// Delivery opportunities of 1500 bytes instead of a rate: a file of mahimahi's, of seconds and Mb/s, or of CSV; or the times in
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The place in the trace at which runs begin (default: its start).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_start: Option<TraceStart>,
    /// Propagation time of the link (default: as the bottleneck's).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Random loss before the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// Times in which the link carries nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Retransmissions by the link layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arq: Option<Arq>,
    /// Additional delays that differ from packet to packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Packets that arrive late, while others pass them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Packets that arrive twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Duplicate>,
}

/// Rate, delay and queue of a link in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Channel {
    /// Rate of the link in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Changes of the rate, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_steps: Vec<RateStep>,
    /// Delivery opportunities of 1500 bytes instead of a rate: a file of mahimahi's, of seconds and Mb/s, or of CSV; or the times in
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The place in the trace at which runs begin (default: its start).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_start: Option<TraceStart>,
    /// Propagation time of the link.
    pub delay: Time,
    /// The queue in front (default: `"unlimited"`, which never drops).
    #[serde(default)]
    pub queue: Queue,
    /// Random loss before the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// Times in which the link carries nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Retransmissions by the link layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arq: Option<Arq>,
    /// Additional delays that differ from packet to packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Packets that arrive late, while others pass them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Packets that arrive twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Duplicate>,
}

impl Reverse {
    /// Returns how fast the link sends; nothing if it does not differ.
    pub fn speed(&self) -> Speed {
        Speed {
            rate: self.rate,
            rate_steps: self.rate_steps.clone(),
            trace: self.trace.clone(),
            trace_start: self.trace_start,
        }
    }
}

impl Channel {
    /// Returns how fast the link sends.
    pub fn speed(&self) -> Speed {
        Speed {
            rate: self.rate,
            rate_steps: self.rate_steps.clone(),
            trace: self.trace.clone(),
            trace_start: self.trace_start,
        }
    }

    /// Returns whether it delays, reorders or duplicates packets.
    pub fn is_impaired(&self) -> bool {
        self.arq.is_some() || self.jitter.is_some() || self.reorder.is_some() || self.duplicate.is_some()
    }
}

impl Dumbbell {
    /// Returns the right-to-left direction of the bottleneck: as the other one, without losses and other impairments, unless
    /// `reverse-queue` and `reverse` say otherwise.
    pub fn backward(&self) -> Channel {
        let reverse = self.reverse.clone().unwrap_or_default();
        let own = reverse.speed();
        // All of it or nothing: a trace must not stand beside the rate of the other direction.
        let Speed { rate, rate_steps, trace, trace_start } =
            if own == Speed::default() { self.bottleneck.speed() } else { own };
        Channel {
            rate,
            rate_steps,
            trace,
            trace_start,
            delay: reverse.delay.unwrap_or(self.bottleneck.delay),
            queue: self.reverse_queue,
            // Not mirrored: losses of data are given, those of ACKs only if asked for.
            loss: reverse.loss,
            outages: reverse.outages,
            arq: reverse.arq,
            jitter: reverse.jitter,
            reorder: reverse.reorder,
            duplicate: reverse.duplicate,
        }
    }
}

impl Link {
    /// Returns the forward direction.
    pub fn forward(&self) -> Channel {
        Channel {
            rate: self.rate,
            rate_steps: self.rate_steps.clone(),
            trace: self.trace.clone(),
            trace_start: self.trace_start,
            delay: self.delay,
            queue: self.queue,
            loss: self.loss.clone(),
            outages: self.outages.clone(),
            arq: self.arq.clone(),
            jitter: self.jitter.clone(),
            reorder: self.reorder.clone(),
            duplicate: self.duplicate.clone(),
        }
    }

    /// Returns the backward direction: as the other one, without losses and other impairments, unless `reverse` says
    /// otherwise.
    pub fn backward(&self) -> Channel {
        let mirrored = || Channel {
            loss: Vec::new(),
            outages: Vec::new(),
            arq: None,
            jitter: None,
            reorder: None,
            duplicate: None,
            ..self.forward()
        };
        self.reverse.clone().unwrap_or_else(mirrored)
    }
}

/// A link between two named nodes, the same in both directions unless `reverse` says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// The node at the sending side.
    pub from: String,
    /// The node at the receiving side.
    pub to: String,
    /// Rate of the link in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Changes of the rate, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_steps: Vec<RateStep>,
    /// Delivery opportunities of 1500 bytes instead of a rate: a file of mahimahi's, of seconds and Mb/s, or of CSV; or the times in
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The place in the trace at which runs begin (default: its start).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_start: Option<TraceStart>,
    /// Propagation time of the link.
    pub delay: Time,
    /// The queue in front, in both directions (default: `"unlimited"`, which never drops).
    #[serde(default)]
    pub queue: Queue,
    /// Random loss before the queue, in the forward direction only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// Times in which the link carries nothing, in the forward direction only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Retransmissions by the link layer, in the forward direction only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arq: Option<Arq>,
    /// Additional delays that differ from packet to packet, in the forward direction only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Packets that arrive late, while others pass them, in the forward direction only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Packets that arrive twice, in the forward direction only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Duplicate>,
    /// The opposite direction, if it is not the same; then with rate and delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Channel>,
}
