use super::{Client, Endpoint, Frames, HttpSimple, Ingest, Mah, Segments, Surge, WebSessions, Webtraf};
use earlybird_transport::{Fraction, Rate, Time, Transport};
use earlybird_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A group of flows with equal settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Flow {
    /// The group's name (letters, digits, `-`, `_`; no digit at the end); its flows are called name0, name1, …
    pub name: String,
    /// Number of flows (default 1).
    #[schemars(range(min = 1))]
    #[serde(default = "one_flow")]
    pub count: u32,
    /// The sending node (`left` in a dumbbell).
    pub from: String,
    /// The receiving node (`right` in a dumbbell).
    pub to: String,
    /// The application of the sender.
    pub application: Application,
    /// The client of a media flow at the receiver (default: none; with a transport of the real-time mode a client
    /// with a deadline).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// Start of each flow (default: at once).
    #[serde(default)]
    pub start: Start,
    /// Propagation time of the links between the flows' hosts and their routers (default: `network.dumbbell.access.delay`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<AccessDelay>,
    /// Time between the opening of a media flow's connection and its first unit (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_time: Option<Time>,
    /// The transport, instead of `endpoint.transport`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Endpoint settings that differ from the scenario's, given as the keys of `endpoint`.
    #[schemars(with = "Endpoint")]
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub endpoint: Map<String, Value>,
}

/// The start of a flow.
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

/// Propagation delay between the hosts of a group's flows and their routers in a dumbbell. Both hosts of a flow are equally far, and the
/// round trip has this delay four times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AccessDelay {
    /// All alike.
    Same(Time),
    /// Each flow at random between two; of web sessions, each server and the client of the same number.
    Uniform([Time; 2]),
    /// The same, between `network.dumbbell.access.delay` less and plus this share of it.
    Spread(Fraction),
}

impl AccessDelay {
    /// Returns the shortest and the longest delay, around that of the network's access links.
    pub fn range(&self, usual: Time) -> [Time; 2] {
        match self {
            Self::Same(delay) => [*delay; 2],
            Self::Uniform(range) => *range,
            Self::Spread(share) => {
                let usual = usual.duration().as_nanos();
                let most = (usual as f64 * share.value()) as u64;
                // A share is at most 1, so that the difference is not negative.
                [usual - most, usual + most].map(|nanos| Duration::from_nanos(nanos).into())
            }
        }
    }
}

/// The application of a sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Application {
    /// One packet per period, like a camera with a constant bit rate; measured as media.
    Cbr(Cbr),
    /// As much data as the transport accepts.
    Bulk(Bulk),
    /// Web sessions: think, fetch one object over a new connection, think again.
    Webtraf(Webtraf),
    /// Web sessions with sizes and pauses measured by Mah (1997): a page, then its further files over parallel connections.
    Mah(Mah),
    /// Web sessions of SURGE (Barford and Crovella 1998): heavy-tailed files one after the other, with pauses.
    Surge(Surge),
    /// Web sessions whose pages are all alike.
    HttpSimple(HttpSimple),
    /// Frames with given times and sizes; measured as media. The name of a video file may replace the table, relative to the
    /// scenario's folder (`media = "clip.mp4"`): the Python package puts its frames there, each with its sound.
    Media(Media),
    /// Frames from a file of their sizes; judged as media.
    Frames(Frames),
    /// A live stream to a server, with OBS Studio's rules for congestion; judged as media.
    Ingest(Ingest),
    /// A film in segments of several bit rates, of which the viewer chooses (HLS, DASH); judged as media.
    Segments(Segments),
}

impl Application {
    /// Returns the number of web sessions, if the application is one of the generators of web traffic.
    pub const fn web_sessions(&self) -> Option<WebSessions> {
        let (count, pairs) = match self {
            Self::Webtraf(web) => (web.sessions, web.pairs),
            Self::Mah(web) => (web.sessions, web.pairs),
            Self::Surge(web) => (web.sessions, web.pairs),
            Self::HttpSimple(web) => (web.sessions, web.pairs),
            _ => return None,
        };
        Some(WebSessions { count, pairs })
    }

    /// Returns whether the application generates web traffic.
    pub const fn is_web(&self) -> bool {
        self.web_sessions().is_some()
    }
}

/// A source of constant bit rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cbr {
    /// Payload bits per second.
    pub rate: Rate,
    /// Payload bytes of one write.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub packet: u32,
    /// Seconds between two packets (default: from `rate` and `packet`). Packet k is written at k·interval after the start in double
    /// precision, as in ns-2's scripts: this decides the order of the packet's ACK and a simultaneous timer.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// Packets to write (default: without end).
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
}

/// A transfer that always has data, or a given amount.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bulk {
    /// Bytes to send (default: without end).
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Frames of a film.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Media {
    /// Time of each frame from the start of the clip, in seconds, never falling.
    #[schemars(length(min = 1), inner(range(min = 0)))]
    pub times: Vec<f64>,
    /// Bytes of each frame.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub sizes: Vec<u32>,
    /// Length of the clip in seconds, after which it is repeated.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub length: f64,
}

impl Default for Start {
    fn default() -> Self {
        Self::At(Time::from_secs(0))
    }
}

const fn one_flow() -> u32 {
    1
}
