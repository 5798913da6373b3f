//! A network namespace of this thread, with the kernel's stack and ours.

use crate::path::{Path, Side};
use earlybird_live::device::{Device, Memory, MemoryPacket, RxQueue, Tun, TxQueue};
use earlybird_live::{Clock, Id, MonotonicClock, Settings, Stack, device};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant};
use earlybird_wire::Ecn;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

/// The IP version of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// Returns the kernel's address.
    pub(crate) const fn kernel(self) -> IpAddr {
        self.host(1)
    }

    /// Returns the stack's address, which the kernel reaches through the device.
    pub(crate) const fn ours(self) -> IpAddr {
        self.host(2)
    }

    const fn host(self, number: u8) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::new(10, 77, 0, number)),
            Self::V6 => IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number as u16)),
        }
    }

    /// Returns the prefix length of their common network.
    const fn prefix(self) -> u8 {
        match self {
            Self::V4 => 24,
            Self::V6 => 64,
        }
    }
}

/// The MTU of Ethernet.
const MTU: u16 = 1500;
const NAME: &str = "earlybird";

/// Moves this thread into a new network namespace with one TUN device. The namespace ends with the thread.
///
/// # Errors
///
/// If the process lacks privileges, or there is no TUN device.
pub(crate) fn network(make: fn(&str, u16) -> io::Result<Tun>) -> io::Result<Tun> {
    // SAFETY: only the network namespace is left; no descriptor and no memory is shared differently afterwards.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    let device = make(NAME, MTU)?;
    for family in Family::ALL {
        Tun::add_address(NAME, family.kernel(), family.prefix())?;
    }
    Ok(device)
}

/// Returns the settings of a stack in that network.
pub(crate) fn settings() -> Settings {
    Settings::random(&Family::ALL.map(Family::ours)).expect("random numbers")
}

/// The kernel, a stack, and a path between them.
pub(crate) struct Bench {
    device: Tun,
    rx: RxQueue,
    tx: TxQueue,
    /// The network's end of the stack's device.
    end: Memory,
    pub(crate) stack: Stack<Memory, MonotonicClock>,
    /// The path between the two.
    pub(crate) path: Path,
}

impl Bench {
    /// Creates it in a new network namespace of this thread.
    ///
    /// # Errors
    ///
    /// Those of [`network`].
    pub(crate) fn new(path: Path) -> io::Result<Self> {
        let device = network(Tun::without_offload)?;
        let (ours, end) = Memory::pair(MTU);
        let stack = Stack::new(ours, MonotonicClock::default(), settings()).map_err(io::Error::other)?;
        Ok(Self { device, rx: RxQueue::default(), tx: TxQueue::default(), end, stack, path })
    }

    /// Returns the time since the bench was made.
    pub(crate) fn now(&self) -> Instant {
        self.stack.clock().now()
    }

    /// Opens a connection to the kernel.
    pub(crate) fn connect(&mut self, family: Family, config: &Config, port: u16) -> Id {
        self.stack.connect(config, device::Path::to(family.kernel()), port).expect("there is room")
    }

    /// Forwards packets until `is_done` returns true, for at most `longest`. Returns whether it did.
    pub(crate) fn run(
        &mut self,
        longest: Duration,
        mut is_done: impl FnMut(&mut Stack<Memory, MonotonicClock>) -> bool,
    ) -> io::Result<bool> {
        let end = self.now() + longest;
        while self.now() < end {
            self.carry()?;
            self.stack.receive()?;
            if is_done(&mut self.stack) {
                return Ok(true);
            }
            self.stack.transmit()?;
            self.wait()?;
        }
        Ok(false)
    }

    /// Forwards waiting packets in both directions.
    fn carry(&mut self) -> io::Result<()> {
        let now = self.now();
        self.rx.clear();
        self.device.receive(&mut self.rx)?;
        while let Some(arrival) = self.rx.take() {
            self.path.send(now, Side::Kernel, self.rx.bytes[arrival.range].to_vec());
        }
        while let Some(packet) = self.end.take() {
            self.path.send(now, Side::Ours, packet.bytes);
        }
        while let Some((from, packet)) = self.path.next_arrival(now) {
            match from {
                Side::Kernel => self.inject(packet),
                Side::Ours => self.send(&packet),
            }
        }
        self.device.send(&mut self.tx)
    }

    fn inject(&self, bytes: Vec<u8>) {
        let nobody = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
        self.end.put(MemoryPacket { bytes, from: nobody, to: nobody, ecn: Ecn::NotCapable }).expect("there is room");
    }

    fn send(&mut self, packet: &[u8]) {
        let path = device::Path::to(Family::V4.kernel());
        let copied = self.tx.add(path, Ecn::NotCapable, packet.len(), |into| {
            into.copy_from_slice(packet);
            Ok::<usize, io::Error>(packet.len())
        });
        copied.expect("it is copied");
    }

    /// Blocks until the kernel sends a packet, a packet is due, or a timer of the stack is due.
    fn wait(&mut self) -> io::Result<()> {
        let next = [self.stack.deadline(), self.path.next_at()].into_iter().flatten().min();
        let span = next.map_or(Duration::from_millis(10), |next| next - self.now()).min(Duration::from_millis(10));
        let span = Timespec { tv_sec: 0, tv_nsec: span.as_nanos().cast_signed() };
        let arrival = self.device.descriptor().expect("it has one");
        let stack = self.end.descriptor().expect("it has one");
        let descriptors = [arrival.as_fd(), stack.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        poll(&mut { descriptors }, Some(&span))?;
        Ok(())
    }
}
