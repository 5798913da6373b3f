use earlybird_tcp::{ConfigError, IpVersion, WriteError};
use std::fmt;

/// Why a stack does not do what it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// There is no such connection: it was closed or aborted, or never was.
    UnknownConnection,
    /// Somebody listens there already.
    PortInUse(u16),
    /// Nobody listens there.
    NotListening(u16),
    /// Every port from which a connection to that peer could be opened is taken.
    NoFreePort,
    /// The stack has no address of that version.
    NoAddress(IpVersion),
    /// There are as many connections as may be.
    TooManyConnections(usize),
    /// The device carries packets too small for that version (RFC 791 §3.1, RFC 8200 §5).
    PacketsTooSmall {
        /// Bytes that the device carries.
        mtu: u16,
        /// Bytes that it must carry.
        least: u16,
    },
    /// The parameters do not go together.
    Config(ConfigError),
    /// The connection does not take that.
    Write(WriteError),
    /// The frame that waits is longer than the place for it.
    FrameTooLong(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownConnection => formatter.write_str("there is no such connection"),
            Self::PortInUse(port) => write!(formatter, "port {port} is in use"),
            Self::NotListening(port) => write!(formatter, "nobody listens at port {port}"),
            Self::NoFreePort => formatter.write_str("all ports towards that peer are in use"),
            Self::NoAddress(IpVersion::V4) => formatter.write_str("the stack has no IPv4 address"),
            Self::NoAddress(IpVersion::V6) => formatter.write_str("the stack has no IPv6 address"),
            Self::TooManyConnections(most) => write!(formatter, "there are {most} connections, and more may not be"),
            Self::PacketsTooSmall { mtu, least } => {
                write!(formatter, "the device carries packets of {mtu} bytes; it takes {least} at least")
            }
            Self::Config(error) => error.fmt(formatter),
            Self::Write(error) => error.fmt(formatter),
            Self::FrameTooLong(bytes) => write!(formatter, "a frame of {bytes} bytes does not fit"),
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
