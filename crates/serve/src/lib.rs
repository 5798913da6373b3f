//! A TCP proxy: accepts connections of ordinary clients with the endpoint of `earlybird-tcp` over a TUN device, and forwards the
//! bytes in both directions to a server of the kernel's TCP.
//!
//! * **pair**: a client's connection and the proxy's own connection to the server (`Pair`).
//! * **leftover**: bytes read from one connection that the other has not accepted yet (`Leftover`).
#![forbid(unsafe_code)]

mod event_loop;
mod leftover;
mod pair;
mod proxy;
mod report;
mod server_socket;
mod settings;
mod transport;

pub use event_loop::{Command, serve};
pub use report::{Counters, Report};
pub use settings::{ServeError, Settings};
pub use transport::check_transport;
