//! Emulates networks: the simulator's links in real time.
//!
//! [`Emulator`] forwards real packets between two sides over a simulated network. It has no clock and no devices: the caller
//! passes time and packets, so that tests are as exact as simulations. A [`Bridge`] drives it with the TUN devices of two
//! [`Namespace`]s and the clock of this machine.

mod bridge;
mod capture;
mod delays;
mod emulator;
mod flow_routes;
mod namespace;
mod payloads;
pub mod shell;

pub use bridge::{Bridge, BridgeObserver, BridgeStats};
pub use capture::Capture;
pub use delays::DelayHistogram;
pub use emulator::{Delivery, Emulator, Rejections};
pub use flow_routes::{FlowRoute, FlowRoutes, Side};
pub use namespace::{HostConfig, HostDevice, Namespace};
