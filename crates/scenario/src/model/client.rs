use earlybird_transport::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The client of a media flow at the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Client {
    /// Plays every unit at its time and never stalls: a unit that has not arrived by then is lost.
    Deadline(DeadlineClient),
    /// Stops when the next unit is not there, and resumes when enough units are buffered.
    Rebuffer(RebufferClient),
}

/// A client whose playback never stops, as for a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DeadlineClient {
    /// From the writing of a unit to its playing (default 250 ms). The MTCP paper requires at least 1.5 round trips and 3 periods.
    pub playback_delay: Time,
    /// Shorten the playback delay as far as the network allows, talkspurt by talkspurt (Ramjee and others, INFOCOM 1994); it
    /// begins with `playback-delay` and is never longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveDelay>,
    /// Skip a hole only when the data behind it is due, so that each of several missing units can arrive until its own playout
    /// time (default: with `earlybird-rt`; the MTCP paper skips the whole hole when the first unit is due).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patient: Option<bool>,
    /// Send a small frame to the sender when no new data arrived for this long; `0s` is never (default: three periods with `mtcp`, `tcp-rtm`
    /// and `earlybird-rt`, else never).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Time>,
    /// Interval of reports of received and lost data to the sender (default: no reports).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<Time>,
}

/// Adaptation of a playback delay to the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AdaptiveDelay {
    /// Never shorter than this (default 40 ms).
    pub least: Time,
    /// Units between two changes (default 50: one second of sound in packets of 20 ms).
    #[schemars(range(min = 1))]
    pub talkspurt: u64,
}

/// A client that stalls and waits, as for a film.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RebufferClient {
    /// Units that must be there before playback begins (default 1).
    #[schemars(range(min = 1))]
    pub start: u32,
    /// Units that must be buffered before playback resumes after a stall (default 1).
    #[schemars(range(min = 1))]
    pub resume: u32,
    /// The most playback time that the buffer holds (default 10 s).
    pub capacity: Time,
}

impl Default for DeadlineClient {
    fn default() -> Self {
        Self { playback_delay: Time::from_millis(250), adaptive: None, patient: None, heartbeat: None, reports: None }
    }
}

impl Default for AdaptiveDelay {
    fn default() -> Self {
        Self { least: Time::from_millis(40), talkspurt: 50 }
    }
}

impl Default for RebufferClient {
    fn default() -> Self {
        Self { start: 1, resume: 1, capacity: Time::from_secs(10) }
    }
}
