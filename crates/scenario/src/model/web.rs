use earlybird_transport::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ns-2's web traffic with the parameters of its large-scale example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Webtraf {
    /// Sessions of each flow of the group (default 200).
    #[schemars(range(min = 1))]
    #[serde(default = "sessions")]
    pub sessions: u32,
    /// Pairs of hosts that the sessions share (default 20).
    #[schemars(range(min = 1))]
    #[serde(default = "pairs")]
    pub pairs: u32,
    /// Mean of the exponential pause between pages (default 15 s).
    #[serde(default = "webtraf_think")]
    pub think: Time,
    /// Mean object size in packets (default 12).
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(default = "webtraf_packets")]
    pub object_packets: f64,
    /// Shape of the Lomax distribution of object sizes (default 1.2).
    #[schemars(extend("exclusiveMinimum" = 1))]
    #[serde(default = "webtraf_shape")]
    pub object_shape: f64,
}

/// Web users as Mah measured them in 1995 (INFOCOM 1997): sizes, files per page, pages per server and pauses are drawn from
/// the published quantiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Mah {
    /// Sessions of each flow of the group (default 200).
    #[schemars(range(min = 1))]
    #[serde(default = "sessions")]
    pub sessions: u32,
    /// Pairs of hosts that the sessions share (default 20).
    #[schemars(range(min = 1))]
    #[serde(default = "pairs")]
    pub pairs: u32,
    /// The most requests of a session at a time (default 4).
    #[schemars(range(min = 1, max = 64))]
    #[serde(default = "four")]
    pub parallel: u32,
    /// Use connections for further objects of the page, as HTTP/1.1 does (default false: a new one for each).
    #[serde(default)]
    pub persistent: bool,
}

/// User equivalents of SURGE (Barford and Crovella, SIGMETRICS 1998): one object after the other, with pauses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Surge {
    /// Sessions of each flow of the group (default 200).
    #[schemars(range(min = 1))]
    #[serde(default = "sessions")]
    pub sessions: u32,
    /// Pairs of hosts that the sessions share (default 20).
    #[schemars(range(min = 1))]
    #[serde(default = "pairs")]
    pub pairs: u32,
    /// Bytes of each request, which SURGE leaves open (default 256).
    #[schemars(range(min = 1))]
    #[serde(default = "request_bytes")]
    pub request: u64,
    /// Use connections for further objects of the page, as HTTP/1.1 does (default false: a new one for each).
    #[serde(default)]
    pub persistent: bool,
}

/// Pages that are all alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HttpSimple {
    /// Sessions of each flow of the group (default 200).
    #[schemars(range(min = 1))]
    #[serde(default = "sessions")]
    pub sessions: u32,
    /// Pairs of hosts that the sessions share (default 20).
    #[schemars(range(min = 1))]
    #[serde(default = "pairs")]
    pub pairs: u32,
    /// Mean of the exponential pause between pages (default 3 s).
    #[serde(default = "http_simple_think")]
    pub think: Time,
    /// Bytes of each request (default 256).
    #[schemars(range(min = 1))]
    #[serde(default = "request_bytes")]
    pub request: u64,
    /// Bytes of the page itself (default 4000).
    #[schemars(range(min = 1))]
    #[serde(default = "http_simple_page")]
    pub page: u64,
    /// Objects requested after it (default 4).
    #[serde(default = "four")]
    pub objects: u32,
    /// Bytes of each object (default 8000).
    #[schemars(range(min = 1))]
    #[serde(default = "http_simple_object")]
    pub object: u64,
    /// The most requests of a session at a time (default 4).
    #[schemars(range(min = 1, max = 64))]
    #[serde(default = "four")]
    pub parallel: u32,
    /// Use connections for further objects of the page, as HTTP/1.1 does (default false: a new one for each).
    #[serde(default)]
    pub persistent: bool,
}

/// The number of web sessions of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebSessions {
    /// Sessions of each flow.
    pub count: u32,
    /// Pairs of hosts that they share.
    pub pairs: u32,
}

const fn sessions() -> u32 {
    200
}

const fn pairs() -> u32 {
    20
}

const fn four() -> u32 {
    4
}

const fn request_bytes() -> u64 {
    256
}

// `interPage`, and below `avg_` and `shape_` of `objSize`, in ns-2's `tcl/ex/large-scale-web-traffic.tcl`.
const fn webtraf_think() -> Time {
    Time::from_secs(15)
}

const fn webtraf_packets() -> f64 {
    12.0
}

const fn webtraf_shape() -> f64 {
    1.2
}

const fn http_simple_think() -> Time {
    Time::from_secs(3)
}

const fn http_simple_page() -> u64 {
    4000
}

const fn http_simple_object() -> u64 {
    8000
}
