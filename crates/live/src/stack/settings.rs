//! What a stack is told once, and what its connections are made of.

use crate::device::{Carriage, Device};
use crate::error::Error;
use earlybird_tcp::{Config, IpVersion, KeepAlive, Lifetimes, ReceiveBuffer};
use earlybird_units::{Duration, SeedTree};
use std::io;
use std::net::IpAddr;

/// What a stack has to know.
#[derive(Clone)]
pub struct Settings {
    /// The addresses that it has over IP. What is addressed to others is left alone; it opens connections from the first one of a
    /// version. Over UDP the socket has them, and there are none here.
    pub addresses: Vec<IpAddr>,
    /// Its bounds.
    pub limits: Limits,
    /// What nobody may guess: sequence numbers and cookies come from it (RFC 6528).
    pub secret: [u8; 16],
    /// Where the connections' policies draw from.
    pub seeds: SeedTree,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { addresses, limits, .. } = self;
        formatter.debug_struct("Settings").field("addresses", addresses).field("limits", limits).finish_non_exhaustive()
    }
}

impl Settings {
    /// Returns those of a stack on a real network, whose secret the system draws.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub fn drawn(addresses: &[IpAddr]) -> io::Result<Self> {
        let mut bytes = [0; 24];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        let [seed, first, second] =
            [0, 8, 16].map(|start| u64::from_le_bytes(std::array::from_fn(|i| bytes[start + i])));
        let secret = (u128::from(first) << 64 | u128::from(second)).to_le_bytes();
        Ok(Self { addresses: addresses.to_vec(), limits: Limits::default(), secret, seeds: SeedTree::new(seed) })
    }

    /// Returns those of a stack that does the same each time: for tests, and for peers that do not guess.
    pub fn scripted(seed: u64, addresses: &[IpAddr]) -> Self {
        let secret = u128::from(seed).to_le_bytes();
        Self { addresses: addresses.to_vec(), limits: Limits::default(), secret, seeds: SeedTree::new(seed) }
    }

    pub(crate) fn address(&self, version: IpVersion) -> Result<IpAddr, Error> {
        let mut addresses = self.addresses.iter().copied();
        addresses.find(|address| version_of(*address) == version).ok_or(Error::NoAddress(version))
    }

    /// Returns whether packets to an address are for this stack.
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

/// What a stack never takes more of, whatever its peers and its applications do.
///
/// Half-open handshakes are bounded by each listener ([`ListenConfig::half_open`](earlybird_tcp::ListenConfig::half_open)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections, those in TIME-WAIT among them. Beyond them SYNs are dropped.
    pub connections: usize,
    /// Bytes that a connection holds of what was written and is not acknowledged.
    pub send_buffer: u64,
    /// Bytes that a connection holds of what arrived and was not read.
    pub receive_buffer: u64,
    /// Resets per second that answer segments of no connection (FreeBSD's `net.inet.icmp.icmplim`, which limits them too).
    pub resets: u32,
}

impl Default for Limits {
    /// Returns 4096 connections, the largest buffers that Linux had as default for many years (`tcp_wmem`: 4 MiB, `tcp_rmem`:
    /// 6 MiB), and 200 resets per second.
    fn default() -> Self {
        Self { connections: 4096, send_buffer: 4 << 20, receive_buffer: 6 << 20, resets: 200 }
    }
}

/// Every host takes packets of so many bytes (RFC 791 §3.1: 576; RFC 8200 §5: 1280).
const fn least_mtu(version: IpVersion) -> u16 {
    match version {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1280,
    }
}

/// Returns whether a device carries what every link has to.
pub(super) const fn check_mtu(version: IpVersion, mtu: u16) -> Result<(), Error> {
    let least = least_mtu(version);
    if mtu < least { Err(Error::PacketsTooSmall { mtu, least }) } else { Ok(()) }
}

/// NATs forget a UDP mapping that is not used for 30 s, many of them (RFC 4787 §4.3 asks for two minutes); more often than each 15 s
/// nobody should ask (RFC 8085 §3.5). A peer that answers to none of them for four minutes is gone.
const AWAKE: KeepAlive = KeepAlive { idle: Duration::from_secs(25), interval: Duration::from_secs(25), probes: 9 };

/// Makes a configuration one for a device: segments that fit, buffers within the bounds.
pub(super) fn fitted(
    config: &Config,
    limits: &Limits,
    version: IpVersion,
    device: &impl Device,
) -> Result<Config, Error> {
    let (carriage, mtu) = (device.carriage(), device.mtu());
    check_mtu(version, mtu)?;
    let keep_alive = config.lifetimes.keep_alive.or((carriage == Carriage::Udp).then_some(AWAKE));
    let config = Config {
        lifetimes: Lifetimes { keep_alive, ..config.lifetimes },
        ip: version,
        mss: config.mss.min(version.mss_within(mtu - carriage.overhead())),
        send_buffer: Some(config.send_buffer.unwrap_or(u64::MAX).min(limits.send_buffer)),
        receive_buffer: within(config, limits.receive_buffer),
        finds_black_holes: config.finds_black_holes || device.has_black_holes(),
        ..*config
    };
    config.check()?;
    Ok(config)
}

fn within(config: &Config, most: u64) -> ReceiveBuffer {
    match config.receive_buffer {
        ReceiveBuffer::LikeWindow if u64::from(config.window) * u64::from(config.mss) > most => {
            ReceiveBuffer::Fixed(most)
        }
        ReceiveBuffer::LikeWindow => ReceiveBuffer::LikeWindow,
        ReceiveBuffer::Fixed(bytes) => ReceiveBuffer::Fixed(bytes.min(most)),
        ReceiveBuffer::Tuned { initial, largest } => {
            ReceiveBuffer::Tuned { initial: initial.min(most), largest: largest.min(most) }
        }
    }
}
