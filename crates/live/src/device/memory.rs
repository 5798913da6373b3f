//! Two devices that are each other's network, in one process.

use super::{Arrival, BATCH, Carriage, Device, Inbox, Outbox, Path};
use earlybird_wire::Ecn;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A packet between two such devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The packet.
    pub bytes: Vec<u8>,
    /// Who sends it. Over IP that stands in the packet, and this means nothing.
    pub from: SocketAddr,
    /// Whom to.
    pub to: SocketAddr,
    /// The ECN field, as the sender set it. Over IP it stands in the packet, and this means nothing to the receiver.
    pub ecn: Ecn,
}

/// Packets on their way in one direction.
#[derive(Debug)]
struct Lane {
    parcels: Mutex<VecDeque<Parcel>>,
    /// Readable while there are any, or were.
    bell: OwnedFd,
}

/// No more packets than so wait in either direction; senders keep the others.
const MOST_WAITING: usize = 1 << 14;

impl Lane {
    fn new() -> io::Result<Arc<Self>> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Arc::new(Self { parcels: Mutex::default(), bell }))
    }

    /// A thread that panicked between two whole operations left the queue whole.
    fn parcels(&self) -> MutexGuard<'_, VecDeque<Parcel>> {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, parcel: Parcel) -> Result<(), Parcel> {
        let mut parcels = self.parcels();
        if parcels.len() >= MOST_WAITING {
            return Err(parcel);
        }
        if parcels.is_empty() {
            // A counter that is full rings all the same.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
        parcels.push_back(parcel);
        Ok(())
    }

    fn take(&self) -> Option<Parcel> {
        let mut parcels = self.parcels();
        let parcel = parcels.pop_front();
        if parcels.is_empty() {
            // If it did not ring there is nothing to read.
            let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        }
        parcel
    }
}

/// One end of a wire in memory. The other end may be in another thread, and need not be a stack: [`Self::take`] and
/// [`Self::put`] are for a network that stands between.
#[derive(Debug)]
pub struct Memory {
    carriage: Carriage,
    mtu: u16,
    address: SocketAddr,
    incoming: Arc<Lane>,
    outgoing: Arc<Lane>,
}

const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

impl Memory {
    /// Makes both ends of a wire for IP packets of up to `mtu` bytes.
    ///
    /// # Panics
    ///
    /// If the system has no descriptor left.
    pub fn pair(mtu: u16) -> (Self, Self) {
        Self::ends(Carriage::Ip, mtu, [NOBODY; 2])
    }

    /// Makes both ends of a wire for what UDP carries, between two sockets that have these addresses.
    ///
    /// # Panics
    ///
    /// If the system has no descriptor left.
    pub fn udp_pair(mtu: u16, addresses: [SocketAddr; 2]) -> (Self, Self) {
        Self::ends(Carriage::Udp, mtu, addresses)
    }

    fn ends(carriage: Carriage, mtu: u16, addresses: [SocketAddr; 2]) -> (Self, Self) {
        let lane = || Lane::new().expect("a descriptor");
        let (there, back) = (lane(), lane());
        let end = |address, incoming: &Arc<Lane>, outgoing: &Arc<Lane>| Self {
            carriage,
            mtu,
            address,
            incoming: Arc::clone(incoming),
            outgoing: Arc::clone(outgoing),
        };
        (end(addresses[0], &back, &there), end(addresses[1], &there, &back))
    }

    /// Takes the next packet that the other end sent.
    pub fn take(&self) -> Option<Parcel> {
        self.incoming.take()
    }

    /// Sends a packet to the other end.
    ///
    /// # Errors
    ///
    /// If there is no room: it comes back.
    pub fn put(&self, parcel: Parcel) -> Result<(), Parcel> {
        self.outgoing.put(parcel)
    }
}

impl Device for Memory {
    fn carriage(&self) -> Carriage {
        self.carriage
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        inbox.bytes.clear();
        for _ in 0..BATCH {
            let Some(parcel) = self.take() else { break };
            let start = inbox.bytes.len();
            inbox.bytes.extend(&parcel.bytes);
            let path = Path { local: Some(parcel.to.ip()), remote: parcel.from };
            inbox.enter(Arrival::new(start..inbox.bytes.len(), path, parcel.ecn));
        }
        Ok(())
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        while let Some(departure) = outbox.waiting().first() {
            let parcel = Parcel {
                bytes: outbox.bytes(departure.range.clone()).to_vec(),
                from: self.address,
                to: departure.path.remote,
                ecn: departure.ecn,
            };
            if self.put(parcel).is_err() {
                break;
            }
            outbox.strike_out(1);
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.incoming.bell.as_fd())
    }
}
