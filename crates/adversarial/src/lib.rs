//! Adversarial tests of the parser and of connections: malicious peers and networks.
//!
//! Each [target](TARGETS) derives an experiment from arbitrary bytes and panics if an invariant is violated. The fuzzers
//! (`fuzz/`) search for such bytes, the tests run their corpus and random inputs, and the program of this crate runs millions.

mod bytes;
mod connection;
mod conversation;
mod forge;
mod listener;
mod oracle;
mod packets;
mod random_config;
#[path = "../../tcp/tests/properties/sanity.rs"]
mod sanity;
#[expect(dead_code, reason = "the endpoint's own tests use more of it")]
#[path = "../../tcp/tests/properties/settings.rs"]
mod settings;
mod totals;

pub use bytes::{icmp, options, parse};
pub use connection::connection;
pub use conversation::conversation;
pub use listener::listener;
pub use totals::Totals;

/// An experiment: derives its actions from the bytes and adds to the totals.
pub type Target = fn(&[u8], &mut Totals);

/// All experiments by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("parse", parse),
    ("options", options),
    ("icmp", icmp),
    ("connection", connection),
    ("conversation", conversation),
    ("listener", listener),
];
