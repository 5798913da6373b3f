//! The description of an experiment as plain data: what the TOML file, the Python objects and the JSON schema all mean.
//!
//! The ranges in `schemars` attributes are part of the description: they stand in the schema, and every document is
//! checked against it.

mod client;
mod ecn;
mod endpoint;
mod frames;
mod impairment;
mod ingest;
mod loss;
mod measure;
mod network;
mod newreno;
mod queue;
mod quic;
mod rack;
mod rate;
mod real_time;
mod recovery;
mod reno;
mod scenario;
mod segments;
mod srt;
mod traffic;
mod web;

pub use client::{AdaptiveDelay, Client, DeadlineClient, RebufferClient};
pub use ecn::EcnMode;
pub use endpoint::{AgeReference, EarlyRetransmission, Endpoint, Profile, RetransmissionTimer};
pub use frames::{Frames, SizeUnit, TimeUnit};
pub use impairment::{Duplicate, Reorder};
pub use ingest::{Encoder, Film, Ingest, Sound};
pub use loss::{Bernoulli, DropList, Fading, FourState, Gilbert, GilbertElliott, Loss, Periodic};
pub use measure::{Bursts, Measure, Seeds, Sweep};
pub use network::{Channel, Dumbbell, Link, Network, Reverse};
pub use newreno::NewReno;
pub use queue::{Codel, DualPi2, FqCodel, Pie, Queue, Red};
pub use quic::{Quic, QuicControl};
pub use rack::Rack;
pub use rate::{RateStep, Speed, Trace};
pub use real_time::{Backlog, Delivery, RealTime, SendLimit, WindowLimit};
pub use recovery::{Recovery, Undo, WindowReduction};
pub use reno::Reno;
pub use scenario::{Backend, Scenario};
pub use segments::{RateRule, Segments};
pub use srt::Srt;
pub use traffic::{AccessDelay, Application, Bulk, Cbr, Flow, Media, Start};
pub use web::{HttpSimple, Mah, Surge, WebSessions, Webtraf};
