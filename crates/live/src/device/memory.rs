//! A pair of devices that are connected in memory.

use super::{BATCH, Device, Encapsulation, Path, RxPacket, RxQueue, TxQueue};
use earlybird_wire::Ecn;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A packet between two memory devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPacket {
    /// The bytes of the packet.
    pub bytes: Vec<u8>,
    /// The socket that sends it. Unused over IP, where the packet contains the addresses.
    pub from: SocketAddr,
    /// The socket that receives it.
    pub to: SocketAddr,
    /// The ECN field. Unused over IP, where the packet contains it.
    pub ecn: Ecn,
}

/// Packets in flight in one direction.
#[derive(Debug)]
struct Channel {
    packets: Mutex<VecDeque<MemoryPacket>>,
    /// An eventfd that is readable while packets wait.
    wakeup: OwnedFd,
}

/// The largest number of packets in flight in one direction; a sender keeps the others.
const QUEUE_LIMIT: usize = 1 << 14;

impl Channel {
    fn new() -> io::Result<Arc<Self>> {
        let wakeup = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Arc::new(Self { packets: Mutex::default(), wakeup }))
    }

    /// A lock that is poisoned is safe to use: no operation on the queue can leave it inconsistent.
    fn packets(&self) -> MutexGuard<'_, VecDeque<MemoryPacket>> {
        self.packets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, packet: MemoryPacket) -> Result<(), MemoryPacket> {
        let mut packets = self.packets();
        if packets.len() >= QUEUE_LIMIT {
            return Err(packet);
        }
        if packets.is_empty() {
            // A full eventfd counter is readable too, so that the error can be ignored.
            let _ = rustix::io::write(&self.wakeup, &1_u64.to_ne_bytes());
        }
        packets.push_back(packet);
        Ok(())
    }

    fn take(&self) -> Option<MemoryPacket> {
        let mut packets = self.packets();
        let packet = packets.pop_front();
        if packets.is_empty() {
            // Fails if the counter is zero already, which is the desired state.
            let _ = rustix::io::read(&self.wakeup, &mut [0; 8]);
        }
        packet
    }
}

/// One end of a link in memory. The other end may be used by another thread, and by code that is not a stack: a simulated network
/// uses [`Self::take`] and [`Self::put`].
#[derive(Debug)]
pub struct Memory {
    encapsulation: Encapsulation,
    mtu: u16,
    address: SocketAddr,
    receive_buffer: Arc<Channel>,
    send_buffer: Arc<Channel>,
}

const UNSPECIFIED: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

impl Memory {
    /// Creates both ends of a link for IP packets of up to `mtu` bytes.
    ///
    /// # Panics
    ///
    /// If the process is out of file descriptors.
    pub fn pair(mtu: u16) -> (Self, Self) {
        Self::ends(Encapsulation::Ip, mtu, [UNSPECIFIED; 2])
    }

    /// Creates both ends of a link for the payload of UDP, between sockets with these addresses.
    ///
    /// # Panics
    ///
    /// If the process is out of file descriptors.
    pub fn udp_pair(mtu: u16, addresses: [SocketAddr; 2]) -> (Self, Self) {
        Self::ends(Encapsulation::Udp, mtu, addresses)
    }

    fn ends(encapsulation: Encapsulation, mtu: u16, addresses: [SocketAddr; 2]) -> (Self, Self) {
        let channel = || Channel::new().expect("a descriptor");
        let (there, back) = (channel(), channel());
        let end = |address, receive_buffer: &Arc<Channel>, send_buffer: &Arc<Channel>| Self {
            encapsulation,
            mtu,
            address,
            receive_buffer: Arc::clone(receive_buffer),
            send_buffer: Arc::clone(send_buffer),
        };
        (end(addresses[0], &back, &there), end(addresses[1], &there, &back))
    }

    /// Receives the next packet from the other end.
    pub fn take(&self) -> Option<MemoryPacket> {
        self.receive_buffer.take()
    }

    /// Sends a packet to the other end.
    ///
    /// # Errors
    ///
    /// Returns the packet if the queue is full.
    pub fn put(&self, packet: MemoryPacket) -> Result<(), MemoryPacket> {
        self.send_buffer.put(packet)
    }
}

impl Device for Memory {
    fn encapsulation(&self) -> Encapsulation {
        self.encapsulation
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        rx.bytes.clear();
        for _ in 0..BATCH {
            let Some(packet) = self.take() else { break };
            let start = rx.bytes.len();
            rx.bytes.extend(&packet.bytes);
            let path = Path { local: Some(packet.to.ip()), remote: packet.from };
            rx.push(RxPacket::new(start..rx.bytes.len(), path, packet.ecn));
        }
        Ok(())
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        while let Some(next) = tx.pending().first() {
            let packet = MemoryPacket {
                bytes: tx.bytes(next.range.clone()).to_vec(),
                from: self.address,
                to: next.path.remote,
                ecn: next.ecn,
            };
            if self.put(packet).is_err() {
                break;
            }
            tx.advance(1);
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.receive_buffer.wakeup.as_fd())
    }
}
