//! Endpoints of flows of datagrams. Over UDP and TFRC nothing is retransmitted, and data is delivered on arrival; SRT
//! retransmits losses and delivers at a set time.
//!
//! As the TCP endpoint they have no clock, no threads and no IO. After any call that takes the time, drain
//! [`Endpoint::poll_transmit`], then [`Endpoint::poll_event`], then [`Endpoint::poll_timeout`], which returns when to call
//! [`Endpoint::on_timeout`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod endpoint;
pub mod srt;
pub mod tfrc;
mod transmit;
mod udp;
mod units;

pub use endpoint::{Config, Control, Endpoint, Event};
pub use transmit::Transmit;
pub use udp::Udp;
