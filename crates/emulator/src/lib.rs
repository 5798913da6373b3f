//! The simulator's links under a real clock.
//!
//! [`Emulator`] carries the bytes of packets between two sides over a simulated network. Like everything below it, it has no
//! clock and no devices: time and bytes come in from outside, so that it runs in a test as exactly as a simulation does.
//! [`Crossing`] gives it both: TUN devices of two [`Namespace`]s, and the time of this machine.

mod capture;
mod crossing;
mod emulator;
mod namespace;
mod parcels;
pub mod shell;
mod timing;
mod ways;

pub use capture::Capture;
pub use crossing::{Carried, Crossing, Watch};
pub use emulator::{Delivery, Emulator, Refusals};
pub use namespace::{Host, Namespace, Place};
pub use timing::Timing;
pub use ways::{Side, Way, Ways};
