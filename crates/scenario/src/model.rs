//! The description of an experiment as plain data: what the TOML file, the Python objects and the JSON schema all mean.
//!
//! The ranges in `schemars` attributes are part of the description: they stand in the schema, and every document is
//! checked against it.

mod client;
mod frames;
mod impairment;
mod ingest;
mod loss;
mod measure;
mod network;
mod queue;
mod rate;
mod scenario;
mod segments;
mod traffic;
mod web;

pub use client::{AdaptiveDelay, Client, DeadlineClient, RebufferClient};
pub use earlybird_transport::{
    AgeReference, Backlog, Delivery, EarlyRetransmission, EcnMode, Endpoint, NewReno, Profile, Quic, QuicControl, Rack,
    RealTime, Recovery, Reno, RetransmissionTimer, SendLimit, Srt, Undo, WindowLimit, WindowReduction,
};
pub use frames::{Frames, SizeUnit, TimeUnit};
pub use impairment::{
    Arq, DelaySpikes, Duplicate, Jitter, JitterDistribution, NormalDelay, Outage, ParetoDelay, Reorder,
};
pub use ingest::{Encoder, Film, Ingest, Sound};
pub use loss::{Bernoulli, DropList, Fading, FourState, Gilbert, GilbertElliott, Loss, Periodic, Policer};
pub use measure::{Bursts, Measure, Seeds, Sweep};
pub use network::{Channel, Dumbbell, Link, Network, Reverse};
pub use queue::*;
pub use rate::{RateStep, Speed, Trace, TraceStart};
pub use scenario::{Backend, NetworkDocument, Scenario};
pub use segments::{RateRule, Segments};
pub use traffic::{AccessDelay, Application, Bulk, Cbr, Flow, Media, Start};
pub use web::{HttpSimple, Mah, Surge, WebSessions, Webtraf};
