use core::fmt;

/// The reason why bytes from the network cannot be parsed. Drivers count each reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformed {
    /// Neither IPv4 nor IPv6.
    Version,
    /// The IP header is cut short or has an impossible length.
    IpHeader,
    /// The length in the IP header exceeds the packet, or is less than the header.
    IpLength,
    /// The checksum of the IPv4 header is wrong.
    IpChecksum,
    /// A fragment: fragments are not reassembled.
    Fragment,
    /// An IPv6 extension header other than hop-by-hop and destination options, or one that must not be ignored.
    Extension(u8),
    /// The packet carries another protocol.
    Protocol(u8),
    /// The TCP header is cut short or has an impossible length.
    TcpHeader,
    /// The checksum of the TCP segment is wrong.
    TcpChecksum,
    /// The ICMP message or its quote is cut short.
    IcmpHeader,
    /// The checksum of the ICMP message is wrong.
    IcmpChecksum,
    /// An ICMP message that is no error report.
    IcmpKind(u8),
    /// An ICMP message about a packet that its receiver cannot have sent, or with a next-hop MTU that no link has.
    IcmpUnbelievable,
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Version => "neither IPv4 nor IPv6",
            Self::IpHeader => "not an IP header",
            Self::IpLength => "the length in the IP header is not that of the packet",
            Self::IpChecksum => "wrong checksum of the IPv4 header",
            Self::Fragment => "a fragment",
            Self::Extension(kind) => return write!(formatter, "IPv6 extension header {kind}"),
            Self::Protocol(protocol) => return write!(formatter, "protocol {protocol}"),
            Self::TcpHeader => "not a TCP header",
            Self::TcpChecksum => "wrong TCP checksum",
            Self::IcmpHeader => "an ICMP message cut short",
            Self::IcmpChecksum => "wrong ICMP checksum",
            Self::IcmpKind(kind) => return write!(formatter, "ICMP type {kind}"),
            Self::IcmpUnbelievable => "an ICMP message that cannot be true",
        })
    }
}

impl core::error::Error for Malformed {}
