//! The endpoint tried against this machine's kernel: a TUN device in a network namespace of its own, a path with delay,
//! losses and reordering in between, one connection.
//!
//! What needs rights that the machine does not give says so: [`Bench::new`] gives the reason.

mod bench;
mod path;
mod session;
mod tun;

pub use bench::{Bench, Family};
pub use path::{Fate, Path, Side, Sighting};
pub use session::Session;
