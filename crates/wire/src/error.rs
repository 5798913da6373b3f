use core::fmt;

/// The reason why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotEmit {
    /// The options do not fit into 40 bytes.
    Options,
    /// The packet is longer than IP or the buffer allows.
    Length,
    /// The source and destination addresses are of different families.
    Families,
}

impl fmt::Display for CannotEmit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Options => "the options do not fit into 40 bytes",
            Self::Length => "the packet is too long",
            Self::Families => "an IPv4 and an IPv6 address",
        })
    }
}

impl core::error::Error for CannotEmit {}
