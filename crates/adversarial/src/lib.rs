//! What hostile peers and networks do to the parser and to connections.
//!
//! Each [target](TARGETS) makes one experiment of any bytes, and panics where something does not hold. The fuzzer (`fuzz/`)
//! looks for such bytes, the tests try what it has kept and some random ones, the program of this crate very many.

mod bytes;
mod connection;
mod conversation;
mod counts;
mod forge;
mod listener;
mod packets;
#[path = "../../tcp/tests/properties/sanity.rs"]
mod sanity;
#[expect(dead_code, reason = "the endpoint's own tests use more of it")]
#[path = "../../tcp/tests/properties/settings.rs"]
mod settings;
mod setup;
mod witness;

pub use bytes::{icmp, options, parse};
pub use connection::connection;
pub use conversation::conversation;
pub use counts::Counts;
pub use listener::listener;

/// An experiment: it reads from the bytes what to do, and counts what it did.
pub type Target = fn(&[u8], &mut Counts);

/// All experiments by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("parse", parse),
    ("options", options),
    ("icmp", icmp),
    ("connection", connection),
    ("conversation", conversation),
    ("listener", listener),
];
