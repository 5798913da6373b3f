//! The description of an experiment as plain data: what the TOML file, the Python objects and the JSON schema all mean.
//!
//! The ranges in `schemars` attributes are part of the description: they stand in the schema, and every document is
//! checked against it.

mod endpoint;
mod measure;
mod network;
mod pert;
mod recovery;
mod scenario;
mod traffic;

pub use endpoint::{AgeReference, EarlyRetransmission, Endpoint, Profile, RetransmissionTimer};
pub use measure::{Measure, Seeds, Sweep};
pub use network::{Bernoulli, Channel, DropList, Dumbbell, Link, Loss, Network, Periodic, Queue};
pub use pert::{AlphaRule, CurveTail, LossFactor, MaxDelay, Pert, PertPreset};
pub use recovery::Recovery;
pub use scenario::Scenario;
pub use traffic::{Application, Bulk, Cbr, Flow, Media, Start, Webtraf};
