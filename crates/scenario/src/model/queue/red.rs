use super::{QueueTable, millis};
use earlybird_queue::{Discipline, QueueLimit, RedSettings};
use earlybird_transport::{Fraction, ScenarioError, Time, join};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Let the probability rise to 1 at twice `max-threshold`, instead of a jump (default true).
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
    /// Mark packets of ECN-capable senders while the average is below `max-threshold` (default false).
    pub ecn: bool,
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

impl QueueTable for Red {
    fn limit(&self) -> QueueLimit {
        self.limit.map_or(QueueLimit::Unlimited, QueueLimit::Packets)
    }

    fn discipline(&self) -> Discipline {
        Discipline::Red(RedSettings {
            min_threshold: self.min_threshold,
            max_threshold: self.max_threshold,
            weight: self.weight.map(Fraction::value),
            max_probability: self.max_probability.value(),
            gentle: self.gentle,
            wait: self.wait,
            adaptive: self.adaptive,
            target_delay: self.target_delay.duration(),
            mean_packet: self.mean_packet,
            ecn: self.ecn,
        })
    }

    fn is_random(&self) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn without_marks(self) -> Self {
        Self { ecn: false, ..self }
    }

    fn check(&self, path: &str) -> Result<(), ScenarioError> {
        let Some(max) = self.max_threshold else { return Ok(()) };
        let error = |problem| ScenarioError::new(&join(path, "max-threshold"), problem).text(&max.to_string());
        // The default of the lower one follows from the link, and could lie above.
        let Some(min) = self.min_threshold else {
            return Err(error("stands without `min-threshold`").allowed("both thresholds, or the lower one, or none"));
        };
        let too_low = || error("is not above `min-threshold`").allowed(format!("a number above {min}"));
        if max > min { Ok(()) } else { Err(too_low()) }
    }
}
