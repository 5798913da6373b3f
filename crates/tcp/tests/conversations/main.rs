//! One end of a connection in conversation with the test: exact segments, exact times.
//!
//! The names of the tests say the rule; the numbers follow from it. Segments are written as packetdrill writes them, see
//! [`notation`].
#![allow(clippy::single_range_in_vec_init, reason = "the ranges are SACK blocks, and often there is one")]

mod accurate_ecn;
mod acking;
mod batches;
mod blind;
mod closing;
mod congestion;
mod cutting;
mod discards;
mod early_retransmission;
mod ecn;
mod fast_open;
mod growth;
mod handshake;
mod hollywood;
mod host;
mod idle;
mod lies;
mod lifetime;
mod listener;
mod notation;
mod notices;
mod own_control;
mod pacing;
mod parts;
mod path;
mod payload;
mod peers;
mod persist;
mod pert;
mod prr;
mod rack;
mod real_time;
mod reno;
mod reset;
mod rfc6675;
mod spurious;
mod states;
mod time_wait;
mod timer;
mod timestamps;
mod vegas;
mod window;

use earlybird_conformance::{Area, conforms};
use earlybird_tcp::{Config, Segmentation};

/// Returns the `rfc` profile as simulations have it and without timestamps, so that segments are short to write: 1000-byte segments, a window of 64,
/// four of them at first (RFC 3390), timeouts of 1 s (RFC 6298 §2.1, §2.4).
fn plain() -> Config {
    Config::rfc().with_timestamps(false).with_segmentation(Segmentation::Simulated)
}

/// Returns the same as real networks ask: PSH, a FIN with the last segment, pieces where a path shrinks.
fn real() -> Config {
    plain().with_segmentation(Segmentation::Real)
}

/// Opens a connection at 100 ms to a peer with SACK and 1000-byte segments; that our window is 64000 is known.
fn connected(config: &Config) -> host::Host {
    let mut host = host::Host::connect(config);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").take_texts();
    host
}

/// Notes that this test, which is named after what it shows, follows a source step by step; the last line of a test.
fn follows(area: Area, algorithm: &str, source: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    let sentence = name.rsplit("::").next().unwrap_or_default().replace('_', " ");
    conforms(area, algorithm, source, &sentence, "step by step");
}
