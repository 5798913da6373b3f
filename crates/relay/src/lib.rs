//! Live streams over the endpoint: from where they are made to where they are watched, on time.
//!
//! A relay has two ends ([`Address`]): one is another relay, the other a source or a sink of media. The sending relay stamps each
//! unit – a datagram, or some packets of a transport stream – with the time at which its source had it. The receiving one hands it
//! on at that time plus the latency plus the shortest time that the way takes; what has not come whole by then is stepped over, and
//! only then.
#![forbid(unsafe_code)]

mod address;
mod link;
mod message;
mod playout;
mod receiver;
mod relay;
mod sender;
mod session;
mod sink;
mod source;
mod statistics;
mod transport;
mod ts;

pub use address::{Address, AddressError, RelayAddress, Via};
pub use message::{Direction, Refusal};
pub use relay::{RelayError, Wish, transmit};
pub use sink::Left;
pub use statistics::{Counts, Report, Way};
