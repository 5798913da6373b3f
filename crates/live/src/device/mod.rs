//! What carries packets, and in what form they are handed over.

mod batch;
mod memory;
mod tun;
mod udp;

pub use batch::{Arrival, BATCH, Departure, Inbox, Outbox};
pub use memory::{Memory, Parcel};
pub use tun::Tun;
pub use udp::Udp;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

/// What a device's packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// IP packets.
    Ip,
    /// What stands behind a UDP header: TCP's header, unchanged, and payload (the layout that FreeBSD's kernel speaks).
    Udp,
}

impl Carriage {
    /// Returns the bytes that the carrier takes from each packet, beside IP's header and TCP's.
    pub const fn overhead(self) -> u16 {
        match self {
            Self::Ip => 0,
            Self::Udp => 8,
        }
    }
}

/// Between which hosts a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// Our address; `None` if the device chooses it.
    pub local: Option<IpAddr>,
    /// The peer's address. Over UDP with the port of its socket; over IP there is none, and it is zero.
    pub remote: SocketAddr,
}

impl Path {
    /// Returns the path to a host over IP.
    pub const fn to(host: IpAddr) -> Self {
        Self::over_udp(SocketAddr::new(host, 0))
    }

    /// Returns the path to a socket of UDP.
    pub const fn over_udp(remote: SocketAddr) -> Self {
        Self { local: None, remote: SocketAddr::new(remote.ip().to_canonical(), remote.port()) }
    }
}

/// Something that carries packets. None of its calls waits.
pub trait Device {
    /// Says what its packets are.
    fn carriage(&self) -> Carriage;

    /// Returns the largest IP packet that it carries.
    fn mtu(&self) -> u16;

    /// Returns whether a packet that is too large for its path may vanish there without a word: no router's report comes through a
    /// socket of UDP.
    fn has_black_holes(&self) -> bool {
        self.carriage() == Carriage::Udp
    }

    /// Returns whether it completes the checksum of TCP in what it sends, and tells which of those in what it received are sound.
    fn computes_checksums(&self) -> bool {
        false
    }

    /// Puts what has arrived into an empty inbox: about a [`BATCH`], or nothing.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()>;

    /// Sends what is in the outbox, in order, and [strikes it out](Outbox::strike_out). What it cannot take now stays.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()>;

    /// Returns what becomes readable when something arrives.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// One of several kinds, chosen while the program runs.
impl<D: Device + ?Sized> Device for Box<D> {
    fn carriage(&self) -> Carriage {
        (**self).carriage()
    }

    fn mtu(&self) -> u16 {
        (**self).mtu()
    }

    fn computes_checksums(&self) -> bool {
        (**self).computes_checksums()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        (**self).receive(inbox)
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        (**self).send(outbox)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        (**self).descriptor()
    }
}
