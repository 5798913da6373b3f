//! A TUN device: IP packets to and from the kernel of this machine, which routes them.

mod offload;

use self::offload::{HEADER, Notes, send_train};
use super::{Arrival, BATCH, Carriage, Device, Inbox, Outbox, Path};
use earlybird_wire::Ecn;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::ioctl::{Getter, IntegerSetter, Opcode, Setter, ioctl};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;

/// A device whose packets this process sends and receives in the network's place.
#[derive(Debug)]
pub struct Tun {
    descriptor: OwnedFd,
    mtu: u16,
    /// The kernel joins and divides segments, and leaves checksums alone.
    is_offloading: bool,
}

/// `struct ifreq` of `linux/if.h`, as far as it is used here.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// `TUNSETIFF` of `linux/if_tun.h`: `_IOW('T', 202, int)`.
const SET_INTERFACE: Opcode = 0x4004_54CA;
/// `TUNGETIFF`: `_IOR('T', 210, unsigned int)`.
const GET_INTERFACE: Opcode = 0x8004_54D2;
/// `TUNSETOFFLOAD`: `_IOW('T', 208, unsigned int)`.
const SET_OFFLOAD: Opcode = 0x4004_54D0;
/// `IFF_TUN | IFF_NO_PI`: packets begin with their IP header.
const PLAIN_PACKETS: u16 = 0x0001 | 0x1000;
/// `IFF_VNET_HDR`: before them stands what the kernel has left to do, or is to do.
const WITH_NOTES: u16 = 0x4000;
/// `TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6`.
const OFFLOADS: usize = 0x01 | 0x02 | 0x04;
/// The longest packet that the kernel joins.
const LONGEST: usize = u16::MAX as usize;
/// What to do without the right to make a device.
const ADVICE: &str = "a TUN device needs root (CAP_NET_ADMIN): run inside `unshare --user --map-root-user --net`, or take UDP, \
                      which needs no right";

impl Tun {
    /// Makes a device of that name for packets of up to `mtu` bytes, and takes it up. The kernel joins and divides segments.
    ///
    /// # Errors
    ///
    /// If the process has not the right to, and then says what to do; if there is one of that name; if the name is too long.
    pub fn new(name: &str, mtu: u16) -> io::Result<Self> {
        Self::make(name, mtu, PLAIN_PACKETS | WITH_NOTES)
    }

    /// Makes one whose packets are as they would be on a wire: each with its checksum, and none longer than `mtu`.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn plain(name: &str, mtu: u16) -> io::Result<Self> {
        Self::make(name, mtu, PLAIN_PACKETS)
    }

    fn make(name: &str, mtu: u16, flags: u16) -> io::Result<Self> {
        let made = Self::open(name, mtu, flags);
        made.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), ADVICE),
            _ => error,
        })
    }

    fn open(name: &str, mtu: u16, flags: u16) -> io::Result<Self> {
        let mode = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open("/dev/net/tun", mode, rustix::fs::Mode::empty())?;
        let mut request = InterfaceRequest { name: [0; 16], flags, rest: [0; 22] };
        // One byte is left for the zero behind the name.
        let place = request.name[..15].get_mut(..name.len()).ok_or(io::ErrorKind::InvalidFilename)?;
        place.copy_from_slice(name.as_bytes());
        set_interface(&descriptor, request)?;
        ip(&["link", "set", name, "mtu", &mtu.to_string(), "up"])?;
        Self::with_offload(descriptor, mtu, flags)
    }

    fn with_offload(descriptor: OwnedFd, mtu: u16, flags: u16) -> io::Result<Self> {
        let is_offloading = flags & WITH_NOTES != 0;
        if is_offloading {
            set_offload(&descriptor)?;
        }
        Ok(Self { descriptor, mtu, is_offloading })
    }

    /// Takes a device that another process made and handed over.
    ///
    /// # Errors
    ///
    /// If it is none, or cannot be made not to wait.
    pub fn from_descriptor(descriptor: OwnedFd, mtu: u16) -> io::Result<Self> {
        fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
        let flags = interface(&descriptor)?.flags;
        Self::with_offload(descriptor, mtu, flags)
    }

    /// Returns the device away, to a process that may not make one: [`Self::from_descriptor`] takes it there.
    pub fn into_descriptor(self) -> OwnedFd {
        self.descriptor
    }

    /// Returns the kernel's end of the device of that name an address in a network of so many bits, at once: nobody else is there
    /// who could have it.
    ///
    /// # Errors
    ///
    /// If iproute2 does not do it.
    pub fn add_address(name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let undetected: &[&str] = if address.is_ipv6() { &["nodad"] } else { &[] };
        ip(&[&["address", "add", &format!("{address}/{prefix}"), "dev", name], undetected].concat())
    }

    /// Has the kernel hand what is for an address to the device of that name, and so to the stack behind it. What comes from other
    /// hosts it hands on only if it forwards (`net.ipv4.ip_forward`, `net.ipv6.conf.all.forwarding`).
    ///
    /// # Errors
    ///
    /// If iproute2 does not do it.
    pub fn add_route(name: &str, address: IpAddr) -> io::Result<()> {
        ip(&["route", "add", &address.to_string(), "dev", name])
    }

    /// Sends the next packet. One that the kernel does not like is lost, like others on their way.
    fn send_next(&self, outbox: &mut Outbox) -> rustix::io::Result<()> {
        let Some(departure) = outbox.waiting().first() else { return Ok(()) };
        match rustix::io::write(&self.descriptor, outbox.bytes(departure.range.clone())) {
            Err(error @ (Errno::AGAIN | Errno::BADFD)) => return Err(error),
            _ => outbox.strike_out(1),
        }
        Ok(())
    }

    /// Reads a packet; gives its length, or `None` if there is none now.
    fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.descriptor, into) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            result => Ok(Some(result?)),
        }
    }
}

#[expect(unsafe_code, reason = "there is no safe way to make such a device")]
fn set_interface(descriptor: &OwnedFd, request: InterfaceRequest) -> io::Result<()> {
    // SAFETY: the request has the layout and the size that this call reads.
    unsafe { ioctl(descriptor, Setter::<SET_INTERFACE, InterfaceRequest>::new(request)) }?;
    Ok(())
}

#[expect(unsafe_code, reason = "there is no safe way to ask such a device")]
fn interface(descriptor: &OwnedFd) -> io::Result<InterfaceRequest> {
    // SAFETY: the answer has the layout and the size that this call writes, and any bytes are one.
    Ok(unsafe { ioctl(descriptor, Getter::<GET_INTERFACE, InterfaceRequest>::new()) }?)
}

#[expect(unsafe_code, reason = "there is no safe way to tell such a device")]
fn set_offload(descriptor: &OwnedFd) -> io::Result<()> {
    // SAFETY: the call takes a number, and no pointer.
    unsafe { ioctl(descriptor, IntegerSetter::<SET_OFFLOAD>::new_usize(OFFLOADS)) }?;
    Ok(())
}

impl Device for Tun {
    fn carriage(&self) -> Carriage {
        Carriage::Ip
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn computes_checksums(&self) -> bool {
        self.is_offloading
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        let (noted, longest) = if self.is_offloading { (HEADER, LONGEST) } else { (0, self.mtu.into()) };
        let room = inbox.room(BATCH * usize::from(self.mtu) + HEADER + LONGEST).len();
        let mut start = 0;
        for _ in 0..BATCH {
            let end = start + noted + longest;
            if end > room {
                break;
            }
            let Some(len) = self.read(&mut inbox.bytes[start..end])? else { break };
            let said = Notes::read(&inbox.bytes[start..start + noted.min(len)]);
            let path = Path::to(Ipv4Addr::UNSPECIFIED.into());
            let range = start + noted.min(len)..start + len;
            let Notes { checksums, segment_size } = said;
            inbox.enter(Arrival { checksums, segment_size, ..Arrival::new(range, path, Ecn::NotCapable) });
            start += len;
        }
        Ok(())
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        while !outbox.is_empty() {
            let sent = if self.is_offloading { send_train(&self.descriptor, outbox) } else { self.send_next(outbox) };
            match sent {
                Err(Errno::AGAIN) => break,
                sent => sent?,
            }
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.descriptor.as_fd())
    }
}

/// Calls iproute2.
fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(io::Error::other(format!("ip {}: {said}", arguments.join(" ")))) }
}
