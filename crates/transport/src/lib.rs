//! Transports by name: from the settings of an endpoint to the configuration of what carries a flow.
//!
//! An [`Endpoint`] is plain data, as a scenario's table `endpoint` has it: a [`Profile`], a [`Transport`] by name, and single
//! settings. [`Endpoint::check`] refuses what does not go together, and [`Endpoint::protocol`] returns the configuration of
//! TCP, datagrams or QUIC for one [`Workload`]. [`Transports`] is the register of names: the transports of this crate, and the
//! congestion controls that a program adds to it.
#![forbid(unsafe_code)]

mod additions;
mod by_profile;
mod check;
mod config;
mod control_tables;
mod controls;
mod decimal;
mod did_you_mean;
mod error;
mod name;
mod name_text;
mod plugin;
mod profile;
mod protocol;
mod quantity;
mod real_time;
mod register;
mod settings;
mod table;

pub use additions::RegisterError;
pub use control_tables::ControlTables;
pub use controls::*;
pub use did_you_mean::{did_you_mean, listed, nearest};
pub use error::{ScenarioError, join, text_of};
pub use name::{ControlName, Datagram, Detection, Kind, Preset, QuicCarriage, Repair, Transport};
pub use plugin::{Plugin, PluginTable};
pub use profile::Profile;
pub use protocol::{Protocol, QuicSettings, TcpEnds};
pub use quantity::{Fraction, Rate, Time, positive};
pub use real_time::{Units, Workload};
pub use register::Transports;
pub use settings::*;
