use earlybird_transport::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A film in segments, each coded at every rate of a ladder (HLS, DASH), over one TCP connection from the server to the viewer.
///
/// The viewer requests a segment when the previous one has arrived, chooses its rate by a rule, plays, and stalls when its buffer is empty. A
/// live film begins when the flow starts (and `lead-time` is over): segment n is there at (n + 1)·`segment`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Segments {
    /// The rates, from the lowest to the highest.
    #[schemars(length(min = 1, max = 64))]
    pub ladder: Vec<Rate>,
    /// Playing time of a segment (default 2 s).
    #[serde(default = "two_seconds")]
    pub segment: Time,
    /// Playing time of a part, of which a segment has a whole number: each is sent as soon as it is made (chunks of CMAF; default: no
    /// parts, segments are sent when they are complete).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Time>,
    /// Is the film made while it is watched (default true)? If not, all of it is there from the beginning.
    #[serde(default = "yes")]
    pub live: bool,
    /// Playing time that must be there before playback begins (default: of a live film three segments, or three parts, as HLS asks for,
    /// and with `l2a` 2 s at least; else one segment).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_buffer: Option<Time>,
    /// The most playing time that the viewer holds, of a film that is not live (default 30 s; a live film's viewer never has more than
    /// `start-buffer`; with `hls.js` 30 s, with `dash.js` 18 s, with `shaka` 10 s, and a segment more). With `bola` the highest rate is best
    /// at this, and the lowest one at a third of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Time>,
    /// Rate adaptation of the viewer (default `throughput`).
    #[serde(default)]
    pub rule: RateRule,
    /// Bytes of a request (default 300).
    #[schemars(range(min = 1, max = 65_536))]
    #[serde(default = "request_bytes")]
    pub request: u64,
}

/// Rate adaptation of a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateRule {
    /// By the mean throughput of the latest segments (`ThroughputRule` of dash.js).
    #[default]
    Throughput,
    /// By the buffer (BOLA-BASIC; Spiteri, Urgaonkar and Sitaraman, INFOCOM 2016).
    Bola,
    /// By online learning, for low latency (L2A-LL; Karagkioules and others, `MMSys` 2020).
    L2a,
    /// As hls.js 1.7, which abandons segments that are too slow (`_abandonRulesCheck`).
    #[serde(rename = "hls.js")]
    HlsJs,
    /// As dash.js 5 with `ThroughputRule` and `AbandonRequestsRule`, without BOLA.
    #[serde(rename = "dash.js")]
    DashJs,
    /// As Shaka Player 5, which abandons segments when it switches to another rate.
    Shaka,
}

impl RateRule {
    /// Returns the playing time below which a player requests the next segment, for rules that are those of a player: `maxBufferLength`,
    /// `bufferTimeDefault` and `bufferingGoal`.
    pub fn goal(self) -> Option<Time> {
        match self {
            Self::HlsJs => Some(Time::from_secs(30)),
            Self::DashJs => Some(Time::from_secs(18)),
            Self::Shaka => Some(Time::from_secs(10)),
            Self::Throughput | Self::Bola | Self::L2a => None,
        }
    }

    /// Returns whether segments that are on their way may be abandoned.
    pub fn abandons(self) -> bool {
        self.goal().is_some()
    }
}

impl Segments {
    /// Returns the playing time of a part, or of a segment that has none.
    pub fn unit(&self) -> Time {
        self.part.unwrap_or(self.segment)
    }

    /// Returns the playing time that must be there before playback begins.
    pub fn start(&self) -> Time {
        self.start_buffer.unwrap_or_else(|| match (self.live, self.rule) {
            (false, _) => self.segment,
            // L2A leaves its start-up only with 1.5 s in the buffer.
            (true, RateRule::L2a) => self.held_back().max(two_seconds()),
            (true, _) => self.held_back(),
        })
    }

    /// RFC 8216, §6.3.3, and `PART-HOLD-BACK` of its second edition.
    fn held_back(&self) -> Time {
        (self.unit().duration() * 3).into()
    }

    /// Returns the most playing time that the viewer holds.
    pub fn most(&self) -> Time {
        // More than lies between the viewer and the camera is never there.
        let goal = self.rule.goal().map(|goal| (goal.duration() + self.segment.duration()).into());
        let stored = || self.start().max(goal.unwrap_or(Time::from_secs(30)));
        let usual = if self.live { self.start() } else { stored() };
        self.buffer.unwrap_or(usual)
    }

    /// Returns the lowest rate in bits per second.
    pub fn lowest(&self) -> f64 {
        self.ladder.first().copied().map_or(0.0, bits_of)
    }

    /// Returns the highest rate in bits per second.
    pub fn highest(&self) -> f64 {
        self.ladder.last().copied().map_or(0.0, bits_of)
    }
}

fn bits_of(rate: Rate) -> f64 {
    rate.rate().bits_per_second() as f64
}

const fn two_seconds() -> Time {
    Time::from_secs(2)
}

const fn yes() -> bool {
    true
}

const fn request_bytes() -> u64 {
    300
}
