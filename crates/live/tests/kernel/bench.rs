//! A network of this thread, in which the kernel and a stack meet.

use crate::path::{Path, Side};
use earlybird_live::device::{Device, Inbox, Memory, Outbox, Parcel, Tun};
use earlybird_live::{Clock, Id, Monotonic, Settings, Stack, device};
use earlybird_tcp::Config;
use earlybird_units::{Duration, Instant};
use earlybird_wire::Ecn;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

/// Which version of the Internet Protocol the two speak.
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

    /// Returns the bits of the network that both are in.
    const fn prefix(self) -> u8 {
        match self {
            Self::V4 => 24,
            Self::V6 => 64,
        }
    }
}

/// Ethernet's.
const MTU: u16 = 1500;
const NAME: &str = "earlybird";

/// Moves this thread into a network of its own, with a device to its kernel and nothing else; it goes with the thread.
///
/// # Errors
///
/// If that takes rights that the process has not got, or there is no TUN device here.
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
    Settings::drawn(&Family::ALL.map(Family::ours)).expect("random numbers")
}

/// The kernel and a stack, and a path between the two.
pub(crate) struct Bench {
    device: Tun,
    inbox: Inbox,
    outbox: Outbox,
    /// The network's end of the stack's device.
    end: Memory,
    pub(crate) stack: Stack<Memory, Monotonic>,
    /// What lies between the two.
    pub(crate) path: Path,
}

impl Bench {
    /// Makes it, in a network of this thread.
    ///
    /// # Errors
    ///
    /// Those of [`network`].
    pub(crate) fn new(path: Path) -> io::Result<Self> {
        let device = network(Tun::plain)?;
        let (ours, end) = Memory::pair(MTU);
        let stack = Stack::new(ours, Monotonic::default(), settings()).map_err(io::Error::other)?;
        Ok(Self { device, inbox: Inbox::default(), outbox: Outbox::default(), end, stack, path })
    }

    /// Returns the time since the bench was made.
    pub(crate) fn now(&self) -> Instant {
        self.stack.clock().now()
    }

    /// Opens a connection to the kernel.
    pub(crate) fn connect(&mut self, family: Family, config: &Config, port: u16) -> Id {
        self.stack.connect(config, device::Path::to(family.kernel()), port).expect("there is room")
    }

    /// Carries packets until `is_done` says so, or for so long at most; says whether it was done.
    pub(crate) fn run(
        &mut self,
        longest: Duration,
        mut is_done: impl FnMut(&mut Stack<Memory, Monotonic>) -> bool,
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

    /// Carries what there is from one side to the path, and from there to the other.
    fn carry(&mut self) -> io::Result<()> {
        let now = self.now();
        self.inbox.clear();
        self.device.receive(&mut self.inbox)?;
        while let Some(arrival) = self.inbox.take() {
            self.path.send(now, Side::Kernel, self.inbox.bytes[arrival.range].to_vec());
        }
        while let Some(parcel) = self.end.take() {
            self.path.send(now, Side::Ours, parcel.bytes);
        }
        while let Some((from, packet)) = self.path.next_arrival(now) {
            match from {
                Side::Kernel => self.give(packet),
                Side::Ours => self.send(&packet),
            }
        }
        self.device.send(&mut self.outbox)
    }

    fn give(&self, bytes: Vec<u8>) {
        let nobody = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
        self.end.put(Parcel { bytes, from: nobody, to: nobody, ecn: Ecn::NotCapable }).expect("there is room");
    }

    fn send(&mut self, packet: &[u8]) {
        let path = device::Path::to(Family::V4.kernel());
        let copied = self.outbox.add(path, Ecn::NotCapable, packet.len(), |into| {
            into.copy_from_slice(packet);
            Ok::<usize, io::Error>(packet.len())
        });
        copied.expect("it is copied");
    }

    /// Waits for a packet of the kernel, for one that has come to the path's end, or for a timer of the stack.
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
