use earlybird_transport::{Fraction, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The queue in front of a link: its limit if it only drops what finds it full, else the discipline with its parameters.
///
/// Like ns-2's, a queue of `packets = L` lets L − 1 packets wait while one more is being sent; so do all limits here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// Never drops.
    #[default]
    Unlimited,
    /// Limit in packets.
    Packets(#[schemars(range(min = 1))] u32),
    /// Limit in bytes.
    Bytes(#[schemars(range(min = 1))] u64),
    /// When so many packets are there, drops the one that has waited longest.
    HeadDrop(#[schemars(range(min = 1))] u32),
    /// Random Early Detection (Floyd and Jacobson 1993; gentle; Adaptive RED 2001).
    Red(Red),
    /// Controlled Delay (RFC 8289).
    Codel(Codel),
    /// Proportional Integral controller Enhanced (RFC 8033).
    Pie(Pie),
    /// A fair share for every connection, with `CoDel` for each (RFC 8290).
    FqCodel(FqCodel),
    /// A low-latency queue for scalable senders beside a classic one, with coupled marking (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2(DualPi2),
}

/// The parameters of RED, measured in packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Red {
    /// The most packets (default: any number).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
    /// Average queue in packets from which on packets are dropped (default: half of what waits in `target-delay`, at least 5).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub min_threshold: Option<f64>,
    /// Average queue in packets at which the probability is `max-probability` (default: three times `min-threshold`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_threshold: Option<f64>,
    /// Weight of one packet in the average (default: 1 − exp(−1/C) on a link of C packets per second).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Fraction>,
    /// Probability of a drop at `max-threshold`; where an adaptive queue starts (default 0.1).
    pub max_probability: Fraction,
    /// Let the probability rise to 1 at twice `max-threshold` in place of a jump there (default true).
    pub gentle: bool,
    /// Keep two drops at least 1/p packets apart (default true, as in ns-2).
    pub wait: bool,
    /// Adaptive RED: move `max-probability` so that the average stays half way between the thresholds (default false).
    pub adaptive: bool,
    /// Average waiting time at which default thresholds aim (default 5 ms).
    pub target_delay: Time,
    /// Bytes of a usual packet, by which idle times and C are counted (default 1000).
    #[schemars(range(min = 1))]
    pub mean_packet: u32,
    /// Mark packets of senders that understand it while the average is below `max-threshold` (default false).
    pub ecn: bool,
}

/// The parameters of `CoDel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Codel {
    /// The most packets (default 1000).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// How long packets may wait in a good queue (default 5 ms).
    pub target: Time,
    /// For how long they must have waited longer before anything is dropped: a long round trip (default 100 ms).
    pub interval: Time,
    /// Nothing is dropped while no more bytes than these wait (default 1500).
    pub mtu: u32,
    /// Mark packets of senders that understand it in place of dropping them (default false).
    pub ecn: bool,
}

/// The parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Pie {
    /// The most packets (default 1000).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// How long packets shall wait (default 15 ms).
    pub target: Time,
    /// Time from one change of the drop probability to the next (default 15 ms).
    pub update: Time,
    /// How long a burst after quiet times goes unpunished (default 150 ms).
    pub burst: Time,
    /// Gain for the distance from the target, in Hz (default 0.125).
    #[schemars(range(min = 0))]
    pub alpha: f64,
    /// Gain for the change of the waiting time, in Hz (default 1.25).
    #[schemars(range(min = 0))]
    pub beta: f64,
    /// Mark packets of senders that understand it in place of dropping them (default false) …
    pub ecn: bool,
    /// … up to this drop probability; above it they are dropped (default 0.1).
    pub mark_limit: Fraction,
}

/// The parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FqCodel {
    /// The most packets in all queues together (default 10240).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Number of queues among which connections are spread by a hash (default 1024).
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes of a turn (default 1514).
    #[schemars(range(min = 1))]
    pub quantum: u32,
    /// How long packets may wait in a good queue (default 5 ms).
    pub target: Time,
    /// For how long they must have waited longer before anything is dropped (default 100 ms).
    pub interval: Time,
    /// Nothing is dropped from a queue in which no more bytes than these wait (default 1500).
    pub mtu: u32,
    /// Mark packets of senders that understand it in place of dropping them (default true).
    pub ecn: bool,
}

/// The parameters of `DualPI2`. It always marks: scalable senders need it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DualPi2 {
    /// The most packets in both queues together (default 10000).
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// How long classic packets shall wait (default 15 ms).
    pub target: Time,
    /// Time from one change of the probability to the next (default 16 ms).
    pub update: Time,
    /// Gain for the distance from the target, in Hz (default 0.16).
    #[schemars(range(min = 0))]
    pub alpha: f64,
    /// Gain for the change of the waiting time, in Hz (default 3.2).
    #[schemars(range(min = 0))]
    pub beta: f64,
    /// The factor k between the controller's probability and that of marks in the low-latency queue (default 2).
    #[schemars(range(min = 0))]
    pub coupling: f64,
    /// Waiting time from which on the low-latency queue marks by itself (default 0.8 ms) …
    pub ramp_start: Time,
    /// … always, once packets wait so much longer; 0 makes it a step (default 0.4 ms).
    pub ramp: Time,
    /// Share of the link that classic packets have at least while both queues hold packets (default 0.1).
    pub classic_share: Fraction,
}

const fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

impl Default for Red {
    /// ARED §4 for what follows from the link; Floyd 1997, "RED: discussions of setting parameters", for the rest.
    fn default() -> Self {
        Self {
            limit: None,
            min_threshold: None,
            max_threshold: None,
            weight: None,
            max_probability: Fraction::of(0.1),
            gentle: true,
            wait: true,
            adaptive: false,
            target_delay: millis(5),
            mean_packet: 1000,
            ecn: false,
        }
    }
}

impl Default for Codel {
    /// RFC 8289 §4.3; the limit is Linux's.
    fn default() -> Self {
        Self { limit: 1000, target: millis(5), interval: millis(100), mtu: 1500, ecn: false }
    }
}

impl Default for Pie {
    /// RFC 8033 §4 and §5.1; the limit is Linux's.
    fn default() -> Self {
        Self {
            limit: 1000,
            target: millis(15),
            update: millis(15),
            burst: millis(150),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            mark_limit: Fraction::of(0.1),
        }
    }
}

impl Default for FqCodel {
    /// RFC 8290 §5.2.
    fn default() -> Self {
        let Codel { target, interval, mtu, .. } = Codel::default();
        Self { limit: 10_240, flows: 1024, quantum: 1514, target, interval, mtu, ecn: true }
    }
}

impl Default for DualPi2 {
    /// RFC 9332 figures 2 and 7; limit and share are those of Linux.
    fn default() -> Self {
        Self {
            limit: 10_000,
            target: millis(15),
            update: millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            ramp_start: Time::from_micros(800),
            ramp: Time::from_micros(400),
            classic_share: Fraction::of(0.1),
        }
    }
}
