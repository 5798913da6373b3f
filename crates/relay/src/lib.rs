//! Relays live media between hosts, over the endpoint of `earlybird-tcp`.
//!
//! A relay has two ends ([`Address`]): another relay, and a local source or sink of media. The sending relay stamps each unit
//! with the time at which its source had it. The receiving relay delivers it at that time plus the latency plus the shortest
//! transit time of the path. A unit that is not complete by then is skipped, and not before.
//!
//! Terms for the data, from the source to the network:
//!
//! * **TS packet**: 188 bytes of an MPEG transport stream; most sources consist of them ([`ts`]).
//! * **unit**: data that the source delivers at once, and that the sink gets at once: a datagram, or up to seven TS packets (`MediaUnit`).
//! * **fragment**: a part of a unit that fits into one segment (`Fragment`). Most units have one.
//! * **message**: a fragment or a control message, as relays exchange it (`Message`).
//! * **frame**: a message in real-time mode; on a byte stream, messages have a length prefix (`MessageChannel`).
#![forbid(unsafe_code)]

mod address;
mod foreign;
mod framing;
mod identities;
mod key_file;
mod message;
mod notice;
mod peers;
mod playout;
mod receiver;
mod relay;
mod secret;
mod sender;
mod sink;
mod source;
mod statistics;
mod transport;
mod ts;

pub use address::{Address, AddressError, DatagramAddress, RelayAddress, RtmpAddress, SrtAddress, Via};
pub use message::{Direction, Refusal};
pub use relay::{Command, RelayError, transmit};
pub use secret::Secret;
pub use sink::Unsent;
pub use statistics::{ConnectionStats, Counters, PathStats, Report};
pub use transport::config_of as connection_config;
