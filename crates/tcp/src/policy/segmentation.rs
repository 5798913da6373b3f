//! What a segment may hold.

/// How a stream is cut into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segmentation {
    /// As simulations define it: the largest segment size is payload, whatever options ride beside it, and no segment is ever
    /// divided, for paths there carry every packet. No segment says PSH, and a FIN leaves alone and in its turn.
    Simulated,
    /// As real networks ask. The largest segment size counts what follows bare headers (RFC 9293 §3.7.1, RFC 6691): options
    /// take their room from it, so that no packet is larger than its path carries. What was sent leaves in pieces where the
    /// path or the receiver's window shrinks. The last segment of what was written says PSH (RFC 9293 §3.9.1, MUST-61) and
    /// takes the FIN along; a FIN alone waits for no congestion window.
    Real,
}

/// The version of the Internet Protocol below: for the sizes of headers, and what every path must carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// Returns the largest segment size of a peer that tells none (RFC 9293 §3.7.1, MUST-15).
    pub const fn default_mss(self) -> u16 {
        match self {
            Self::V4 => 536,
            Self::V6 => 1220,
        }
    }

    /// Returns the least packet that a router is believed to ask for. IPv6's links carry 1280 bytes (RFC 8200 §5), and what
    /// reports less is not to be believed (RFC 8201 §4). An IPv4 link need carry 68 only (RFC 791 §3.2), but none that is used does,
    /// and a liar could make us send little more than headers: Linux's `ip_rt_min_pmtu`.
    pub(crate) const fn least_path_mtu(self) -> u16 {
        match self {
            Self::V4 => 552,
            Self::V6 => 1280,
        }
    }

    /// Returns the largest segment size in packets of up to `mtu` bytes: what follows the headers without options.
    pub const fn mss_within(self, mtu: u16) -> u16 {
        let ip_header = match self {
            Self::V4 => 20,
            Self::V6 => 40,
        };
        mtu.saturating_sub(ip_header + 20)
    }
}

/// Bytes that timestamps take, with their padding (RFC 7323 appendix A).
pub(crate) const TIMESTAMPS: u64 = 12;
/// Bytes that options take at most.
pub(crate) const ALL_OPTIONS: u64 = 40;
/// The least size that a peer is believed: beside 40 bytes of options it leaves 8 of data, and is a value that no
/// real path needs (RFC 791 §3.2 asks for 68-byte packets, hosts take 576), while a liar could make us send headers only.
/// Linux's `TCP_MIN_SND_MSS`.
pub(crate) const LEAST_MSS: u64 = 48;
