//! Sizes of segments.

/// The division of a stream into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segmentation {
    /// For simulations: the MSS is payload without options, and no segment is divided, because simulated paths carry every packet.
    /// There is no PSH, and a FIN is a segment of its own.
    Simulated,
    /// For real networks. The MSS includes options (RFC 9293 §3.7.1, RFC 6691), so that no packet exceeds the PMTU. Retransmissions
    /// are divided when the PMTU or the receiver's window shrinks. The last segment of a write has PSH (RFC 9293 §3.9.1, MUST-61)
    /// and carries the FIN; a FIN alone is not limited by the congestion window.
    Real,
}

/// The version of IP, which determines sizes of headers and the least MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// Returns the MSS of a peer that sends no MSS option (RFC 9293 §3.7.1, MUST-15).
    pub const fn default_mss(self) -> u16 {
        match self {
            Self::V4 => 536,
            Self::V6 => 1220,
        }
    }

    /// Returns the least PMTU that an ICMP report may set. IPv6 links carry 1280 bytes (RFC 8200 §5), and smaller reports are ignored
    /// (RFC 8201 §4). IPv4 links may carry only 68 bytes (RFC 791 §3.2), but none in use does, and a forged report could make us
    /// send little more than headers: Linux's `ip_rt_min_pmtu`.
    pub(crate) const fn least_path_mtu(self) -> u16 {
        match self {
            Self::V4 => 552,
            Self::V6 => 1280,
        }
    }

    /// Returns the least MTU that is left to packets inside others, on a path that carries the least IPv6 MTU (RFC 8200 §5).
    pub(crate) const fn least_inner_mtu(self) -> u16 {
        match self {
            Self::V4 => self.least_path_mtu(),
            Self::V6 => self.least_path_mtu() - ENCAPSULATION,
        }
    }

    /// Returns the MSS in packets of up to `mtu` bytes: the MTU without bare headers.
    pub const fn mss_within(self, mtu: u16) -> u16 {
        let ip_header = match self {
            Self::V4 => 20,
            Self::V6 => 40,
        };
        // RFC 6691 §2: without options; each segment subtracts its own.
        mtu.saturating_sub(ip_header + 20)
    }
}

/// Bytes of a UDP header (8) and of an encrypted datagram (32), in which an IP packet may be carried.
const ENCAPSULATION: u16 = 40;
/// Length of the timestamps option with padding, in bytes (RFC 7323 appendix A).
pub(crate) const TIMESTAMPS: u64 = 12;
/// Largest length of all options, in bytes.
pub(crate) const ALL_OPTIONS: u64 = 40;
/// The least MSS that is accepted from a peer: with 40 bytes of options it leaves 8 bytes of data. No real path needs less (hosts
/// accept 576-byte packets, RFC 791 §3.1), while a smaller one could make us send headers only. Linux's `TCP_MIN_SND_MSS`.
pub(crate) const LEAST_MSS: u64 = 48;
