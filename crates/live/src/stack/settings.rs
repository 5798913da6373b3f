//! Settings of a stack, and the configuration of its connections.

use crate::device::{Device, Encapsulation};
use crate::error::Error;
use earlybird_tcp::{Config, IpVersion, KeepAlive, Lifetimes, ReceiveBuffer};
use earlybird_units::{Duration, SeedTree};
use std::io;
use std::net::IpAddr;

/// Settings of a stack.
#[derive(Clone)]
pub struct Settings {
    /// Local IP addresses. Packets for other addresses are ignored, and connections are opened from the first address of an IP
    /// version. Empty over UDP, where the socket has the addresses.
    pub addresses: Vec<IpAddr>,
    /// Resource limits.
    pub limits: Limits,
    /// The key from which initial sequence numbers and SYN cookies are derived (RFC 6528).
    pub secret: [u8; 16],
    /// Seeds of the random streams of connections, such as those of PERT.
    pub seeds: SeedTree,
}

// The key must not appear in logs.
impl std::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { addresses, limits, .. } = self;
        formatter.debug_struct("Settings").field("addresses", addresses).field("limits", limits).finish_non_exhaustive()
    }
}

impl Settings {
    /// Returns settings for a real network, with a random key.
    ///
    /// # Errors
    ///
    /// If `getrandom` fails.
    pub fn random(addresses: &[IpAddr]) -> io::Result<Self> {
        let mut bytes = [0; 24];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        let [seed, first, second] =
            [0, 8, 16].map(|start| u64::from_le_bytes(std::array::from_fn(|i| bytes[start + i])));
        // Two independent halves; the seed of the policies must not reveal the key.
        let secret = (u128::from(first) << 64 | u128::from(second)).to_le_bytes();
        Ok(Self { addresses: addresses.to_vec(), limits: Limits::default(), secret, seeds: SeedTree::new(seed) })
    }

    /// Returns settings with a fixed key: for tests, and for networks without attackers.
    pub fn deterministic(seed: u64, addresses: &[IpAddr]) -> Self {
        let secret = u128::from(seed).to_le_bytes();
        Self { addresses: addresses.to_vec(), limits: Limits::default(), secret, seeds: SeedTree::new(seed) }
    }

    pub(crate) fn address(&self, version: IpVersion) -> Result<IpAddr, Error> {
        let mut addresses = self.addresses.iter().copied();
        addresses.find(|address| version_of(*address) == version).ok_or(Error::NoAddress(version))
    }

    /// Returns whether an address is local.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address)
    }
}

pub(crate) const fn version_of(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}

/// Resource limits of a stack, whatever its peers and its application do.
///
/// Half-open handshakes are bounded by each listener ([`ListenConfig::half_open`](earlybird_tcp::ListenConfig::half_open)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of connections, including those in TIME-WAIT. Above it, SYNs are dropped.
    pub connections: usize,
    /// Bytes per connection that are written and not acknowledged.
    pub send_buffer: u64,
    /// Bytes per connection that are received and not read.
    pub receive_buffer: u64,
    /// Resets per second in reply to unmatched segments (as FreeBSD's `net.inet.icmp.icmplim`).
    pub resets: u32,
}

impl Default for Limits {
    /// Returns 4096 connections, the largest buffers that Linux had as default for many years (`tcp_wmem`: 4 MiB, `tcp_rmem`:
    /// 6 MiB), and 200 resets per second.
    fn default() -> Self {
        Self { connections: 4096, send_buffer: 4 << 20, receive_buffer: 6 << 20, resets: 200 }
    }
}

/// The MTU that every link supports (RFC 791 §3.1: 576; RFC 8200 §5: 1280).
const fn min_mtu(version: IpVersion) -> u16 {
    match version {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1280,
    }
}

/// Checks that the MTU of a device is large enough.
pub(super) const fn check_mtu(version: IpVersion, mtu: u16) -> Result<(), Error> {
    let min = min_mtu(version);
    if mtu < min { Err(Error::PacketsTooSmall { mtu, min }) } else { Ok(()) }
}

/// Keep-alive over UDP. Many NATs drop a UDP mapping after 30 s without packets, although RFC 4787 §4.3 asks for two minutes; RFC
/// 8085 §3.5 forbids keep-alives more often than every 15 s. A peer that answers none for four minutes is gone.
const UDP_KEEP_ALIVE: KeepAlive =
    KeepAlive { idle: Duration::from_secs(25), interval: Duration::from_secs(25), probes: 9 };

/// Adapts a configuration to a device and to the limits: MSS, buffers, keep-alive and black-hole detection.
pub(super) fn fit_config(
    config: &Config,
    limits: &Limits,
    version: IpVersion,
    device: &impl Device,
) -> Result<Config, Error> {
    let (encapsulation, mtu) = (device.encapsulation(), device.mtu());
    check_mtu(version, mtu)?;
    // Over IP the application decides, as with kernel sockets.
    let keep_alive = config.lifetimes.keep_alive.or((encapsulation == Encapsulation::Udp).then_some(UDP_KEEP_ALIVE));
    let config = config
        .with_lifetimes(Lifetimes { keep_alive, ..config.lifetimes })
        .with_ip(version)
        .with_mss(config.segments.mss.min(version.mss_within(mtu - encapsulation.overhead())))
        .with_send_buffer(Some(config.buffers.send.unwrap_or(u64::MAX).min(limits.send_buffer)))
        .with_receive_buffer(cap_receive_buffer(config, limits.receive_buffer))
        // No ICMP message reaches a UDP socket, so that only losses can reveal a smaller path MTU (RFC 8899).
        .with_pmtu_black_hole_detection(config.segments.pmtu_black_hole_detection || device.has_black_holes());
    config.check()?;
    Ok(config)
}

fn cap_receive_buffer(config: &Config, most: u64) -> ReceiveBuffer {
    match config.buffers.receive {
        ReceiveBuffer::LikeWindow if u64::from(config.window.max) * u64::from(config.segments.mss) > most => {
            ReceiveBuffer::Fixed(most)
        }
        ReceiveBuffer::LikeWindow => ReceiveBuffer::LikeWindow,
        ReceiveBuffer::Fixed(bytes) => ReceiveBuffer::Fixed(bytes.min(most)),
        ReceiveBuffer::Tuned { initial, largest } => {
            ReceiveBuffer::Tuned { initial: initial.min(most), largest: largest.min(most) }
        }
    }
}
