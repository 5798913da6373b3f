use earlybird_transport::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link's rate from a given time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RateStep {
    /// Time of the change, from the start of the run.
    pub at: Time,
    /// Rate of the link from then on.
    pub rate: Rate,
}

/// Delivery opportunities of 1500 bytes, as mahimahi's: a file, or its contents. They repeat from the last time on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Trace {
    /// The path of a text file, from the scenario's folder: one time in milliseconds per line, never falling; or a time in
    /// seconds and a rate in Mb/s per line; or CSV whose header names a rate (`Mbps`, `DL_bitrate`). `resolve` puts the times
    /// in its place.
    File(String),
    /// The times, in milliseconds from the start.
    Times(#[schemars(length(min = 1))] Vec<u64>),
}

impl Trace {
    /// Returns the times; none if the file has not been read.
    pub fn times(&self) -> &[u64] {
        match self {
            Self::File(_) => &[],
            Self::Times(times) => times,
        }
    }
}

/// The place in a trace at which a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TraceStart {
    /// At a place that the seed of the run draws, any as likely as another. Both directions of a link begin at the same share of
    /// their traces, which are often measured together.
    Random,
    /// At this time of the trace.
    At(Time),
}

/// The rate of a link: constant, with steps, or by the delivery opportunities of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// The rate; at first, if there are steps.
    pub rate: Option<Rate>,
    /// Its changes.
    pub rate_steps: Vec<RateStep>,
    /// Delivery opportunities, instead of a rate.
    pub trace: Option<Trace>,
    /// The place in the trace at which runs begin; its start if there is none.
    pub trace_start: Option<TraceStart>,
}
