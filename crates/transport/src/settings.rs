//! The settings of an endpoint as plain data, as documents have them: a transport by name, and what the papers vary.
//!
//! The ranges in `schemars` attributes are part of the description: every document is checked against the schema that they
//! make.

mod ecn;
mod endpoint;
mod newreno;
mod quic;
mod rack;
mod real_time;
mod recovery;
mod reno;
mod srt;

pub use ecn::EcnMode;
pub use endpoint::{AgeReference, EarlyRetransmission, Endpoint, RetransmissionTimer};
pub use newreno::NewReno;
pub use quic::{Quic, QuicControl};
pub use rack::Rack;
pub use real_time::{Backlog, Delivery, RealTime, SendLimit, WindowLimit};
pub use recovery::{Recovery, Undo, WindowReduction};
pub use reno::Reno;
pub use srt::Srt;
