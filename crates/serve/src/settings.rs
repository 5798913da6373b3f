//! Settings of a proxy, and its errors.

use earlybird_transport::ScenarioError;
use earlybird_units::Duration;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Settings of a proxy.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the stack, which is routed to the TUN device.
    pub address: IpAddr,
    /// TCP port at which the stack listens.
    pub port: u16,
    /// Address of the server.
    pub server: SocketAddr,
    /// Name of the TUN device.
    pub device: String,
    /// Transport of the connections to clients, by its name in scenarios.
    pub transport: String,
    /// The largest number of pairs; further connections are reset.
    pub max_connections: usize,
    /// Time without a byte in either direction after which a pair is aborted.
    pub idle_timeout: Duration,
}

/// Errors of a proxy.
#[derive(Debug)]
pub enum ServeError {
    /// There is no such transport, or it carries no byte streams.
    Transport(ScenarioError),
    /// The TUN device cannot be created, or failed.
    Device(io::Error),
    /// The stack refused the settings.
    Stack(earlybird_live::Error),
    /// The limit of open files is lower than the connections need.
    OpenFiles {
        /// The limit (`ulimit -H -n`).
        limit: u64,
        /// The number of descriptors that all connections need.
        needed: u64,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(formatter),
            Self::Device(error) => error.fmt(formatter),
            Self::Stack(error) => error.fmt(formatter),
            Self::OpenFiles { limit, needed } => write!(
                formatter,
                "--max-connections: this process may open {limit} files, and needs {needed}. Raise the limit \
                 (`ulimit -n`, or LimitNOFILE= of systemd), or accept fewer connections."
            ),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<earlybird_live::Error> for ServeError {
    fn from(error: earlybird_live::Error) -> Self {
        Self::Stack(error)
    }
}
