//! TCP-friendly rate control (RFC 5348): a rate that changes slowly, at the mean throughput of a TCP connection.
//!
//! The receiver measures how often losses happen and reports it once per round trip; the sender puts that into an equation
//! for TCP's throughput and sends at this rate. Nothing is repaired.

mod equation;
mod history;
mod limits;
mod receiver;
mod sender;

pub use equation::{loss_event_rate_for, throughput};
pub use receiver::Receiver;
pub use sender::{Gauges, Sender};
