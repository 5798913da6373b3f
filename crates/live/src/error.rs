use earlybird_tcp::{ConfigError, IpVersion, WriteError};
use std::fmt;

/// Errors of a stack.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// There is no such connection, or the application has closed it.
    UnknownConnection,
    /// Another listener uses the port.
    PortInUse(u16),
    /// No listener uses the port.
    NotListening(u16),
    /// All local ports towards that peer are in use.
    NoFreePort,
    /// The stack has no address of that IP version.
    NoAddress(IpVersion),
    /// The limit of connections is reached.
    TooManyConnections(usize),
    /// The MTU of the device is below the minimum of that IP version (RFC 791 §3.1, RFC 8200 §5).
    PacketsTooSmall {
        /// MTU of the device, in bytes.
        mtu: u16,
        /// The smallest MTU that is allowed, in bytes.
        min: u16,
    },
    /// The configuration is inconsistent.
    Config(ConfigError),
    /// The connection refused the write.
    Write(WriteError),
    /// The next frame is longer than the buffer.
    FrameTooLong(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownConnection => formatter.write_str("there is no such connection"),
            Self::PortInUse(port) => write!(formatter, "port {port} is in use"),
            Self::NotListening(port) => write!(formatter, "no listener at port {port}"),
            Self::NoFreePort => formatter.write_str("all ports towards that peer are in use"),
            Self::NoAddress(IpVersion::V4) => formatter.write_str("the stack has no IPv4 address"),
            Self::NoAddress(IpVersion::V6) => formatter.write_str("the stack has no IPv6 address"),
            Self::TooManyConnections(most) => write!(formatter, "the limit of {most} connections is reached"),
            Self::PacketsTooSmall { mtu, min } => {
                write!(formatter, "the device carries packets of {mtu} bytes; at least {min} are needed")
            }
            Self::Config(error) => error.fmt(formatter),
            Self::Write(error) => error.fmt(formatter),
            Self::FrameTooLong(bytes) => write!(formatter, "a frame of {bytes} bytes does not fit into the buffer"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}
