//! Devices: what sends and receives packets.

mod batch;
mod memory;
mod tun;
mod udp;

pub use batch::{BATCH, RxPacket, RxQueue, TxPacket, TxQueue};
pub use memory::{Memory, MemoryPacket};
pub use tun::Tun;
pub use udp::Udp;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

/// The encapsulation with which a device sends segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// IP packets.
    Ip,
    /// TCP over UDP: the payload of a UDP datagram is an unchanged TCP header and the TCP payload (the format of FreeBSD's
    /// kernel).
    Udp,
}

impl Encapsulation {
    /// Returns the overhead in bytes per packet, in addition to the headers of IP and TCP.
    pub const fn overhead(self) -> u16 {
        match self {
            Self::Ip => 0,
            Self::Udp => 8,
        }
    }
}

/// The two hosts between which packets travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The local address; `None` if the device chooses it.
    pub local: Option<IpAddr>,
    /// The address of the peer. Over UDP with the port of its socket; over IP the port is zero.
    pub remote: SocketAddr,
}

impl Path {
    /// Returns the path to a host over IP.
    pub const fn to(host: IpAddr) -> Self {
        Self::over_udp(SocketAddr::new(host, 0))
    }

    /// Returns the path to a UDP socket.
    pub const fn over_udp(remote: SocketAddr) -> Self {
        // An IPv6 socket reports IPv4 peers as mapped addresses; both notations must be one key in the table of connections.
        Self { local: None, remote: SocketAddr::new(remote.ip().to_canonical(), remote.port()) }
    }
}

/// A device that sends and receives packets. No method blocks.
pub trait Device {
    /// Returns the encapsulation.
    fn encapsulation(&self) -> Encapsulation;

    /// Returns the MTU: the largest IP packet, in bytes.
    fn mtu(&self) -> u16;

    /// Returns whether packets above the path MTU may be lost without an ICMP message. A UDP socket does not receive these
    /// messages.
    fn has_black_holes(&self) -> bool {
        self.encapsulation() == Encapsulation::Udp
    }

    /// Returns whether the device computes TCP checksums of transmitted packets and verifies those of received packets.
    fn computes_checksums(&self) -> bool {
        false
    }

    /// Reads received packets into an empty queue: about a [`BATCH`], or none.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()>;

    /// Sends the packets of the queue in order and [removes](TxQueue::advance) them. Packets that the device cannot accept now
    /// stay.
    ///
    /// # Errors
    ///
    /// If the device fails.
    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()>;

    /// Returns the MTU of this host's route to a peer, in bytes: that of the link, or less where routers have reported less. `None` if
    /// it is unknown.
    fn route_mtu(&self, _remote: SocketAddr) -> Option<u16> {
        None
    }

    /// Returns a peer to which a packet was too long to be sent since the last call.
    fn take_too_long(&mut self) -> Option<SocketAddr> {
        None
    }

    /// Returns the file descriptor that becomes readable when a packet arrives; `None` if the device must be polled.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// A device that is chosen at run time.
impl<D: Device + ?Sized> Device for Box<D> {
    fn encapsulation(&self) -> Encapsulation {
        (**self).encapsulation()
    }

    fn mtu(&self) -> u16 {
        (**self).mtu()
    }

    fn has_black_holes(&self) -> bool {
        (**self).has_black_holes()
    }

    fn computes_checksums(&self) -> bool {
        (**self).computes_checksums()
    }

    fn route_mtu(&self, remote: SocketAddr) -> Option<u16> {
        (**self).route_mtu(remote)
    }

    fn take_too_long(&mut self) -> Option<SocketAddr> {
        (**self).take_too_long()
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        (**self).receive(rx)
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        (**self).send(tx)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        (**self).descriptor()
    }
}
